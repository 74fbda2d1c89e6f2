// Clusters on the command line: `add`, `list`, `show`, `remove` and `test` are about the clusters, `status`, `collect`, `cancel`, `retry`,
// `logs` and `clean` about what was submitted to them (`lab train … --on`, `lab study run NAME --on`).

import type { Command } from 'commander';
import { z } from 'zod';
import { Cluster } from '../cluster/cluster.ts';
import type { Collected } from '../cluster/collect.ts';
import { clusterSettings, type ClusterSettings, findCluster, listClusters, removeCluster, saveCluster } from '../cluster/clusters.ts';
import { DamagedSubmission } from '../cluster/incoming.ts';
import { type SubmissionStatus, TASK_STATES } from '../cluster/status.ts';
import type { DamagedRow, Submission } from '../cluster/submission.ts';
import { percent } from '../base/format.ts';
import { textTable } from '../report/report.ts';
import type { Store } from '../store/store.ts';
import { answer, CallError, note } from './shared/output.ts';
import { withStore } from './shared/store.ts';
import { countsText, waitFor } from './on-cluster.ts';
import { collect, wholeNumber } from './shared/work.ts';

export function register(program: Command): void {
  const cluster = program.command('cluster').description('Slurm clusters that runs and studies can be sent to (--on), and what was sent');
  registerAdd(cluster);
  registerSettings(cluster);
  registerProgress(cluster);
  registerTasks(cluster);
  registerClean(cluster);
}

function registerAdd(cluster: Command): void {
  cluster
    .command('add <name>')
    .description('a cluster by name; the same name again changes it')
    .option('--folder <dir>', 'the folder for submissions, as every node sees it')
    .option('--host <host>', 'reach it over ssh (your keys and ~/.ssh/config); without it sbatch is expected here')
    .option('--code <dir>', 'the packed copy of the lab (npm run package -- --cluster) as the nodes see it; default: this lab’s folder')
    .option('--partition <name>')
    .option('--account <name>')
    .option('--qos <name>')
    .option('--time <limit>', 'time limit of a task, for example 02:00:00; a run that needs longer continues after a requeue')
    .option('--memory <size>', 'for example 4G')
    .option('--cpus <n>', 'processors of a task', wholeNumber('--cpus', 1))
    .option('--gpus <n>', 'for example 1 or a100:1')
    .option('--throttle <n>', 'tasks of an array that may run at once', wholeNumber('--throttle'))
    .option('--option <text>', 'a further #SBATCH option, for example --option=--exclude=n7 (repeatable)', collect, [])
    .option('--setup <line>', 'a shell line before the lab starts, for example "module load gcc"')
    .option('--warning <seconds>', 'how long before the time limit a checkpoint is saved', wholeNumber('--warning', 1))
    .option('--scratch <dir>', 'a folder on the nodes’ local disks to train in')
    .action((name: string, given: Readonly<Record<string, unknown>> & { option: string[] }) =>
      withStore((store) => {
        const before = listClusters(store).find((one) => one.name === name);
        const { option, ...rest } = given;
        const options = option.length > 0 ? { options: option } : {};
        const parsed = clusterSettings.safeParse({ ...before, ...rest, ...options, name });
        if (!parsed.success)
          throw new CallError(`This is no cluster: ${z.prettifyError(parsed.error)}`, 'npm run lab -- cluster add --help');
        saveCluster(store, parsed.data);
        answer(parsed.data, `Cluster ${name} ${before ? 'changed' : 'added'}. Check it: npm run lab -- cluster test ${name}`);
      }),
    );
}

/** `list`, `show`, `remove` and `test`: the clusters that were added. */
function registerSettings(cluster: Command): void {
  cluster
    .command('list')
    .description('the clusters')
    .action(() =>
      withStore((store) => {
        const all = listClusters(store);
        const lines = all.map(({ name, host, folder }) => `${name}: ${host === '' ? 'sbatch here' : `ssh ${host}`}, ${folder}`);
        answer(all, lines.length > 0 ? lines.join('\n') : 'There are no clusters yet: npm run lab -- cluster add NAME --folder DIR');
      }),
    );

  cluster
    .command('show <name>')
    .description('the settings of a cluster')
    .action((name: string) =>
      withStore((store) => {
        const found = findCluster(store, name);
        answer(
          found,
          Object.entries(found)
            .map(([key, value]) => `${key}: ${Array.isArray(value) ? value.join(' ') : value}`)
            .join('\n'),
        );
      }),
    );

  cluster
    .command('remove <name>')
    .description('forget a cluster; what was submitted to it stays')
    .action((name: string) =>
      withStore((store) => {
        removeCluster(store, name);
        answer({ removed: name }, `Cluster ${name} removed`);
      }),
    );

  cluster
    .command('test <name>')
    .description('check a cluster with one small job')
    .option('--patience <seconds>', 'how long to wait for it', wholeNumber('--patience', 1), 300)
    .action((name: string, { patience }: { readonly patience: number }) =>
      withStore(async (store) => {
        note(`Submitting one small job to ${name}`);
        const found = await new Cluster(store, findCluster(store, name)).test(patience * 1000);
        answer(
          { ok: true, ...found },
          `${name} works: ${found.node} (${found.processor}) ran ${found.code} ${found.seconds.toFixed(1)} s after the call`,
        );
      }),
    );
}

