// A language model that plays an episode from where it stands, for `lab play --model` and the Play page: it acts greedily, and its actions are
// then shown like anybody's.

import type { Catalog } from '../config/catalog.ts';
import { parseConfig } from '../config/config.ts';
import type { Environment, Task, World } from '../environment/environment.ts';
import { openAdapter } from '../policy/model/adapter.ts';
import { modelNetwork } from '../policy/model/model-network.ts';
import { ModelRegistry } from '../policy/model/files/registry.ts';
import { Sampler } from '../policy/sampling/sampler.ts';
import { EpisodeInPlay } from '../rollout/episode.ts';
import { drawAt } from '../rollout/rollout.ts';
import { modelPolicy } from '../training/model-policy.ts';

const CONTEXT = 1024;

export interface ModelPlayer {
  readonly dataFolder: string;
  readonly model: string;
  /** A PEFT adapter on top of it. */
  readonly adapter?: string | undefined;
  readonly level?: number | undefined;
  /** What was done before. */
  readonly before?: readonly string[];
  /** Most actions; default: until the end. */
  readonly most?: number;
}

/** An episode that is played up to a number of actions. */
class LimitedEpisode extends EpisodeInPlay {
  most = Number.POSITIVE_INFINITY;

  override get done(): boolean {
    return super.done || this.actions.length >= this.most;
  }
}

/** What the model does next, in order. */
export async function modelActions(
  catalog: Catalog,
  world: World,
  environment: Environment,
  task: Task,
  { dataFolder, model, adapter, level, before = [], most = Number.POSITIVE_INFINITY }: ModelPlayer,
): Promise<string[]> {
  const config = parseConfig(catalog, {
    world: { name: world.name },
    policy: { kind: 'model', model: { name: model }, contextLength: CONTEXT },
  });
  const { codec } = modelPolicy(config, world, environment, { dataFolder, critic: false });
  const source = new ModelRegistry(dataFolder).open(model);
  const tuned = adapter === undefined ? undefined : openAdapter(adapter, source.config);
  const network = modelNetwork({ ...source, trained: tuned?.lora ?? 'none', contextLength: CONTEXT });
  const sampler = new Sampler(network, tuned?.values ?? network.layout.zeros(), { capacity: 1 });
  const episode = new LimitedEpisode(environment, codec, { task, seed: 0, purpose: 'evaluation', update: 0, relabel: false, level });
  for (const action of before) episode.force({ thought: '', action });
  episode.most = before.length + most;
  try {
    await sampler.run([episode], drawAt(0));
  } finally {
    await sampler.dispose();
  }
  return episode.actions.slice(before.length);
}
