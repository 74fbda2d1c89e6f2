// The small dialogs of the list: which columns to show, tags for many runs, name and notes of one.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { call, callOptions } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, Field, Select, TextInput } from '../components/field.tsx';
import { toastError } from '../state/toasts.ts';
import { COLUMNS } from './columns.tsx';
import { DEFAULT_COLUMNS } from './fit-columns.ts';
import util from '../theme/utilities.module.css';
import styles from './runs.module.css';

/** Every key of the schema, for grouping and columns; asked for when it is first `wanted`, for describing it takes a while. */
export function useConfigKeys(wanted: boolean): string[] {
  const schema = useQuery({ ...callOptions('setup.schema', {}), enabled: wanted });
  const keys = schema.data?.groups.flatMap((group) => group.knobs.map(({ key }) => key)) ?? [];
  return [...new Set(['algorithm.id', ...keys])].filter((key) => key !== 'name');
}

export function ColumnsDialog({
  open,
  onClose,
  chosen,
  onChosen,
}: {
  open: boolean;
  onClose: () => void;
  chosen: readonly string[];
  onChosen: (columns: string[]) => void;
}) {
  const keys = useConfigKeys(open);
  const extra = chosen.filter((id) => id.startsWith('config:'));
  const set = (id: string, on: boolean): void => {
    const wanted = new Set(chosen.filter((other) => other !== id));
    if (on) wanted.add(id);
    // The table's order, then config keys in the order they were added.
    onChosen([
      ...COLUMNS.map((column) => column.id).filter((other) => wanted.has(other)),
      ...[...wanted].filter((other) => other.startsWith('config:')),
    ]);
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Columns"
      actions={
        <>
          <Button onClick={() => onChosen([...DEFAULT_COLUMNS])}>Reset</Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className={styles.columnList}>
        {COLUMNS.map(({ id, title }) => (
          <label key={id}>
            <Checkbox label={title} checked={chosen.includes(id)} onChecked={(on) => set(id, on)} />
            {title === '#' ? 'Number' : title}
          </label>
        ))}
        {extra.map((id) => (
          <label key={id}>
            <Checkbox label={id.slice(7)} checked onChecked={() => set(id, false)} />
            <code>{id.slice(7)}</code>
          </label>
        ))}
      </div>
      <Field label="Add a setting as a column">
        {(ids) => (
          <Select
            {...ids}
            value=""
            options={[{ value: '', label: 'Choose a setting…' }, ...keys.map((key) => ({ value: key, label: key }))]}
            onValue={(key) => key && set(`config:${key}`, true)}
          />
        )}
      </Field>
    </Dialog>
  );
}

export function TagDialog({ runs, onClose }: { runs: readonly RunRow[] | null; onClose: () => void }) {
  const [text, setText] = useState('');
  const shared = runs ? [...new Set(runs.flatMap(({ tags }) => tags))] : [];
  const apply = (add: string[], remove: string[]): void => {
    if (!runs || (add.length === 0 && remove.length === 0)) return;
    call('runs.tag', { runs: runs.map(({ id }) => id), add, remove }).catch((error: unknown) =>
      toastError('The tags were not changed', error),
    );
    setText('');
    onClose();
  };
  return (
    <Dialog
      open={runs !== null}
      onClose={onClose}
      title={`Tag ${runs?.length === 1 ? 'the run' : `${runs?.length ?? 0} runs`}`}
      actions={
        <Button
          kind="primary"
          onClick={() =>
            apply(
              text
                .split(',')
                .map((tag) => tag.trim())
                .filter(Boolean),
              [],
            )
          }
        >
          Add
        </Button>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          apply(
            text
              .split(',')
              .map((tag) => tag.trim())
              .filter(Boolean),
            [],
          );
        }}
      >
        <Field label="Tags to add" hint="Comma-separated">
          {(ids) => <TextInput {...ids} data-autofocus value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
        {shared.length > 0 && (
          <div className={styles.bulk}>
            Remove:
            {shared.map((tag) => (
              <Button key={tag} icon="cross" onClick={() => apply([], [tag])}>
                {tag}
              </Button>
            ))}
          </div>
        )}
      </form>
    </Dialog>
  );
}

export function EditDialog({ run, onClose }: { run: RunRow | null; onClose: () => void }) {
  return (
    <Dialog open={run !== null} onClose={onClose} title={`Run ${run?.id ?? ''}`}>
      {run && <EditForm key={run.id} run={run} onClose={onClose} />}
    </Dialog>
  );
}

function EditForm({ run, onClose }: { run: RunRow; onClose: () => void }) {
  const [name, setName] = useState(run.name);
  const [notes, setNotes] = useState(run.notes);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        call('runs.change', { run: run.id, name, notes }).then(onClose, (error: unknown) => toastError('The run was not changed', error));
      }}
    >
      <Field label="Name" error={name.trim() === '' ? 'Enter a name' : undefined}>
        {(ids) => <TextInput {...ids} data-autofocus maxLength={120} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Notes" hint="Question, observations, conclusion">
        {(ids) => <textarea {...ids} className={styles.notes} value={notes} onChange={(event) => setNotes(event.target.value)} />}
      </Field>
      <div className={styles.bulk}>
        <span className={util.spacer} />
        <Button type="submit" kind="primary" disabled={name.trim() === ''}>
          Save
        </Button>
      </div>
    </form>
  );
}
