// The right side of New run: what differs from the base, seeds and sweeps, what it will cost, the same as a command, and
// the button.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Answer, Input } from '../../preload/contract.ts';
import type { Estimate, Issue, Order } from '../../preload/contract/queue.ts';
import { call } from '../bridge.ts';
import { Button, IconButton } from '../components/button.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { CopyButton } from '../components/states.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { formatBytes, formatDuration } from '../format.ts';
import { toastError } from '../state/toasts.ts';
import { showValue } from './draft.ts';
import type { Change } from './draft.ts';
import util from '../theme/utilities.module.css';
import styles from './new-run.module.css';

export type SweptSettings = Order['sweep'];

export function Changes({ changes, base, onReset }: { changes: readonly Change[]; base: string; onReset: () => void }) {
  if (changes.length === 0) return <p className={util.muted}>No changes from {base}.</p>;
  return (
    <>
      <table className={styles.changes} aria-label={`Changed from ${base}`}>
        <tbody>
          {changes.map(({ key, before, after }) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
              </th>
              <td>
                <del>{before === undefined ? '–' : showValue(before) || 'empty'}</del>
              </td>
              <td>
                <ins>{after === undefined ? '–' : showValue(after) || 'empty'}</ins>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Button kind="quiet" onClick={onReset}>
        Discard all changes
      </Button>
    </>
  );
}

interface RepeatsProps {
  seeds: string;
  onSeeds: (seeds: string) => void;
  sweep: SweptSettings;
  onSweep: (sweep: SweptSettings) => void;
  keys: readonly string[];
  issues: readonly Issue[];
}

export function Repeats({ seeds, onSeeds, sweep, onSweep, keys, issues }: RepeatsProps) {
  const errorOf = (key: string): string | undefined => issues.find((issue) => issue.key === key)?.message;
  const change = (index: number, part: Partial<SweptSettings[number]>): void =>
    onSweep(sweep.map((entry, other) => (other === index ? { ...entry, ...part } : entry)));
  return (
    <>
      <Field label="Seeds" hint="One run per seed: 1-5 or 1, 2, 7" error={errorOf('seeds')}>
        {(ids) => <TextInput {...ids} value={seeds} onChange={(event) => onSeeds(event.target.value)} />}
      </Field>
      {sweep.map((entry, index) => (
        <div key={index} className={styles.sweep}>
          <Field label="Swept setting" error={errorOf(`sweep.${index}`)} hint="Runs every value × every seed">
            {(ids) => (
              <span className={styles.sweepRow}>
                <TextInput
                  {...ids}
                  list="sweep-keys"
                  placeholder="training.learningRate"
                  value={entry.key}
                  onChange={(event) => change(index, { key: event.target.value })}
                />
                <TextInput
                  aria-label={`Values of ${entry.key || 'the setting'}`}
                  placeholder="0.001, 0.003"
                  value={entry.values}
                  onChange={(event) => change(index, { values: event.target.value })}
                />
                <IconButton icon="cross" label="Remove sweep" onClick={() => onSweep(sweep.filter((_entry, other) => other !== index))} />
              </span>
            )}
          </Field>
        </div>
      ))}
      <datalist id="sweep-keys">
        {keys.map((key) => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
      </datalist>
      {sweep.length < 3 && (
        <Button kind="quiet" icon="plus" onClick={() => onSweep([...sweep, { key: '', values: '' }])}>
          Sweep a setting
        </Button>
      )}
    </>
  );
}

export function Cost({ estimate, runs, config }: { estimate: Estimate | null; runs: number; config: Answer<'setup.check'>['config'] }) {
  const client = useQueryClient();
  const measuring = useMutation({
    mutationFn: (wanted: Input<'setup.probe'>) => call('setup.probe', wanted),
    onSuccess: () => client.invalidateQueries({ queryKey: ['setup.check'] }),
    onError: (error) => toastError('Measuring failed', error),
  });
  if (!estimate || !config) return <p className={util.muted}>Fix the errors to see an estimate.</p>;
  const { seconds, memoryBytes, diskBytes, freeBytes, basis } = estimate;
  const each = runs > 1 ? ' each' : '';
  const measured = measuring.data;
  return (
    <>
      <Stats>
        <Stat
          label={`Time${each}`}
          value={seconds === null ? '–' : `≈ ${formatDuration(seconds)}`}
          {...(runs > 1 && seconds !== null && { note: `${formatDuration(seconds * runs)} for all ${runs}, sequentially` })}
        />
        <Stat label="Memory" value={memoryBytes === null ? '–' : `≈ ${formatBytes(memoryBytes)}`} />
        <Stat label={`Disk${each}`} value={`≈ ${formatBytes(diskBytes)}`} note={`${formatBytes(freeBytes)} free`} />
      </Stats>
      <p className={styles.basis}>{basis}</p>
      {measured && (
        <p className={styles.basis} role="status">
          Measured in {formatDuration(measured.seconds)}: {formatDuration(measured.secondsPerUpdate)} per update,{' '}
          {formatBytes(measured.memoryBytes)} of memory.
        </p>
      )}
      <Button icon="clock" disabled={measuring.isPending} onClick={() => measuring.mutate({ config })}>
        {measuring.isPending ? 'Measuring two updates…' : 'Measure on this machine'}
      </Button>
    </>
  );
}

export function CommandLine({ text }: { text: string }) {
  return (
    <>
      <pre className={styles.command} tabIndex={0} aria-label="Command">
        {text}
      </pre>
      <CopyButton text={text} label="Copy command" />
    </>
  );
}
