// Calls about Slurm clusters. A cluster is opened when it is first asked for and kept, with its caches, until its settings change.

import { z } from 'zod';
import type { clusterCalls } from '../../preload/contract/clusters.ts';
import type { Order } from '../../preload/contract/queue.ts';
import { Cluster } from '../cluster/cluster.ts';
import { clusterSettings, findCluster, listClusters, removeCluster, saveCluster } from '../cluster/clusters.ts';
import type { WantedTask } from '../cluster/plan.ts';
import type { SubmissionStatus } from '../cluster/status.ts';
import { checkOrder } from '../config/orders.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';

type Calls = Handlers<typeof clusterCalls>;

export function clusterHandlers(context: Context): Calls {
  const opened = new OpenedClusters(context);
  return {
    ...settingsHandlers(context, opened),
    ...statusHandlers(context, opened),
    ...taskHandlers(opened),
    ...submitHandlers(opened),
  };
}

class OpenedClusters {
  readonly #context: Context;
  readonly #clusters = new Map<string, Cluster>();

  constructor(context: Context) {
    this.#context = context;
  }

  at(name: string): Cluster {
    const { store } = this.#context.lab;
    const known = this.#clusters.get(name) ?? new Cluster(store, findCluster(store, name));
    this.#clusters.set(name, known);
    return known;
  }

  forget(name: string): void {
    this.#clusters.delete(name);
  }
}

type SettingsCalls = Pick<Calls, 'clusters.list' | 'clusters.save' | 'clusters.remove' | 'clusters.test'>;

function settingsHandlers(context: Context, opened: OpenedClusters): SettingsCalls {
  return {
    'clusters.list': () => ({ clusters: listClusters(context.lab.store) }),

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
      saveCluster(context.lab.store, parsed.data);
      opened.forget(parsed.data.name);
      return {};
    },

    'clusters.remove': ({ name }) => {
      removeCluster(context.lab.store, name);
      opened.forget(name);
      return {};
    },

    'clusters.test': ({ name }) => opened.at(name).test(),
  };
}

type StatusCalls = Pick<Calls, 'clusters.submissions' | 'clusters.status'>;

function statusHandlers(context: Context, opened: OpenedClusters): StatusCalls {
  return {
    'clusters.submissions': async () => {
      const submissions: ReturnType<typeof summaryOf>[] = [];
      const damaged: { cluster: string; id: string; reason: string }[] = [];
      const problems: { cluster: string; message: string }[] = [];
      for (const { name } of listClusters(context.lab.store)) {
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
      if (added.length > 0) context.lab.changed(...added);
      const { runs } = context.lab.store;
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

function submitHandlers(opened: OpenedClusters): SubmitCalls {
  return {
    'clusters.submit': async ({ cluster, order, preset, tags }) => {
      const wanted = wantedOf(order, preset, tags);
      const { submission, attached } = await opened.at(cluster).submit(wanted, { title: titleOf(wanted) });
      return { submission: submission?.id ?? null, tasks: submission?.file.tasks.length ?? 0, attached: attached.map(({ id }) => id) };
    },

    'clusters.dryRun': async ({ cluster, order, preset, tags }) => {
      const wanted = wantedOf(order, preset, tags);
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

function wantedOf(order: Order, preset: string | null, tags: readonly string[]): WantedTask[] {
  const { runs, issues } = checkOrder(order);
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
