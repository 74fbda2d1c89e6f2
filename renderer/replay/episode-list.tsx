// The list of episodes: only the rows in view exist and only the blocks around them are asked for, so 100,000 episodes
// filter and scroll like a hundred.

import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import type { Episode } from '../../main/lab/features/episodes.ts';
import { callOptions } from '../bridge.ts';
import { Icon } from '../components/icons.tsx';
import { ErrorState } from '../components/states.tsx';
import { formatValue } from '../format.ts';
import { useActions } from '../state/actions.ts';
import util from '../theme/utilities.module.css';
import type { ListView } from './list-view.ts';
import styles from './replay.module.css';

const ROW = 50;
const BLOCK = 100;

interface EpisodeListProps {
  run: number;
  view: ListView;
  selected: number | null;
  onSelect: (episode: number) => void;
  /** How many match, of how many, once counted. */
  onFound: (found: { readonly total: number; readonly all: number }) => void;
}

export function EpisodeList({ run, view, selected, onSelect, onFound }: EpisodeListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const known = useRef(0);
  const first = useBlocks(run, view, [0])[0];
  const total = first?.data?.total ?? known.current;
  known.current = total;
  const rows = useVirtualizer({ count: total, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 6 });
  const shown = rows.getVirtualItems();
  const blocks = useMemo(() => [...new Set(shown.map(({ index }) => Math.floor(index / BLOCK)))], [shown]);
  const answers = useBlocks(run, view, blocks);
  const byBlock = new Map(blocks.map((block, index) => [block, answers[index]?.data?.episodes]));
  const episodeAt = (index: number): Episode | undefined => byBlock.get(Math.floor(index / BLOCK))?.[index % BLOCK];

  useEffect(() => {
    if (first?.data && !first.isPlaceholderData) onFound({ total: first.data.total, all: first.data.all });
  }, [first?.data, first?.isPlaceholderData, onFound]);
  useEffect(() => scroller.current?.scrollTo({ top: 0 }), [view]);
  // Something is shown at once: the first that matches.
  const firstId = first?.isPlaceholderData ? undefined : first?.data?.episodes[0]?.id;
  useEffect(() => {
    if (selected === null && firstId !== undefined) onSelect(firstId);
  }, [selected, firstId, onSelect]);

  const at = shown.findIndex(({ index }) => episodeAt(index)?.id === selected);
  const step = (by: number): void => {
    const now = at >= 0 ? (shown[at]?.index ?? 0) : -by;
    const next = Math.max(0, Math.min(total - 1, now + by));
    rows.scrollToIndex(next);
    const episode = episodeAt(next);
    if (episode) onSelect(episode.id);
  };
  const move = (event: KeyboardEvent, by: number): void => {
    event.preventDefault();
    event.stopPropagation();
    step(by);
  };
  useActions([
    { id: 'replay.nextEpisode', title: 'Next episode', group: 'Replay', keys: 'j', run: () => step(1) },
    { id: 'replay.previousEpisode', title: 'Previous episode', group: 'Replay', keys: 'k', run: () => step(-1) },
  ]);
  if (first?.isError) return <ErrorState title="Could not read the episodes" error={first.error} retry={() => void first.refetch()} />;
  return (
    <div
      ref={scroller}
      className={styles.list}
      role="listbox"
      aria-label="Episodes"
      tabIndex={0}
      // Only the rows in view exist.
      aria-activedescendant={at >= 0 ? `episode-${selected}` : undefined}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') move(event, 1);
        if (event.key === 'ArrowUp') move(event, -1);
        if (event.key === 'PageDown') move(event, 10);
        if (event.key === 'PageUp') move(event, -10);
      }}
    >
      {total === 0 && first?.data && <p className={styles.nothing}>No episodes match the filters.</p>}
      <div role="presentation" style={{ height: rows.getTotalSize() }} className={styles.rows}>
        {shown.map(({ index, start }) => {
          const episode = episodeAt(index);
          return (
            <EpisodeOption
              key={index}
              {...{ episode, index, start, total, onSelect }}
              selected={episode !== undefined && episode.id === selected}
            />
          );
        })}
      </div>
    </div>
  );
}

function useBlocks(run: number, view: ListView, blocks: readonly number[]) {
  return useQueries({
    queries: blocks.map((block) => ({
      ...callOptions('episodes.list', { run, ...view, offset: block * BLOCK, limit: BLOCK }),
      placeholderData: keepPreviousData,
    })),
  });
}

interface EpisodeOptionProps {
  /** Absent until its block has come. */
  episode: Episode | undefined;
  index: number;
  /** Pixels from the top of the list. */
  start: number;
  total: number;
  selected: boolean;
  onSelect: (episode: number) => void;
}

function EpisodeOption({ episode, index, start, total, selected, onSelect }: EpisodeOptionProps) {
  return (
    <div
      id={episode && `episode-${episode.id}`}
      role="option"
      tabIndex={-1}
      aria-selected={selected}
      aria-setsize={total}
      aria-posinset={index + 1}
      className={styles.episode}
      style={{ transform: `translateY(${start}px)`, height: ROW }}
      onClick={() => episode && onSelect(episode.id)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && episode) onSelect(episode.id);
      }}
    >
      {episode ? <EpisodeRow episode={episode} /> : <span className={util.faint}>…</span>}
    </div>
  );
}

function EpisodeRow({ episode }: { episode: Episode }) {
  return (
    <>
      <span className={styles.episodeTop}>
        <span className={styles.mark} data-success={episode.success}>
          <Icon name={episode.success ? 'check' : 'cross'} size={12} />
          <span className={util.spoken}>{episode.success ? 'success' : 'failure'}</span>
        </span>
        <span className={styles.episodeTask}>{episode.task}</span>
        {episode.starred && (
          <span className={styles.star}>
            <Icon name="starred" size={12} />
            <span className={util.spoken}>starred</span>
          </span>
        )}
        <span className={styles.episodeReturn}>{formatValue(episode.return)}</span>
      </span>
      <span className={styles.episodeActions}>
        u{episode.update} · {episode.comment === '' ? episode.actions.join(' → ') : `“${episode.comment}”`}
      </span>
    </>
  );
}
