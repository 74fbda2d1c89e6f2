// Measures a config before it is trained: a few cloning steps and two updates in a separate training process and a temporary data
// folder, which is deleted afterwards. Nothing of it reaches the list of runs; its numbers feed the estimate.

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Store } from '../store/store.ts';
import type { Catalog } from '../config/catalog.ts';
import type { RunConfig } from '../config/config.ts';
import { addFolder } from '../plugin/permissions.ts';
import type { Measurement } from './speeds.ts';
import { newRun, writerOptions } from './new-run.ts';
import { type Launch, RunQueue } from './queue.ts';

const UPDATES = 2;
/** Some of them build what the others use (a session for each size of batch); the fastest stretch is the pace of the others. */
const CLONING_STEPS = 24;
const MOST_EPISODES = 64;

/** `launchIn` starts a training process with the given data folder; the language models of `dataFolder` are found there too. */
export async function probe(
  catalog: Catalog,
  config: RunConfig,
  launchIn: (dataFolder: string) => Launch,
  dataFolder?: string,
): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-probe-'));
  if (dataFolder !== undefined && config.policy.kind === 'model')
    symlinkSync(join(dataFolder, 'models'), join(folder, 'models'), 'junction');
  const store = Store.open(folder, catalog);
  // Its training process finds the same plug-ins there.
  for (const plugin of catalog.plugins) addFolder(folder, plugin.folder, plugin.allowed);
  const small = shrunk(config);
  const cloning: Seen[] = [];
  const queue = new RunQueue({
    store,
    launch: launchIn(folder),
    writer: writerOptions,
    onReport: (_run, report) => {
      if (report.type !== 'progress' || !report.phase.startsWith('cloning')) return;
      cloning.push({ time: performance.now(), done: report.done });
    },
  });
  try {
    const run = store.runs.create(newRun(catalog, small, null));
    queue.train(run.id);
    await queue.settled();
    const { state, reason } = store.runs.get(run.id);
    if (state !== 'done') throw new Error(`The probe did not finish: ${reason ?? state}`);
    const latest = store.metrics.latest(run.id);
    const value = (name: string): number => latest[name]?.[1] ?? Number.NaN;
    const { batch } = small.training;
    return {
      secondsPerEpisode: value('system/time.rollout') / batch,
      secondsPerUpdateEpisode: value('system/time.total') / batch,
      secondsPerCloningStep: perStep(cloning),
      memoryBytes: value('system/memory') * 1e6,
      stepsPerEpisode: value('rollout.steps'),
    };
  } finally {
    await queue.close();
    store.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Seen {
  /** Milliseconds. */
  readonly time: number;
  readonly done: number;
}

/** Seconds of a step that builds nothing; reports may leave some out. Null when there were none. */
function perStep(seen: readonly Seen[]): number | null {
  const paces = seen.flatMap(({ time, done }, index) => {
    const before = seen[index - 1];
    return before && done > before.done ? [(time - before.time) / 1000 / (done - before.done)] : [];
  });
  return paces.length > 0 ? Math.min(...paces) : null;
}

/** The same model, world and algorithm with as little work as still shows its speed. */
function shrunk({ branch: _branch, ...config }: RunConfig): RunConfig {
  const { reference, training } = config;
  const batch = Math.min(MOST_EPISODES, training.batch);
  return {
    ...config,
    reference: {
      ...reference,
      demonstrations: Math.min(reference.demonstrations, reference.batch * CLONING_STEPS),
      steps: CLONING_STEPS,
      checkEvery: 1000,
      checkTasks: 1,
    },
    vstar: { ...config.vstar, samples: [1], dropUnsolved: false },
    training: { ...training, updates: UPDATES, batch, tasks: Math.min(training.tasks, 16) },
    evaluation: { ...config.evaluation, every: 0, finalTasks: 0 },
    checkpoints: { ...config.checkpoints, every: 0 },
    retention: { ...config.retention, keep: 'evaluation', vstar: false },
  };
}
