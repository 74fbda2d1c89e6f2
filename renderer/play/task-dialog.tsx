// Finds a task by its words, its number or its category.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { callOptions } from '../bridge.ts';
import { Dialog } from '../components/dialog.tsx';
import { TextInput } from '../components/field.tsx';
import { ErrorState } from '../components/states.tsx';
import { Segmented } from '../components/tabs.tsx';
import { SPLITS } from './setup-bar.tsx';
import type { Setup } from './setup-bar.tsx';
import util from '../theme/utilities.module.css';
import styles from './play.module.css';

const SHOWN = 100;

interface TaskDialogProps {
  open: boolean;
  setup: Setup;
  onClose: () => void;
  onPick: (task: string) => void;
}

export function TaskDialog({ open, setup, onClose, onPick }: TaskDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title="Choose a task" width={720}>
      <TaskList setup={setup} onPick={onPick} />
    </Dialog>
  );
}

function TaskList({ setup: { choice, filter: played }, onPick }: Pick<TaskDialogProps, 'setup' | 'onPick'>) {
  const [text, setText] = useState('');
  const asked = useDeferredValue(text);
  // What is looked through here changes what is played only when a task is picked.
  const [filter, setFilter] = useState(played);
  const found = useQuery({
    ...callOptions('play.tasks', { choice, filter: { ...filter, text: asked }, limit: SHOWN }),
    placeholderData: keepPreviousData,
  });
  const tasks = found.data?.tasks ?? [];
  return (
    <div className={styles.chooser}>
      <div className={styles.chooserTop}>
        <Segmented label="Tasks from" value={filter.split} onValue={(split) => setFilter({ split, tier: null })} options={SPLITS} />
        <TextInput
          data-autofocus
          aria-label="Find a task"
          placeholder="Words, category or id"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            const [first] = tasks;
            if (event.key === 'Enter' && first) onPick(first.id);
          }}
        />
      </div>
      {found.error && <ErrorState title="Could not read the tasks" error={found.error} retry={() => void found.refetch()} />}
      <p className={util.muted} aria-live="polite">
        {found.data && `${found.data.total.toLocaleString('en')} ${found.data.total === 1 ? 'task' : 'tasks'}`}
        {found.data && found.data.total > SHOWN && `, first ${SHOWN} listed`}
        {filter.tier !== null && ` (${filter.tier})`}
      </p>
      <ul className={styles.tasks} aria-label="Tasks">
        {tasks.map(({ id, instruction, category, tier }) => (
          <li key={id}>
            <button type="button" className={styles.task} onClick={() => onPick(id)}>
              <span>{instruction}</span>
              <span className={util.muted}>
                {category} · {tier} · <code>{id}</code>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
