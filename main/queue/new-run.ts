// From a config to a row in the list of runs, and from a run to how its episodes and checkpoints are kept: the same for the
// command line and the window.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../base/paths.ts';
import type { RunWriterOptions } from '../store/run-writer.ts';
import type { NewRun, Run } from '../store/runs.ts';
import { type RunConfig, parseConfig } from '../config/config.ts';
import { pluginsOf } from '../plugin/load.ts';

export function newRun(chosen: RunConfig, preset: string | null, tags: readonly string[] = []): NewRun {
  const plugins = pluginsOf(chosen);
  const config: RunConfig = plugins ? { ...chosen, plugins } : chosen;
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
  const { retention, checkpoints } = parseConfig(run.config);
  return { retention, keepCheckpoints: checkpoints.keep };
}

/** What produced a run's numbers, besides its config. */
function versions(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as { version: string };
  return { astrolab: version, node: process.versions.node, platform: `${process.platform}-${process.arch}` };
}