/** `status` and `collect`: how far submissions are, and what they trained. */
function registerProgress(cluster: Command): void {
  cluster
    .command('status [submission]')
    .description('states of the newest submissions, or of every task of one')
    .option('--on <cluster>', 'of this cluster only')
    .option('--watch', 'look again until all tasks have ended, and collect')
    .action((id: string | undefined, options: { readonly on?: string; readonly watch?: boolean }) =>
      withStore(async (store) => {
        if (id === undefined) return answerAll(store, options.on);
        const { at, submission } = await findSubmission(store, id, options.on);
        if (options.watch === true) await waitFor(at, [submission]);
        const status = await at.status(submission);
        return answer(status, statusText(status));
      }),
    );

  cluster
    .command('collect [submission]')
    .description('bring finished runs into the lab; again and again does no harm')
    .option('--on <cluster>', 'of this cluster only')
    .action((id: string | undefined, options: { readonly on?: string }) =>
      withStore(async (store) => {
        const added: number[] = [];
        const refused: { submission: string; task: string; reason: string }[] = [];
        let known = 0;
        for (const { at, submission } of await chosen(store, id, options.on)) {
          const found = await collectFrom(at, submission);
          added.push(...found.added);
          known += found.known.length;
          refused.push(...found.refused.map((one) => ({ submission: submission.id, ...one })));
        }
        for (const { task, reason } of refused) note(`${task === '' ? '' : `Task ${task}: `}${reason}`);
        if (refused.length > 0) process.exitCode = 1;
        answer(
          { added, known, refused },
          `${added.length} runs collected${added.length > 0 ? ` (${added.join(', ')})` : ''}, ${known} were there already`,
        );
      }),
    );
}

/** `cancel`, `retry` and `logs`: tasks of one submission. */
function registerTasks(cluster: Command): void {
  const taskCommand = (name: 'cancel' | 'retry', description: string): void => {
    cluster
      .command(`${name} <submission> [tasks...]`)
      .description(description)
      .option('--on <cluster>', 'of this cluster only')
      .action((id: string, tasks: string[], options: { readonly on?: string }) =>
        withStore(async (store) => {
          const { at, submission } = await findSubmission(store, id, options.on);
          const chosenTasks = tasks.length > 0 ? tasks.map((task) => taskOf(submission, task)) : null;
          const changed = await at[name](submission, chosenTasks);
          answer(
            { submission: submission.id, tasks: changed },
            `${changed.length} tasks ${name === 'cancel' ? 'cancelled' : 'submitted again'}`,
          );
        }),
      );
  };
  taskCommand('cancel', 'cancel tasks of a submission, or all that have not ended');
  taskCommand(
    'retry',
    'submit failed and cancelled tasks again, and what an interruption left unsubmitted; they continue from their last checkpoint',
  );

  cluster
    .command('logs <submission> <task>')
    .description('the end of what a task printed')
    .option('--on <cluster>', 'of this cluster only')
    .action((id: string, task: string, options: { readonly on?: string }) =>
      withStore(async (store) => {
        const { at, submission } = await findSubmission(store, id, options.on);
        const log = await at.log(submission, taskOf(submission, task));
        answer({ submission: submission.id, task, log }, log || 'It has printed nothing yet');
      }),
    );
}

function registerClean(cluster: Command): void {
  cluster
    .command('clean <submission>')
    .description('delete the folder of a submission whose runs are all collected')
    .option('--on <cluster>', 'of this cluster only')
    .option('--force', 'also when runs would be lost; nothing of it may run any more')
    .action((id: string, options: { readonly on?: string; readonly force?: boolean }) =>
      withStore(async (store) => {
        const { at, submission } = await findSubmission(store, id, options.on);
        const left = submission.file.tasks.filter(({ uid }) => store.runs.findByUid(uid) === undefined).length;
        const { counts } = await at.status(submission);
        const busy = counts.pending + counts.running + counts.requeued + counts.unknown;
        if (busy > 0)
          throw new CallError(`${busy} tasks of ${submission.id} may still run`, `npm run lab -- cluster cancel ${submission.id}`);
        if (left > 0 && options.force !== true)
          throw new CallError(`${left} runs of ${submission.id} are not collected`, '`lab cluster collect` first, or --force');
        await at.remove(submission);
        answer({ removed: submission.id }, `${submission.id} removed`);
      }),
    );
}

