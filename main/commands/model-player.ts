// A language model that plays one episode, for `lab play --model`: it acts greedily, and its actions are then shown like a script's.

import { parseConfig } from '../config/config.ts';
import type { Environment, Task, World } from '../environment/environment.ts';
import { openAdapter } from '../policy/model/adapter.ts';
import { modelNetwork } from '../policy/model/model-network.ts';
import { ModelRegistry } from '../policy/model/registry.ts';
import { Sampler } from '../policy/sampler.ts';
import { drawAt, rollout } from '../rollout/rollout.ts';
import { modelPolicy } from '../training/model-policy.ts';
import { asCall } from './models.ts';
import { dataFolder } from './output.ts';

const CONTEXT = 1024;

export interface ModelPlayer {
  readonly model: string;
  /** A PEFT adapter on top of it. */
  readonly adapter?: string | undefined;
  readonly level?: number | undefined;
}

export async function modelActions(
  world: World,
  environment: Environment,
  task: Task,
  { model, adapter, level }: ModelPlayer,
): Promise<string[]> {
  try {
    const config = parseConfig({ world: { name: world.name }, policy: { kind: 'model', model: { name: model }, contextLength: CONTEXT } });
    const { codec } = modelPolicy(config, world, environment, { dataFolder: dataFolder(), critic: false });
    const source = new ModelRegistry(dataFolder()).open(model);
    const tuned = adapter === undefined ? undefined : openAdapter(adapter, source.config);
    const network = modelNetwork({ ...source, trained: tuned?.lora ?? 'none', contextLength: CONTEXT });
    const sampler = new Sampler(network, tuned?.values ?? network.layout.zeros(), { capacity: 1 });
    try {
      const request = { task, seed: 0, purpose: 'evaluation', update: 0, relabel: false, level } as const;
      const [episode] = await rollout({ environment, codec, sampler }, [request], drawAt(0));
      return (episode?.trajectory.steps ?? []).map(({ action }) => action);
    } finally {
      await sampler.dispose();
    }
  } catch (error) {
    throw asCall(error);
  }
}
