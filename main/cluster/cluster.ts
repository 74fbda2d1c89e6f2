// A cluster as the command line and the window use it: submit runs, look at them, collect, cancel, retry, read logs, and test whether it
// works at all. It keeps nothing but caches: everything it knows is in the folders of the submissions.

import type { Catalog } from '../config/catalog.ts';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { terminal } from '../base/format.ts';
import { upgradeConfig } from '../config/upgrade.ts';
import { identityOf } from '../queue/new-run.ts';
import type { Store } from '../store/store.ts';
import { ClusterError, type ClusterSettings } from './clusters.ts';
import { codeIdentity, codeText, sameCode } from './code.ts';
import { type Collected, collectResults } from './collect.ts';
import { DamagedSubmission, jobName, MOST_BYTES, readRequest } from './incoming.ts';
import { openPlace, type Place, pullSound } from './place.ts';
import { planSubmission, type PlanOptions, type WantedTask } from './plan.ts';
import { ProgressReader } from './progress.ts';
import { batchScript } from './script.ts';
import { writeShared } from './shared-file.ts';
import { type Scheduler, Silent, Slurm } from './slurm.ts';
import { statusOf, type SubmissionStatus, type TaskState } from './status.ts';
import { type DamagedRow, Submission } from './submission.ts';
import { type Clock, ensureSubmitted, record, refresh, resubmit, type Submitter } from './submit.ts';

/** States that a task leaves only when it is submitted again. */
const ENDED: readonly TaskState[] = ['failed', 'cancelled'];
const OVER: readonly TaskState[] = [...ENDED, 'done'];
const LOG_BYTES = 16_384;

export interface ClusterParts {
  readonly place?: Place;
  readonly scheduler?: Scheduler;
  readonly clock?: Clock;
}

export class Cluster {
  readonly settings: ClusterSettings;
  readonly #store: Store;
  readonly #to: Submitter;
  readonly #readers = new Map<string, ProgressReader>();

  constructor(store: Store, settings: ClusterSettings, parts: ClusterParts = {}) {
    this.settings = settings;
    this.#store = store;
    const place = parts.place ?? openPlace(store.dataFolder, settings);
    this.#to = { settings, place, scheduler: parts.scheduler ?? new Slurm(place), clock: parts.clock ?? { now: Date.now } };
  }