/** What is done of a submission. One that is damaged keeps none of the others from being collected. */
async function collectFrom(at: Cluster, submission: Submission): Promise<Collected> {
  try {
    return await at.collect(submission, await at.status(submission));
  } catch (error) {
    if (!(error instanceof DamagedSubmission)) throw error;
    return { added: [], known: [], refused: [{ task: '', reason: `Submission ${submission.id} is damaged: ${error.message}` }] };
  }
}

interface Found {
  readonly at: Cluster;
  readonly submission: Submission;
}

function clustersOf(store: Store, on: string | undefined): ClusterSettings[] {
  return on === undefined ? listClusters(store) : [findCluster(store, on)];
}

async function chosen(store: Store, id: string | undefined, on: string | undefined): Promise<Found[]> {
  if (id !== undefined) return [await findSubmission(store, id, on)];
  const found: Found[] = [];
  for (const settings of clustersOf(store, on)) {
    const at = new Cluster(store, settings);
    found.push(...(await at.submissions()).map((submission) => ({ at, submission })));
  }
  return found;
}

async function findSubmission(store: Store, id: string, on: string | undefined): Promise<Found> {
  const all: Found[] = [];
  const damaged: DamagedRow[] = [];
  for (const settings of clustersOf(store, on)) {
    const at = new Cluster(store, settings);
    const listed = await at.list();
    all.push(...listed.sound.map((submission) => ({ at, submission })));
    damaged.push(...listed.damaged);
  }
  all.sort((a, b) => b.submission.file.createdAt - a.submission.file.createdAt);
  const found = id === 'last' ? all[0] : all.find(({ submission }) => submission.id === id || submission.id.endsWith(id));
  if (found) return found;
  const broken = damaged.find((row) => row.id === id);
  if (broken) throw new DamagedSubmission(`Submission ${id} is damaged: ${broken.reason}`);
  const known = all.slice(0, 5).map(({ submission }) => submission.id);
  throw new CallError(`There is no submission "${id}"`, known.length > 0 ? `The newest are ${known.join(', ')}` : 'There are none yet');
}

function taskOf(submission: Submission, text: string): string {
  const ids = [...submission.file.sharers, ...submission.file.tasks.map(({ id }) => id)];
  const found = ids.find((id) => id === text || (/^\d+$/.test(text) && Number(id) === Number(text)));
  if (found === undefined)
    throw new CallError(`${submission.id} has no task ${text}`, `Its tasks are ${ids.slice(0, 3).join(', ')} … ${ids.at(-1) ?? ''}`);
  return found;
}

async function answerAll(store: Store, on: string | undefined): Promise<void> {
  const all: SubmissionStatus[] = [];
  const damaged: (DamagedRow & { cluster: string })[] = [];
  for (const settings of clustersOf(store, on)) {
    const found = await new Cluster(store, settings).overview();
    all.push(...found.statuses);
    damaged.push(...found.damaged.map((row) => ({ ...row, cluster: settings.name })));
  }
  const rows = all.map(({ id, cluster, title, tasks, counts, source }) => [
    id,
    cluster,
    title,
    String(tasks.length),
    countsText(counts),
    source ?? 'silent',
  ]);
  rows.push(...damaged.map(({ id, cluster, reason }) => [id, cluster, '', '', `damaged: ${reason}`, '']));
  const counts = Object.fromEntries(TASK_STATES.map((state) => [state, 0]));
  answer(
    [
      ...all.map((one) => ({ submission: one.id, cluster: one.cluster, title: one.title, counts: one.counts, source: one.source })),
      ...damaged.map(({ id, cluster, reason }) => ({ submission: id, cluster, title: '', counts, source: null, damaged: reason })),
    ],
    rows.length > 0 ? textTable(['submission', 'cluster', 'what', 'tasks', 'states', 'scheduler'], rows) : 'Nothing was submitted yet',
  );
}

function statusText({ id, title, cluster, counts, source, tasks, sharers }: SubmissionStatus): string {
  const rows = [...sharers, ...tasks].map((task) => [
    task.id,
    task.name,
    task.seed === null ? '' : String(task.seed),
    task.state,
    task.state === 'running' ? `${task.phase} ${Math.round(task.done)}/${Math.round(task.total)}` : '',
    task.success === null ? '' : percent(task.success),
    task.node,
    task.reason.slice(0, 90),
  ]);
  const scheduler = source === null ? 'the scheduler is silent' : `from ${source}`;
  return [
    `${id} “${title}” on ${cluster}: ${countsText(counts)} (${scheduler})`,
    '',
    textTable(['task', 'name', 'seed', 'state', 'progress', 'success', 'node', 'why'], rows),
  ].join('\n');
}
