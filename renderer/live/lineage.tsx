// Where a run comes from and what was branched from it, and the way to branch it again from one of its checkpoints.

import { Link } from 'wouter';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { LinkButton } from '../components/button.tsx';
import { useRuns } from '../state/runs.ts';
import styles from './live.module.css';

/** The update a branch would start from: the best validation if its checkpoint is there, else the newest checkpoint. */
export function branchUpdate(run: RunRow, checkpoints: readonly { update: number }[] | undefined): number | null {
  const best = checkpoints?.find(({ update }) => update === run.best?.update);
  return best?.update ?? checkpoints?.at(-1)?.update ?? null;
}

/** Opens New run with the run's config, to start from a checkpoint with changed settings. */
export function BranchButton({ run, update }: { run: number; update: number | null }) {
  if (update === null) return null;
  return <LinkButton href={`/new/branch-${run}-${update}`}>Branch from update {update}…</LinkButton>;
}

export function Lineage({ run }: { run: RunRow }) {
  const runs = useRuns();
  const branches = (runs.data?.runs ?? []).filter(({ origin }) => origin?.run === run.id).toSorted((a, b) => a.id - b.id);
  if (!run.origin && branches.length === 0) return null;
  return (
    <p className={styles.remark} role="note" aria-label="Lineage">
      {run.origin && (
        <>
          Branched from{' '}
          {run.origin.run === null ? 'a run that is not here' : <Link href={`/runs/${run.origin.run}`}>run {run.origin.run}</Link>} at
          update {run.origin.update}.{' '}
        </>
      )}
      {branches.length > 0 && (
        <>
          Branches:{' '}
          {branches.map(({ id, origin }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Link href={`/runs/${id}`}>run {id}</Link> (from update {origin?.update})
            </span>
          ))}
        </>
      )}
    </p>
  );
}
