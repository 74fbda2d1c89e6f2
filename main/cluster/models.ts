// Language models on a cluster. A model is not sent: a node maps it from where it lies, which must be on the file system that all of them see. It is
// the same one by the hash of its files. What a task will need of a node's memory is planned as for this machine and asked of the scheduler.

import type { Catalog } from '../config/catalog.ts';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { ConfigError, type RunConfig } from '../config/config.ts';
import { megabytes } from '../engine/graph/memory.ts';
import { ModelRegistry } from '../policy/model/files/registry.ts';
import { memoryOf } from '../training/batching/fit-memory.ts';
import { USABLE } from '../training/batching/memory-plan.ts';
import type { ClusterSettings } from './clusters.ts';

export const modelPlace = z.object({ name: z.string(), source: z.string(), hash: z.string() });
export type ModelPlace = z.infer<typeof modelPlace>;

/** The models that a run needs, as they are registered here. */
export function modelsOf(dataFolder: string, { policy }: RunConfig): ModelPlace[] {
  if (policy.kind !== 'model') return [];
  const { name, source, hash } = new ModelRegistry(dataFolder).find(policy.model.name);
  return [{ name, source, hash }];
}

/** Registers them in the folder that a node trains in. */
export function takeModels(dataFolder: string, models: readonly ModelPlace[]): void {
  const registry = new ModelRegistry(dataFolder);
  for (const { name, source, hash } of models) {
    if (!existsSync(source))
      throw new Error(
        `The model "${name}" is expected at ${source}, but there is nothing on ${hostname()}. Put it on the file system that the nodes share, say so with \`lab models locate ${name} PATH\`, and submit again.`,
      );
    if (registry.add(source, name).hash !== hash)
      throw new Error(`${source} on ${hostname()} holds another model than the one called "${name}" in the lab that submitted this.`);
  }
}

const MEGABYTE = 1024 ** 2;
const UNITS: Readonly<Record<string, number>> = { K: 1024, M: MEGABYTE, G: 1024 ** 3, T: 1024 ** 4 };

/** As sbatch understands it: without a letter, megabytes. */
function bytesOf(size: string): number {
  const unit = UNITS[size.at(-1) ?? ''];
  return unit === undefined ? Number(size) * MEGABYTE : Number(size.slice(0, -1)) * unit;
}

/** The memory to ask for: the cluster's setting, or what the largest of these runs may use. Throws a ConfigError where the setting is too small for one. */
export function memoryToAsk(catalog: Catalog, dataFolder: string, cluster: ClusterSettings, configs: readonly RunConfig[]): string {
  const plans = configs.flatMap((config) => {
    const plan = memoryOf(catalog, config, dataFolder);
    return plan ? [{ config, plan }] : [];
  });
  if (cluster.memory === '') {
    const most = Math.max(0, ...plans.map(({ plan }) => plan.most));
    return most === 0 ? '' : `${Math.ceil(most / USABLE / MEGABYTE)}M`;
  }
  const given = bytesOf(cluster.memory);
  for (const { config, plan } of plans) {
    if (plan.needed <= USABLE * given) continue;
    throw new ConfigError(
      `${config.name}: this run needs ${megabytes(plan.needed)} of memory; the cluster ${cluster.name} gives a task ${cluster.memory}. ` +
        `Give it more (\`lab cluster add ${cluster.name} --memory …\`), or take a smaller training.microBatch, training.recompute=true or a smaller policy.contextLength`,
    );
  }
  return cluster.memory;
}
