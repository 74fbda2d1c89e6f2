// `--on CLUSTER` for `lab train` and `lab study run`: what is sent, what it says meanwhile, and how many runs come back.

import type { Command } from 'commander';
import { Cluster } from '../cluster/cluster.ts';
import { findCluster } from '../cluster/clusters.ts';
import { follow } from '../cluster/follow.ts';
import type { WantedTask } from '../cluster/plan.ts';
import type { SubmissionStatus } from '../cluster/status.ts';
import type { Submission } from '../cluster/submission.ts';
import { identityOf } from '../queue/new-run.ts';
import type { Store } from '../store/store.ts';
import type { RemoteFailure, WantedRun, WorkOptions } from '../study/work.ts';
import { answer, note, noteLine } from './shared/output.ts';

export interface OnOptions {
  readonly on?: string;
  readonly dryRun?: boolean;
}

export const addOn = (command: Command, dryRun = 'with --on: submit nothing, show the batch scripts'): Command =>
  command
    .option('--on <cluster>', 'on a Slurm cluster (`lab cluster add`), a task per run, instead of on this machine')
    .option('--dry-run', dryRun);

/** Answers with the scripts that would be submitted. */
export async function answerDryRun(store: Store, on: string, wanted: readonly WantedTask[], title: string): Promise<void> {
  const { scripts, tasks, shared } = await new Cluster(store, findCluster(store, on)).dryRun(wanted, { title });
  const first = shared > 0 ? ` after ${shared} that make what several share` : '';
  answer(
    { cluster: on, tasks, shared, scripts },
    [`# ${tasks} tasks${first} in ${scripts.length} arrays; nothing was submitted`, ...scripts].join('\n'),
  );
}

/** Sends runs to a cluster; answers every submission that has one of them. */
export async function sendTo(
  store: Store,
  on: string,
  wanted: readonly WantedTask[],
  title: string,
  study: string | null = null,
): Promise<{ at: Cluster; submissions: Submission[] }> {
  const at = new Cluster(store, findCluster(store, on));
  const { submission, attached } = await at.submit(wanted, { title, study });
  for (const { id } of attached) note(`Submission ${id} has some of these runs already; they are not sent again`);
  if (submission) note(`Submission ${submission.id}: ${submission.file.tasks.length} tasks on ${on}, in ${submission.folder}`);
  return { at, submissions: [...attached, ...(submission ? [submission] : [])] };
}

/** Waits for submissions, saying what changes. */
export async function waitFor(at: Cluster, submissions: readonly Submission[], signal?: AbortSignal) {
  let said = '';
  return follow(at, submissions, {
    signal,
    news: (statuses, added) => {
      const line = statuses.map(stateLine).join('; ');
      if (line !== said || added.length > 0) noteLine(`${line}${added.length > 0 ? `; collected ${added.length}` : ''}`);
      said = line;
    },
  });
}

export const countsText = (counts: SubmissionStatus['counts']): string =>
  Object.entries(counts)
    .flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []))
    .join(', ');

const stateLine = ({ id, counts, source }: SubmissionStatus): string =>
  `${id}: ${countsText(counts)}${source === null ? ' (the scheduler is silent)' : ''}`;

/** How a study trains its runs on a cluster. */
export function remoteWork(store: Store, on: string, study: string, signal: AbortSignal | undefined): NonNullable<WorkOptions['remote']> {
  return async (wanted: readonly WantedRun[]): Promise<RemoteFailure[]> => {
    if (wanted.length === 0) return [];
    const { at, submissions } = await sendTo(store, on, wanted, `study ${study}`, study);
    const failed = await waitFor(at, submissions, signal);
    const identities = new Map(submissions.flatMap(({ file }) => file.tasks.map(({ uid, identity }) => [uid, identity] as const)));
    return failed.flatMap(({ uid, state, reason }) => {
      const one = wanted.find(({ config }) => identityOf(store.catalog, config) === identities.get(uid ?? ''));
      return one ? [{ config: one.config, reason: reason || state }] : [];
    });
  };
}
