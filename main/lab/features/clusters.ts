// Calls about Slurm clusters: their settings, what was submitted to them, and how each task is.

import type { Catalog } from '../../config/catalog.ts';
import { z } from 'zod';
import { Cluster } from '../../cluster/cluster.ts';
import { clusterSettings, findCluster, listClusters, removeCluster, saveCluster } from '../../cluster/clusters.ts';
import type { WantedTask } from '../../cluster/plan.ts';
import type { SubmissionStatus } from '../../cluster/status.ts';
import { checkOrder } from '../../config/orders.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';
import { type Order, order } from './setup.ts';

/** The fields of the form, as typed; the lab judges them. */
const cluster = z.strictObject({
  name: z.string(),
  host: z.string(),
  folder: z.string(),
  code: z.string(),
  partition: z.string(),
  account: z.string(),
  qos: z.string(),
  time: z.string(),
  memory: z.string(),
  cpus: z.int(),
  gpus: z.string(),
  throttle: z.int(),
  options: z.array(z.string()),
  setup: z.string(),
  warning: z.int(),
  scratch: z.string(),
});
export type ClusterForm = z.infer<typeof cluster>;

const state = z.enum(['unsubmitted', 'pending', 'running', 'requeued', 'done', 'failed', 'cancelled', 'unknown']);
export type ClusterTaskState = z.infer<typeof state>;

const task = z.object({
  id: z.string(),
  name: z.string(),
  seed: z.number().nullable(),
  state,
  reason: z.string(),
  node: z.string(),
  attempts: z.number(),
  phase: z.string(),
  done: z.number(),
  total: z.number(),
  success: z.number().nullable(),
  /** The run in this lab, once it is collected. */
  run: z.number().nullable(),
});
export type ClusterTask = z.infer<typeof task>;

const summary = z.object({
  cluster: z.string(),
  id: z.string(),
  title: z.string(),
  createdAt: z.number(),
  counts: z.record(state, z.number()),
  /** Null while the scheduler is silent. */
  source: z.string().nullable(),
});
export type SubmissionSummary = z.infer<typeof summary>;

const damagedRow = z.object({ cluster: z.string(), id: z.string(), reason: z.string() });
export type DamagedSubmissionRow = z.infer<typeof damagedRow>;

const one = z.strictObject({ cluster: z.string(), id: z.string() });
const some = one.extend({ tasks: z.array(z.string()).nullable() });

export const calls = {
  'clusters.list': { input: nothing, answer: z.object({ clusters: z.array(cluster) }) },
  /** Adds a cluster or changes the one of its name. */
  'clusters.save': { input: cluster, answer: z.object({}) },
  'clusters.remove': { input: z.strictObject({ name: z.string() }), answer: z.object({}) },
  /** One small job through the whole way. */
  'clusters.test': {
    input: z.strictObject({ name: z.string() }),
    answer: z.object({ node: z.string(), processor: z.string(), code: z.string(), seconds: z.number() }),
  },
  /** What was submitted, of every cluster that answers; submissions that cannot be read apart. */
  'clusters.submissions': {
    input: nothing,
    answer: z.object({
      submissions: z.array(summary),
      damaged: z.array(damagedRow),
      problems: z.array(z.object({ cluster: z.string(), message: z.string() })),
    }),
  },
  /** The tasks of a submission; what is done is collected on the way. */
  'clusters.status': { input: one, answer: summary.extend({ tasks: z.array(task), refused: z.array(z.string()) }) },
  'clusters.cancel': { input: some, answer: z.object({ tasks: z.array(z.string()) }) },
  'clusters.retry': { input: some, answer: z.object({ tasks: z.array(z.string()) }) },
  'clusters.log': { input: one.extend({ task: z.string() }), answer: z.object({ log: z.string() }) },
  'clusters.submit': {
    input: z.strictObject({ cluster: z.string(), order, preset: z.string().nullable(), tags: z.array(z.string()) }),
    answer: z.object({ submission: z.string().nullable(), tasks: z.number(), attached: z.array(z.string()) }),
  },
  /** The batch scripts that `clusters.submit` would submit. */
  'clusters.dryRun': {
    input: z.strictObject({ cluster: z.string(), order, preset: z.string().nullable(), tags: z.array(z.string()) }),
    answer: z.object({ scripts: z.array(z.string()) }),
  },
};

type Calls = Handlers<typeof calls>;

export function handlers(lab: Lab): Calls {
  const opened = new OpenedClusters(lab);
  return {
    ...settingsHandlers(lab, opened),
    ...statusHandlers(lab, opened),
    ...taskHandlers(opened),
    ...submitHandlers(lab, opened),
  };
}

class OpenedClusters {
  readonly #lab: Lab;
  readonly #clusters = new Map<string, Cluster>();

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  at(name: string): Cluster {
    const { store } = this.#lab;
    const known = this.#clusters.get(name) ?? new Cluster(store, findCluster(store, name));
    this.#clusters.set(name, known);
    return known;
  }

  forget(name: string): void {
    this.#clusters.delete(name);
  }
}