  /** What would be submitted: the scripts as sbatch would get them. */
  async dryRun(wanted: readonly WantedTask[], options: PlanOptions): Promise<{ scripts: string[]; tasks: number; shared: number }> {
    const { file } = planSubmission(this.#store, this.settings, wanted, options);
    const limit = (await this.#to.scheduler.arrayLimit()) ?? file.tasks.length;
    const sizes = [
      file.sharers.length,
      ...Array.from({ length: Math.ceil(file.tasks.length / limit) }, (_, at) => Math.min(limit, file.tasks.length - at * limit)),
    ];
    const folder = `${this.#to.place.there}/${file.id}`;
    const scripts = sizes.flatMap((tasks, at) => {
      if (tasks === 0) return [];
      const part = file.sharers.length > 0 ? at + 1 : at;
      const after = at > 0 && file.sharers.length > 0 ? ['NUMBER_OF_THE_FIRST_JOB'] : [];
      return [batchScript({ cluster: file.cluster, folder, name: jobName(file.id, part), part, tasks, after })];
    });
    return { scripts, tasks: file.tasks.length, shared: file.sharers.length };
  }

  /**
   * Sends runs to the cluster. Those that a submission has already (same config and seed) are not sent again; if they failed there, they
   * are retried. Returns the submissions that have them. A scheduler that is silent leaves the submission complete on disk; `resume` hands it over.
   */
  async submit(wanted: readonly WantedTask[], options: PlanOptions): Promise<{ submission: Submission | null; attached: Submission[] }> {
    const known = await this.#knownTasks();
    const attached = new Set<Submission>();
    const again = new Map<Submission, string[]>();
    const fresh = wanted.filter(({ config }) => {
      const found = known.get(identityOf(this.#store.catalog, config));
      if (!found) return true;
      attached.add(found.submission);
      if (found.ended) again.set(found.submission, [...(again.get(found.submission) ?? []), found.task]);
      return false;
    });
    for (const [submission, tasks] of again) await this.retry(submission, tasks);
    if (fresh.length === 0) return { submission: null, attached: [...attached] };
    const plan = planSubmission(this.#store, this.settings, fresh, options);
    const submission = Submission.create(this.#to.place.here, plan.file, plan.requests);
    for (const [id, references] of plan.known) {
      const name = plan.file.sharers.includes(id) ? `${id}.known` : `${id}.shared`;
      writeShared(this.#store, submission.path('shared', name), { references, samples: [] });
    }
    await this.#to.place.push([submission.id]);
    await ensureSubmitted(this.#to, submission);
    return { submission, attached: [...attached] };
  }

  /** Runs that a submission has and that are not collected, by identity; those of other code do not count once they have ended. */
  async #knownTasks(): Promise<Map<string, { submission: Submission; task: string; ended: boolean }>> {
    const found = new Map<string, { submission: Submission; task: string; ended: boolean }>();
    const code = codeIdentity();
    for (const submission of (await this.submissions()).reverse()) {
      const missing = submission.file.tasks.filter(({ uid }) => this.#store.runs.findByUid(uid) === undefined);
      if (missing.length === 0) continue;
      const status = await this.#statusOrDamage(submission);
      if ('reason' in status) continue;
      const states = new Map(status.tasks.map(({ id, state }) => [id, state]));
      for (const { id, identity } of missing) {
        const ended = ENDED.includes(states.get(id) ?? 'unknown');
        const today = submission.file.code.version === code.version ? identity : identityToday(this.#store.catalog, submission, id);
        if (!ended || sameCode(submission.file.code, code)) found.set(today, { submission, task: id, ended });
      }
    }
    return found;
  }

  /** The submissions of this cluster, the newest first, also those of other labs over the same folder. */
  async submissions(): Promise<Submission[]> {
    return (await this.list()).sound;
  }

  /** How all of them are; those that cannot be read are rows of their own. */
  async overview(): Promise<{ statuses: SubmissionStatus[]; damaged: DamagedRow[] }> {
    const { sound, damaged } = await this.list();
    const statuses: SubmissionStatus[] = [];
    for (const submission of sound) {
      const status = await this.#statusOrDamage(submission);
      if ('reason' in status) damaged.push(status);
      else statuses.push(status);
    }
    return { statuses, damaged };
  }

  async #statusOrDamage(submission: Submission): Promise<SubmissionStatus | DamagedRow> {
    try {
      return await this.status(submission);
    } catch (error) {
      if (!(error instanceof DamagedSubmission)) throw error;
      return { id: submission.id, reason: error.message };
    }
  }

  /** All of them, the newest first; what a submission is never changes, so it is brought here once. */
  async list(): Promise<{ sound: Submission[]; damaged: DamagedRow[] }> {
    const { place } = this.#to;
    const ids = await place.submissions();
    const here = new Set(Submission.list(place.here, ids).sound.map(({ id }) => id));
    const missing = ids.filter((id) => !here.has(id));
    const refused = await pullSound(
      place,
      missing.map((id) => ({ name: `${id}/submission.json`, most: MOST_BYTES.submission })),
    );
    const { sound, damaged } = Submission.list(place.here, ids);
    const withheld = [...refused].map(([name, reason]) => ({ id: name.replace(/\/.*/, ''), reason }));
    return { sound, damaged: [...damaged.filter(({ id }) => !withheld.some((one) => one.id === id)), ...withheld] };
  }

  async find(id: string): Promise<Submission> {
    const { sound: all, damaged } = await this.list();
    const found = id === 'last' ? all[0] : all.find((one) => one.id === id || one.id.endsWith(id));
    if (found) return found;
    const broken = damaged.find((one) => one.id === id);
    if (broken) throw new DamagedSubmission(`Submission ${id} is damaged: ${broken.reason}`);
    const known = all.slice(0, 5).map((one) => one.id);
    throw new ClusterError(
      `There is no submission "${id}" on ${this.settings.name}`,
      known.length > 0 ? `The newest are ${known.join(', ')}` : 'There are none yet',
    );
  }

  async status(submission: Submission): Promise<SubmissionStatus> {
    await refresh(this.#to, submission);
    const reader = this.#readers.get(submission.id) ?? new ProgressReader(submission.folder);
    this.#readers.set(submission.id, reader);
    return statusOf(this.#to, submission, reader);
  }

  /** Hands over what a crash or a silent scheduler left unsubmitted. */
  async resume(submission: Submission): Promise<void> {
    await ensureSubmitted(this.#to, submission);
  }

  collect(submission: Submission, status: SubmissionStatus): Promise<Collected> {
    return collectResults(this.#store, this.#to.place, submission, status);
  }

  /** Cancels tasks that have not ended; all of them without a list. Returns their ids. */
  async cancel(submission: Submission, tasks: readonly string[] | null): Promise<string[]> {
    const { tasks: looked, sharers } = await this.status(submission);
    const open = [...looked, ...(tasks === null ? sharers : [])].filter(
      ({ id, state }) => !OVER.includes(state) && (tasks === null || tasks.includes(id)),
    );
    if (tasks === null) await this.#to.scheduler.cancel([...new Set(submission.parts().flatMap(({ job }) => job ?? []))]);
    else await this.#to.scheduler.cancel(open.flatMap(({ job }) => job ?? []));
    if (open.length > 0) await record(this.#to, submission, { is: 'cancelled', at: this.#to.clock.now(), tasks: open.map(({ id }) => id) });
    return open.map(({ id }) => id);
  }

  /** Submits failed and cancelled tasks again (of the list, if given); they continue from their last snapshot. Returns their ids. */
  async retry(submission: Submission, tasks: readonly string[] | null, refused: readonly string[] = []): Promise<string[]> {
    await ensureSubmitted(this.#to, submission);
    const status = await this.status(submission);
    if (status.source === null) throw new Silent('The scheduler does not answer: a task that may still run is not submitted again');
    const again = status.tasks.filter(
      ({ id, state }) => (ENDED.includes(state) || refused.includes(id)) && (tasks === null || tasks.includes(id)),
    );
    const ids = again.map(({ id }) => id);
    if (ids.length > 0) await resubmit(this.#to, submission, ids);
    return ids;
  }

  /** The end of what a task printed. */
  async log(submission: Submission, task: string): Promise<string> {
    const { tasks, sharers } = await this.status(submission);
    const found = [...tasks, ...sharers].find(({ id }) => id === task);
    if (!found)
      throw new ClusterError(`${submission.id} has no task ${task}`, `Its tasks are ${tasks[0]?.id ?? ''} to ${tasks.at(-1)?.id ?? ''}`);
    if (found.log === null) return '';
    return terminal(await this.#to.place.tail(`${submission.id}/${found.log}`, LOG_BYTES));
  }

  /** Deletes the folder of a submission. The caller made sure that nothing is lost. */
  async remove(submission: Submission): Promise<void> {
    await this.#to.place.run(['rm', '-rf', `${this.#to.place.there}/${submission.id}`]);
    rmSync(submission.folder, { recursive: true, force: true });
  }

  /** One small job through the whole way. Throws what is wrong, with the end of the job's log. */
  async test(patienceMs = 300_000): Promise<{ node: string; processor: string; code: string; seconds: number }> {
    const began = performance.now();
    const plan = planSubmission(this.#store, this.settings, [], { title: 'test of the cluster' });
    const request = {
      astrolab: 'task' as const,
      id: '0001',
      code: codeIdentity(),
      scratch: this.settings.scratch,
      models: [],
      work: { kind: 'test' as const },
    };
    const submission = Submission.create(this.#to.place.here, { ...plan.file, id: `test-${plan.file.id}`, sharers: ['0001'] }, [request]);
    try {
      await this.#to.place.push([submission.id]);
      await ensureSubmitted(this.#to, submission);
      for (;;) {
        const { sharers } = await this.status(submission);
        const [task] = sharers;
        if (task?.state === 'done') {
          const news = new ProgressReader(submission.folder).read().get('0001')?.at(-1);
          return {
            node: task.node,
            processor: news?.processor ?? '',
            code: codeText(request.code),
            seconds: (performance.now() - began) / 1000,
          };
        }
        const waited = performance.now() - began;
        if (task && (ENDED.includes(task.state) || waited > patienceMs)) {
          const what = ENDED.includes(task.state)
            ? `The test job ended as ${task.state}`
            : `The test job is still ${task.state} after ${Math.round(waited / 1000)} s`;
          const log = await this.log(submission, '0001');
          if (!ENDED.includes(task.state)) await this.#to.scheduler.cancel(submission.parts().flatMap(({ job }) => job ?? []));
          throw new ClusterError(`${what}: ${task.reason || 'no reason given'}`, log.trim() || 'It printed nothing');
        }
        await sleep(500);
      }
    } finally {
      await this.remove(submission);
    }
  }
}

/** The identity of a task that an earlier version submitted; a submission of another lab, whose requests are not here, has none to compare. */
function identityToday(catalog: Catalog, submission: Submission, task: string): string {
  try {
    const { work } = readRequest(submission.folder, task);
    return work.kind === 'train' ? identityOf(catalog, upgradeConfig(catalog, work.config)) : '';
  } catch {
    return '';
  }
}
