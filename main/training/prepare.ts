// What several runs share, made before any of them trains: the reference policy, and V* of the training tasks of all of them. It goes
// the way that train.ts goes, so a run that finds these takes the same weights and samples that it would have made.

import { availableParallelism } from 'node:os';
import { algorithmOf } from '../algorithm/registry.ts';
import { scheduled } from '../algorithm/vstar.ts';
import type { RunConfig } from '../config/config.ts';
import { requireDevice } from '../engine/gpu/device.ts';
import { openSampler, placeWeights, releaseWeights } from '../policy/sampling/open-sampler.ts';
import type { TrainingHost } from './host.ts';
import { samplerCapacity } from './batching/memory-plan.ts';
import { obtainReference } from './reference/obtain-reference.ts';
import { PHASES, ProgressReporter } from './progress.ts';
import { openRun } from './run-setup.ts';
import { trainingPool } from './tasks.ts';
import { VstarStage } from './vstar-stage.ts';

type Host = Pick<TrainingHost, 'dataFolder' | 'references' | 'vstar' | 'report'>;

/** All configs have the same world, policy and reference. What the host knows already is not made again. */
export async function prepareShared(configs: readonly RunConfig[], host: Host): Promise<void> {
  const [first] = configs;
  if (!first) throw new RangeError('At least one config is expected');
  const progress = new ProgressReporter((report) => host.report(report));
  const setup = openRun(first, { progress: (share, what) => void progress.report(0, what, share, 1), dataFolder: host.dataFolder });
  const threads = first.threads || availableParallelism();
  const session = { threads, spinning: false, ...(await requireDevice(first.device)) };
  const reference = await obtainReference(setup, threads, host, progress, undefined, session);
  const { environment, codec, referenceModel } = setup;
  const level = environment.levels - 1;
  const capacity = samplerCapacity(first);
  const weights = placeWeights(referenceModel, reference.weights, session);
  const sampler = openSampler(referenceModel, weights, { capacity, threads });
  try {
    for (const config of configs) {
      // The others value tasks when they first meet them.
      const early = config.curriculum.mode === 'off' && config.vstar.samples.length === 1;
      if (!early || !algorithmOf(config.algorithm).needs.vstar) continue;
      const stage = new VstarStage(config, { environment, codec, sampler }, reference.sha256, host.vstar);
      const samples = scheduled(config.vstar.samples, 0, config.training.updates);
      await stage.ensure(trainingPool(config, environment), level, samples, async (entries, _episodes, done, total) => {
        await host.report({ type: 'vstar', update: 0, world: environment.name, entries, episodes: [] });
        await progress.report(0, PHASES.vstar, done, total);
      });
    }
  } finally {
    await sampler.dispose();
    await releaseWeights(weights);
  }
}
