// A cluster by name: how to reach it (sbatch here, or over ssh), where its nodes see the shared folder and the lab's code, and what a
// job asks for. Kept in the settings of the data folder; nothing secret is among it, keys and hosts are those of the user's ssh.

import { join } from 'node:path';
import { z } from 'zod';
import type { Store } from '../store/store.ts';

/** One line without anything that could end it or begin another. */
const line = z
  .string()
  .trim()
  .max(500)
  .regex(/^[^\n\r]*$/, 'one line is expected');
const word = line.regex(/^[\w.,:@%+=/-]*$/, 'letters, digits and . , : @ % + = / - are expected');
const path = line.regex(/^(\/[^\s"'`$\\]*)?$/, 'an absolute path without spaces, quotes, $ or backslash is expected');

export const clusterSettings = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'lower-case letters, digits and dashes are expected, for example slurm'),
  /** ssh's name of the login node; empty where sbatch is on this machine's path. */
  host: z
    .string()
    .regex(/^([\w.@][\w.@-]*)?$/, 'a host as ssh knows it is expected')
    .default(''),
  /** The folder for submissions, as every node sees it. */
  folder: path.refine((text) => text !== '', 'an absolute path on the shared file system is expected'),
  /** The packed copy of the lab (`npm run package -- --cluster`) as the nodes see it; empty: this lab's folder. */
  code: path.default(''),
  partition: word.default(''),
  account: word.default(''),
  qos: word.default(''),
  /** As sbatch takes it: minutes, hh:mm:ss or d-hh:mm. */
  time: z
    .string()
    .regex(/^(\d+|(\d+-)?\d+(:\d\d){0,2})?$/, 'a time as sbatch takes it is expected, for example 02:00:00')
    .default(''),
  memory: z
    .string()
    .regex(/^(\d+[KMGT]?)?$/, 'a size such as 4G is expected')
    .default(''),
  cpus: z.int().min(1).max(1024).default(1),
  /** As --gres=gpu: takes it, for example 1 or a100:1; empty for none. */
  gpus: word.default(''),
  /** Tasks of an array that may run at once; 0 for no limit. */
  throttle: z.int().min(0).max(100_000).default(0),
  /** Further #SBATCH options, one a line, for example --exclude=n7. */
  options: z
    .array(line.regex(/^--[\w-]+(=.*)?$/, 'an option such as --constraint=avx512 is expected'))
    .max(50)
    .default([]),
  /** A shell line before the lab starts, for example module load gcc. */
  setup: line.default(''),
  /** Seconds before the time limit at which a run saves its checkpoint and asks to be requeued. */
  warning: z.int().min(1).max(3600).default(120),
  /** A folder on the nodes’ local disks to train in; empty: the task's folder on the shared file system. */
  scratch: path.default(''),
});
export type ClusterSettings = z.infer<typeof clusterSettings>;

const KEY = 'clusters';
const list = z.array(clusterSettings);

/** There is no cluster of that name, or it cannot be used. */
export class ClusterError extends Error {
  override name = 'ClusterError';
  readonly code = 'cluster';
  readonly hint: string;

  constructor(message: string, hint = '`lab cluster list` shows the clusters, `lab cluster test NAME` checks one') {
    super(message);
    this.hint = hint;
  }
}

export function listClusters(store: Store): ClusterSettings[] {
  return store.settings.get(KEY, list, []);
}

export function findCluster(store: Store, name: string): ClusterSettings {
  const all = listClusters(store);
  const found = all.find((cluster) => cluster.name === name);
  if (found) return found;
  const known = all.length === 0 ? 'There are none yet' : `There are ${all.map((cluster) => cluster.name).join(', ')}`;
  throw new ClusterError(`There is no cluster "${name}". ${known}`, '`lab cluster add NAME --folder DIR` makes one');
}

/** Adds a cluster or replaces the one of its name. */
export function saveCluster(store: Store, cluster: ClusterSettings): void {
  store.write(() =>
    store.settings.set(KEY, [...listClusters(store).filter(({ name }) => name !== cluster.name), clusterSettings.parse(cluster)]),
  );
}

/** Its submissions stay where they are. */
export function removeCluster(store: Store, name: string): void {
  findCluster(store, name);
  store.write(() =>
    store.settings.set(
      KEY,
      listClusters(store).filter((cluster) => cluster.name !== name),
    ),
  );
}

/** Where the submissions of a cluster are read from on this machine: the shared folder, or its mirror when it is reached over ssh. */
export function folderHere(dataFolder: string, { name, host, folder }: ClusterSettings): string {
  return host === '' ? folder : join(dataFolder, 'clusters', name);
}
