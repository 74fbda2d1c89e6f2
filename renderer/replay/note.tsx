// A star and a comment on an episode, kept with the run and exported with it.

import { useQueryClient } from '@tanstack/react-query';
import type { EpisodeNote } from '../../main/lab/features/episodes.ts';
import { call } from '../bridge.ts';
import { Button, IconButton } from '../components/button.tsx';
import { useActions } from '../state/actions.ts';
import { toastError } from '../state/toasts.ts';
import styles from './player.module.css';

const LONGEST = 20_000;

interface NoteProps {
  episode: number;
  note: EpisodeNote;
}

function useNote({ episode, note }: NoteProps): (change: Partial<EpisodeNote>) => void {
  const client = useQueryClient();
  return (change) => {
    call('episodes.note', { episode, ...note, ...change })
      .then(() => Promise.all(['episodes.read', 'episodes.list'].map((name) => client.invalidateQueries({ queryKey: [name] }))))
      .catch((error: unknown) => toastError('The note was not saved', error));
  };
}

export function StarButton(props: NoteProps) {
  const save = useNote(props);
  const { starred } = props.note;
  const toggle = (): void => save({ starred: !starred });
  const label = starred ? 'Remove star' : 'Star this episode';
  useActions([{ id: 'replay.star', title: label, group: 'Replay', keys: 's', run: toggle }]);
  return <IconButton icon={starred ? 'starred' : 'star'} label={label} keys="s" aria-pressed={starred} onClick={toggle} />;
}

/** The comment being written; null while none is. */
export type Draft = string | null;

interface CommentProps extends NoteProps {
  draft: Draft;
  onDraft: (draft: Draft) => void;
}

/** The way to write a comment where there is none yet. */
export function CommentButton({ note: { comment }, draft, onDraft }: CommentProps) {
  const open = (): void => onDraft(comment);
  useActions([{ id: 'replay.comment', title: 'Comment on this episode', group: 'Replay', keys: 'c', run: open }]);
  if (comment !== '' || draft !== null) return null;
  return (
    <Button title="Key: c" onClick={open}>
      Comment…
    </Button>
  );
}

/** The comment with a way to change it, or the field to write it in. */
export function Comment({ episode, note, draft, onDraft }: CommentProps) {
  const { comment } = note;
  const save = useNote({ episode, note });
  if (draft === null) {
    if (comment === '') return null;
    return (
      <p className={styles.comment}>
        <span>{comment}</span>
        <Button kind="quiet" onClick={() => onDraft(comment)}>
          Edit comment
        </Button>
      </p>
    );
  }
  const done = (): void => {
    if (draft.trim() !== comment) save({ comment: draft.trim() });
    onDraft(null);
  };
  return (
    <div className={styles.commentForm}>
      <textarea
        aria-label="Comment on this episode"
        placeholder="What is worth remembering about this episode?"
        rows={2}
        maxLength={LONGEST}
        value={draft}
        ref={focusOnce}
        onChange={(event) => onDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) done();
          if (event.key === 'Escape') onDraft(null);
        }}
      />
      <Button kind="primary" onClick={done}>
        Save comment
      </Button>
      <Button onClick={() => onDraft(null)}>Cancel</Button>
    </div>
  );
}

/** It opens because somebody wants to write. */
function focusOnce(field: HTMLTextAreaElement | null): void {
  field?.focus();
}
