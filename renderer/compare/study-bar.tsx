// The selection: which runs are compared, and its name once it is saved as a study.

import { useState } from 'react';
import { useLocation } from 'wouter';
import type { StudyRow } from '../../main/lab/features/studies.ts';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { call, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, Field, TextInput } from '../components/field.tsx';
import { Menu } from '../components/menu.tsx';
import { formatValue } from '../format.ts';
import { runName, useRuns } from '../state/runs.ts';
import { toast, toastError, toastWithUndo } from '../state/toasts.ts';
import util from '../theme/utilities.module.css';
import styles from './compare.module.css';

interface StudyBarProps {
  runs: readonly number[];
  study: StudyRow | undefined;
}

export function StudyBar({ runs, study }: StudyBarProps) {
  const [, navigate] = useLocation();
  const studies = useCall('studies.list', {});
  const [choosing, setChoosing] = useState(false);
  const [naming, setNaming] = useState(false);

  const save = async (name: string): Promise<void> => {
    try {
      const saved = await call('studies.save', { id: study?.id ?? null, name, runs: [...runs] });
      setNaming(false);
      toast({ title: `Saved as “${saved.study.name}”`, tone: 'success' });
      navigate(`/compare/study-${saved.study.id}`);
    } catch (error) {
      toastError('The study was not saved', error);
    }
  };
  const restore = async (id: number): Promise<void> => {
    try {
      const { study: restored } = await call('studies.restore', { id });
      navigate(`/compare/study-${restored.id}`);
    } catch (error) {
      toastError('The study was not restored', error);
    }
  };
  const remove = async (gone: StudyRow): Promise<void> => {
    try {
      await call('studies.delete', { id: gone.id });
      navigate(`/compare/${gone.runs.join(',')}`);
      toastWithUndo(`Study “${gone.name}” deleted`, () => void restore(gone.id));
    } catch (error) {
      toastError('The study was not deleted', error);
    }
  };
  const list = studies.data?.studies ?? [];
  return (
    <>
      {list.length > 0 && (
        <Menu
          items={list.map(({ id, name, runs: members }) => ({
            label: `${name} (${members.length})`,
            run: () => navigate(`/compare/study-${id}`),
          }))}
        >
          <Button icon="folder">Studies</Button>
        </Menu>
      )}
      <Button icon="runs" onClick={() => setChoosing(true)}>
        Choose runs
      </Button>
      {runs.length > 0 && (
        <Button icon="check" onClick={() => setNaming(true)}>
          {study ? 'Rename study' : 'Save as study'}
        </Button>
      )}
      {study && (
        <Button icon="trash" onClick={() => void remove(study)}>
          Delete study
        </Button>
      )}
      {choosing && (
        <RunsDialog
          chosen={runs}
          onClose={() => setChoosing(false)}
          onDone={(ids) => {
            setChoosing(false);
            navigate(`/compare/${ids.join(',')}`);
          }}
        />
      )}
      {naming && <NameDialog name={study?.name ?? ''} onClose={() => setNaming(false)} onDone={(name) => void save(name)} />}
    </>
  );
}

function NameDialog({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: (name: string) => void }) {
  const [text, setText] = useState(name);
  return (
    <Dialog
      open
      title="Study name"
      width={420}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={text.trim() === ''} onClick={() => onDone(text.trim())}>
          Save
        </Button>
      }
    >
      <Field label="Name" hint="A study is a named selection of runs. The runs themselves are not copied.">
        {(ids) => (
          <TextInput
            {...ids}
            data-autofocus
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && text.trim() !== '') onDone(text.trim());
            }}
          />
        )}
      </Field>
    </Dialog>
  );
}

function RunsDialog({ chosen, onClose, onDone }: { chosen: readonly number[]; onClose: () => void; onDone: (runs: number[]) => void }) {
  const runs = useRuns();
  const [text, setText] = useState('');
  const [selected, select] = useState<ReadonlySet<number>>(new Set(chosen));
  const rows = (runs.data?.runs ?? []).filter((run) =>
    `${runName(run)} ${run.variant} ${run.tags.join(' ')}`.toLowerCase().includes(text.toLowerCase()),
  );
  const toggle = (run: RunRow, on: boolean): void => {
    const next = new Set(selected);
    if (on) next.add(run.id);
    else next.delete(run.id);
    select(next);
  };
  return (
    <Dialog
      open
      title="Runs to compare"
      width={560}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={selected.size === 0} onClick={() => onDone([...selected].sort((a, b) => a - b))}>
          Compare {selected.size}
        </Button>
      }
    >
      <TextInput
        data-autofocus
        aria-label="Find runs"
        placeholder="Name, algorithm, tag…"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <ul className={styles.choices}>
        {rows.map((run) => (
          <li key={run.id}>
            <Checkbox label={runName(run)} checked={selected.has(run.id)} onChecked={(on) => toggle(run, on)} />
            <span className={styles.choiceName}>{runName(run)}</span>
            <span className={util.muted}>{run.variant}</span>
            <span className={styles.choiceNumber}>{run.test ? formatValue(run.test.rate, 'share') : '–'}</span>
          </li>
        ))}
        {rows.length === 0 && <li className={util.muted}>No runs match.</li>}
      </ul>
    </Dialog>
  );
}