type SettingsCalls = Pick<Calls, 'clusters.list' | 'clusters.save' | 'clusters.remove' | 'clusters.test'>;

function settingsHandlers(lab: Lab, opened: OpenedClusters): SettingsCalls {
  return {
    'clusters.list': () => ({ clusters: listClusters(lab.store) }),

    'clusters.save': (form) => {
      const parsed = clusterSettings.safeParse(form);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw new CallFailure(
          'invalid-cluster',
          `${issue?.path.join('.') ?? ''}: ${issue?.message ?? z.prettifyError(parsed.error)}`,
          'Fix that field and save again.',
        );
      }
      saveCluster(lab.store, parsed.data);
      opened.forget(parsed.data.name);
      return {};
    },

    'clusters.remove': ({ name }) => {
      removeCluster(lab.store, name);
      opened.forget(name);
      return {};
    },

    'clusters.test': ({ name }) => opened.at(name).test(),
  };
}

type StatusCalls = Pick<Calls, 'clusters.submissions' | 'clusters.status'>;

function statusHandlers(lab: Lab, opened: OpenedClusters): StatusCalls {
  return {
    'clusters.submissions': async () => {
      const submissions: ReturnType<typeof summaryOf>[] = [];
      const damaged: { cluster: string; id: string; reason: string }[] = [];
      const problems: { cluster: string; message: string }[] = [];
      for (const { name } of listClusters(lab.store)) {
        try {
          const found = await opened.at(name).overview();
          submissions.push(...found.statuses.map((status) => summaryOf(name, status)));
          damaged.push(...found.damaged.map((row) => ({ ...row, cluster: name })));
        } catch (error) {
          problems.push({ cluster: name, message: error instanceof Error ? error.message : String(error) });
        }
      }
      return { submissions: submissions.sort((a, b) => b.createdAt - a.createdAt), damaged, problems };
    },

    'clusters.status': async ({ cluster, id }) => {
      const at = opened.at(cluster);
      const submission = await at.find(id);
      const status = await at.status(submission);
      const { added, refused } = await at.collect(submission, status);
      if (added.length > 0) lab.changed(...added);
      const { runs } = lab.store;
      const tasks = [...status.sharers, ...status.tasks].map((task) => ({
        ...task,
        run: (task.uid && runs.findByUid(task.uid)?.id) || null,
      }));
      return { ...summaryOf(cluster, status), tasks, refused: refused.map(({ task, reason }) => `${task}: ${reason}`) };
    },
  };
}

type TaskCalls = Pick<Calls, 'clusters.cancel' | 'clusters.retry' | 'clusters.log'>;

function taskHandlers(opened: OpenedClusters): TaskCalls {
  return {
    'clusters.cancel': async ({ cluster, id, tasks }) => {
      const at = opened.at(cluster);
      return { tasks: await at.cancel(await at.find(id), tasks) };
    },

    'clusters.retry': async ({ cluster, id, tasks }) => {
      const at = opened.at(cluster);
      return { tasks: await at.retry(await at.find(id), tasks) };
    },

    'clusters.log': async ({ cluster, id, task }) => {
      const at = opened.at(cluster);
      return { log: await at.log(await at.find(id), task) };
    },
  };
}

type SubmitCalls = Pick<Calls, 'clusters.submit' | 'clusters.dryRun'>;

function submitHandlers(lab: Lab, opened: OpenedClusters): SubmitCalls {
  return {
    'clusters.submit': async ({ cluster, order, preset, tags }) => {
      const wanted = wantedOf(lab.catalog, order, preset, tags);
      const { submission, attached } = await opened.at(cluster).submit(wanted, { title: titleOf(wanted) });
      return { submission: submission?.id ?? null, tasks: submission?.file.tasks.length ?? 0, attached: attached.map(({ id }) => id) };
    },

    'clusters.dryRun': async ({ cluster, order, preset, tags }) => {
      const wanted = wantedOf(lab.catalog, order, preset, tags);
      return { scripts: (await opened.at(cluster).dryRun(wanted, { title: titleOf(wanted) })).scripts };
    },
  };
}

const summaryOf = (cluster: string, { id, title, createdAt, counts, source }: SubmissionStatus) => ({
  cluster,
  id,
  title,
  createdAt,
  counts: { ...counts },
  source,
});

const titleOf = (wanted: readonly WantedTask[]): string =>
  `${wanted[0]?.config.name ?? ''}, ${wanted.length} ${wanted.length === 1 ? 'run' : 'runs'}`;

function wantedOf(catalog: Catalog, order: Order, preset: string | null, tags: readonly string[]): WantedTask[] {
  const { runs, issues } = checkOrder(catalog, order);
  const [fault] = issues;
  if (fault)
    throw new CallFailure('invalid-config', `Nothing was submitted. ${fault.key}: ${fault.message}`, 'Fix that field and try again.');
  if (runs.some(({ branch }) => branch !== undefined))
    throw new CallFailure(
      'invalid-config',
      'Nothing was submitted. A branch trains on this machine, where the checkpoint is.',
      'Train it here.',
    );
  return runs.map((config) => ({ config, preset, tags }));
}
