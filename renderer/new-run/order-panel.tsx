// Parts of the right side of New run: what is wrong, what differs from the base, what it will cost, the same as a command.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memoryParts } from '../../main/base/vocabulary.ts';
import type { Answer, Input } from '../../preload/contract.ts';
import type { Estimate, Issue, MemoryPlan } from '../../main/lab/features/setup.ts';
import { call } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { CopyButton } from '../components/states.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { formatBytes, formatDuration } from '../format.ts';
import { toastError } from '../state/toasts.ts';
import { showValue } from './draft.ts';
import type { Change } from './draft.ts';
import util from '../theme/utilities.module.css';
import styles from './new-run.module.css';

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

/** What is wrong, each with a way to its field. */
export function Errors({ issues, onJump }: { issues: readonly Issue[]; onJump: (key: string) => void }) {
  return (
    <ul className={styles.errors} aria-label="Errors">
      {issues.map(({ key, message }) => (
        <li key={`${key} ${message}`}>
          <button type="button" className={styles.error} onClick={() => onJump(key)}>
            <code>{key}</code> {message}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Cost({ estimate, runs, config }: { estimate: Estimate | null; runs: number; config: Answer<'setup.check'>['config'] }) {
  const client = useQueryClient();
  const measuring = useMutation({
    mutationFn: (wanted: Input<'setup.probe'>) => call('setup.probe', wanted),
    onSuccess: () => client.invalidateQueries({ predicate: ({ queryKey: [name] }) => name === 'setup.check' || name === 'setup.presets' }),
    onError: (error) => toastError('Measuring failed', error),
  });
  if (!estimate || !config) return <p className={util.muted}>Fix the errors to see an estimate.</p>;
  const { seconds, memoryBytes, diskBytes, freeBytes, basis, plan } = estimate;
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
        <Memory measured={memoryBytes} plan={plan} />
        <Stat label={`Disk${each}`} value={`≈ ${formatBytes(diskBytes)}`} note={`${formatBytes(freeBytes)} free`} />
      </Stats>
      {plan && <Plan plan={plan} />}
      <p className={styles.basis}>{basis}</p>
      {measured && (
        <p className={styles.basis} role="status">
          Measured in {formatDuration(measured.seconds)}: {formatDuration(measured.secondsPerUpdate)} per update,{' '}
          {formatBytes(measured.memoryBytes)} of memory.
        </p>
      )}
      <Button icon="clock" disabled={measuring.isPending || Boolean(plan?.refusal)} onClick={() => measuring.mutate({ config })}>
        {measuring.isPending ? 'Measuring two updates…' : 'Measure on this machine'}
      </Button>
    </>
  );
}

/** What was planned, whose parts stand below it; else what was measured. */
function Memory({ measured, plan }: { measured: number | null; plan: MemoryPlan | null }) {
  const bytes = plan ? (plan.parts ? plan.needed : null) : measured;
  return (
    <Stat
      label={plan?.card ? 'Card memory' : 'Memory'}
      value={bytes === null ? '–' : `≈ ${formatBytes(bytes)}`}
      {...(plan?.parts && { note: freeText(plan) })}
    />
  );
}

const freeText = ({ free, card }: MemoryPlan): string =>
  free === null ? 'of an unknown size' : card ? `of ${formatBytes(free)}` : `${formatBytes(free)} free`;

/** The memory of a run with a language model or on a card, part by part, and what Start changes so that it fits. */
function Plan({ plan: { parts, needed, most, free, card, changes } }: { plan: MemoryPlan }) {
  if (!parts) return null; // refused: the errors say why
  const rows = Object.entries(memoryParts)
    .map(([name, title]) => ({ title, bytes: new Map(Object.entries(parts)).get(name) ?? 0 }))
    .filter(({ bytes }) => bytes > 0); // the process is not on the card
  return (
    <>
      <table className={styles.changes} aria-label="Planned memory">
        <tbody>
          {rows.map(({ title, bytes }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td>{formatBytes(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.basis}>
        {most > needed && `Up to ${formatBytes(most)} while sessions of other batch shapes are kept. `}
        {changes.length > 0 && `Start sets ${changes.join(' and ')}, so that it fits. `}
        {card && free === null && 'The system does not say how much the card has; set Device memory, and the run adapts to it.'}
      </p>
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
