// From wanted runs to a submission: one task per run, and a task before them for every reference policy (with its V* samples) that more
// than one of them needs. Reference policies that the lab has already are sent along.

import { randomUUID } from 'node:crypto';
import { type Algorithms, algorithmOf } from '../algorithm/registry.ts';
import { contentHash } from '../base/canonical.ts';
import type { RunConfig } from '../config/config.ts';
import { identityOf } from '../queue/new-run.ts';
import type { Store } from '../store/store.ts';
import type { ReferenceFile } from '../training/host.ts';
import type { ClusterSettings } from './clusters.ts';
import { codeIdentity } from './code.ts';
import { memoryToAsk, type ModelPlace, modelsOf } from './models.ts';
import type { CodeIdentity, SubmissionFile, TaskRequest } from './incoming.ts';
import { taskNumber } from './submission.ts';

export interface WantedTask {
  readonly config: RunConfig;
  readonly preset: string | null;
  readonly tags: readonly string[];
}

export interface SubmissionPlan {
  readonly file: SubmissionFile;
  readonly requests: readonly TaskRequest[];
  /** Reference policies of the lab by the shared file they are for. */
  readonly known: ReadonlyMap<string, readonly ReferenceFile[]>;
}

export interface PlanOptions {
  readonly title: string;
  readonly study?: string | null;
  readonly now?: number;
  readonly code?: CodeIdentity;
}

export function planSubmission(
  store: Store,
  cluster: ClusterSettings,
  wanted: readonly WantedTask[],
  options: PlanOptions,
): SubmissionPlan {
  const now = options.now ?? Date.now();
  const code = options.code ?? codeIdentity();
  const { scratch } = cluster;
  const memory = memoryToAsk(
    store.catalog,
    store.dataFolder,
    cluster,
    wanted.map(({ config }) => config),
  );
  const groups = Map.groupBy(wanted, ({ config: { world, policy, reference } }) => contentHash([world, policy, reference]));
  const sharedBy = new Map<WantedTask, string>();
  const known = new Map<string, readonly ReferenceFile[]>();
  const sharers: TaskRequest[] = [];
  for (const [position, members] of [...groups.values()].entries()) {
    const id = `s${position}`;
    const references = knownReferences(store, members[0]);
    if (members.length < 2 && references.length === 0) continue;
    for (const member of members) sharedBy.set(member, id);
    if (references.length > 0) known.set(id, references);
    const work = {
      kind: 'share' as const,
      configs: sharedConfigs(
        store.catalog,
        members.map(({ config }) => config),
      ),
    };
    if (members.length > 1) sharers.push({ astrolab: 'task', id, code, scratch, models: modelsFor(store, members[0]), work });
  }
  const tasks = wanted.map((one, index) => {
    const { config } = one;
    const shared = sharedBy.get(one) ?? null;
    return {
      id: taskNumber(index + 1),
      uid: randomUUID(),
      name: config.name,
      seed: config.seed,
      planned: config.training.updates,
      identity: identityOf(store.catalog, config),
      shared,
    };
  });
  const requests = wanted.map((one, index): TaskRequest => {
    const { config, preset, tags } = one;
    const { id = '', uid = '', shared = null } = tasks[index] ?? {};
    const work = { kind: 'train' as const, uid, config, preset, tags: [...tags], shared };
    return { astrolab: 'task', id, code, scratch, models: modelsFor(store, one), work };
  });
  const id = `${new Date(now).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')}-${randomUUID().slice(0, 6)}`;
  const file: SubmissionFile = {
    astrolab: 'submission',
    id,
    title: options.title,
    study: options.study ?? null,
    createdAt: now,
    cluster: { ...cluster, memory },
    code,
    tasks,
    sharers: sharers.map((sharer) => sharer.id),
  };
  return { file, requests: [...sharers, ...requests], known };
}

const modelsFor = (store: Store, one: WantedTask | undefined): ModelPlace[] => (one ? modelsOf(store.dataFolder, one.config) : []);

/** The configs that differ in what is shared: the first, and one of each set of V* samples. */
function sharedConfigs(catalog: Algorithms, configs: readonly RunConfig[]): RunConfig[] {
  const valued = configs.filter(({ algorithm }) => algorithmOf(catalog, algorithm).needs.vstar);
  const different = new Map(
    valued.map((config) => [contentHash([config.seed, config.training.tasks, config.vstar.samples, config.curriculum.mode]), config]),
  );
  return different.size > 0 ? [...different.values()] : configs.slice(0, 1);
}

/** Candidates by world and settings; the node, which opens the world, finds the right one by its recipe. */
function knownReferences(store: Store, one: WantedTask | undefined): ReferenceFile[] {
  if (!one) return [];
  const { world, reference } = one.config;
  const wantedSettings = contentHash(reference);
  const keys = Object.keys(reference);
  return store.references.list().filter(({ world: name, details, recipe }) => {
    if (name !== world.name || typeof details !== 'object' || details === null) return false;
    const settings = Object.fromEntries(Object.entries(details).filter(([key]) => keys.includes(key)));
    return contentHash(settings) === wantedSettings && store.references.find(recipe) !== undefined;
  });
}
