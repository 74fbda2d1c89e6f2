// From a config to a row in the list of runs, and from a run to how its episodes and checkpoints are kept: the same for the
// command line and the window.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../base/paths.ts';
import type { RunWriterOptions } from '../store/run-writer.ts';
import type { NewRun, Run } from '../store/runs.ts';
import { type Catalog, pluginsOf } from '../config/catalog.ts';
import type { RunConfig } from '../config/config.ts';
import { runIdentity } from '../config/identity.ts';

/** The config as a run of it is stored: with the code of the plug-ins that it uses. */
export function withPlugins(catalog: Catalog, config: RunConfig): RunConfig {
  const plugins = pluginsOf(catalog, config);
  return plugins ? { ...config, plugins } : config;
}

/** The identity of the run that this config becomes. */
export const identityOf = (catalog: Catalog, config: RunConfig): string => runIdentity(withPlugins(catalog, config));

export function newRun(catalog: Catalog, chosen: RunConfig, preset: string | null, tags: readonly string[] = []): NewRun {
  const config = withPlugins(catalog, chosen);
  return {
    name: config.name,
    world: config.world.name,
    variant: config.algorithm.id,
    preset,
    seed: config.seed,
    device: config.device,
    config,
    versions: versions(),
    planned: config.training.updates,
    tags,
  };
}

export function writerOptions(run: Run): RunWriterOptions {
  const { retention, checkpoints } = run.config;
  return { retention, keepCheckpoints: checkpoints.keep };
}

/** What produced a run's numbers, besides its config. */
function versions(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as { version: string };
  return { astrolab: version, node: process.versions.node, platform: `${process.platform}-${process.arch}` };
}
