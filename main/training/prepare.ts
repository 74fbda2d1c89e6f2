// What several runs share, made before any of them trains: the reference policy, and V* of the training tasks of all of them. It goes
// the way that train.ts goes, so a run that finds these takes the same weights and samples that it would have made.

import { scheduled } from '../algorithm/vstar.ts';
import type { RunConfig } from '../config/config.ts';
import { neverAborted } from './abort.ts';
import type { TrainingHost } from './host.ts';
import { PHASES } from './progress.ts';
import { openReference } from './reference/open-reference.ts';
import { trainingPool } from './tasks.ts';
import { VstarStage, valuedAtOnce } from './vstar-stage.ts';

type Host = Pick<TrainingHost, 'catalog' | 'dataFolder' | 'references' | 'vstar' | 'report'>;

/** All configs have the same world, policy and reference. What the host has already is not made again. */
export async function prepareShared(configs: readonly RunConfig[], host: Host, signal = neverAborted()): Promise<void> {
  const [first] = configs;
  if (!first) throw new RangeError('At least one config is expected');
  const { actor, reference, progress, dispose } = await openReference(first, host, signal);
  const { environment } = actor;
  try {
    for (const config of configs) {
      if (!valuedAtOnce(host.catalog, config)) continue; // the others value tasks when they first meet them
      const stage = new VstarStage(config, actor, reference.sha256, host.vstar, signal);
      const samples = scheduled(config.vstar.samples, 0, config.training.updates);
      await stage.ensure(trainingPool(config, environment), environment.levels - 1, samples, async (entries, _episodes, done, total) => {
        await host.report({ type: 'vstar', update: 0, world: environment.name, entries, episodes: [] });
        await progress.report(0, PHASES.vstar, done, total);
      });
    }
  } finally {
    await dispose();
  }
}
