// Continuations from the states of an episode: what came before stays, what comes after is drawn anew, equal states are played from once.

import { afterAll, expect, test } from 'vitest';
import { Random } from '../../main/base/random.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import { playBranches } from '../../main/rollout/branch.ts';
import { type Actor, drawAt, rollout } from '../../main/rollout/rollout.ts';
import { openRun, parseConfig } from '../catalog.ts';

const small = { width: 16, layers: 1, heads: 2, feedForward: 32, contextLength: 256 };
const samplers: Sampler[] = [];
afterAll(async () => void (await Promise.all(samplers.map((sampler) => sampler.dispose()))));

function untrained(world: string, settings: object): Actor {
  const setup = openRun(parseConfig({ world: { name: world, settings }, policy: small }));
  const random = Random.from('weights', 1);
  const sampler = new Sampler(
    setup.model,
    setup.layout.initialise(() => random.normal()),
    { capacity: 16, threads: 1 },
  );
  samplers.push(sampler);
  return { environment: setup.environment, codec: setup.codec, sampler };
}

async function play(actor: Actor, copies: number) {
  const [task] = actor.environment.tasks('train');
  const requests = Array.from({ length: copies }, (_, seed) => ({
    task: task!,
    seed,
    purpose: 'train' as const,
    update: 1,
    relabel: true,
    level: undefined,
  }));
  const episodes = await rollout(actor, requests, drawAt(1));
  return episodes.map(({ trajectory }, i) => ({ request: requests[i]!, trajectory }));
}

const SETTINGS = { count: 3, first: 0, name: ['test'], draw: drawAt(1) };

test('what came before a turn stays as it was, and the same name gives the same continuations', async () => {
  const actor = untrained('sokoban', { levels: 200, maxSteps: 6 });
  const played = await play(actor, 2);
  const { continuations, cost } = await playBranches(actor, played, SETTINGS);
  for (const [i, { trajectory }] of played.entries()) {
    expect(continuations[i]!.length).toBe(trajectory.steps.length);
    for (const [turn, list] of continuations[i]!.entries()) {
      expect(list.length).toBe(3);
      for (const { steps } of list) {
        expect(steps.slice(0, turn).map(({ action }) => action)).toEqual(trajectory.steps.slice(0, turn).map(({ action }) => action));
        expect(steps[turn]!.observation).toBe(trajectory.steps[turn]!.observation);
      }
    }
  }
  const actions = (of: typeof continuations): string[] => of.flat(2).map(({ steps }) => steps.map(({ action }) => action).join());
  expect(new Set(actions(continuations)).size).toBeGreaterThan(3);
  expect(actions((await playBranches(actor, played, SETTINGS)).continuations)).toEqual(actions(continuations));
  // Both begin in the same state, from which was played once.
  expect(continuations[0]![0]).toBe(continuations[1]![0]);
  const own = new Set(continuations.flat());
  expect(cost.episodes).toBe(3 * own.size);
  const turns = [...new Map(continuations.flatMap((list) => list.map((one, turn) => [one, turn] as const))).entries()];
  expect(cost.steps).toBe(turns.reduce((sum, [list, turn]) => sum + list.reduce((all, { steps }) => all + steps.length - turn, 0), 0));
  expect((await playBranches(actor, played, { ...SETTINGS, first: 1 })).continuations[0]![0]).toEqual([]);
}, 60_000);

test('in a world with chance, continuations differ in chance too', async () => {
  const actor = untrained('frozenlake', { lakes: 200, size: 4 });
  const [one] = await play(actor, 1);
  const { continuations } = await playBranches(actor, [one!], { ...SETTINGS, count: 24 });
  // After the same action from the beginning, the slippery ice leads to different cells.
  const after = Map.groupBy(continuations[0]![0]!, ({ steps }) => steps[0]!.action);
  const cells = [...after.values()].map(
    (list) => new Set(list.map(({ steps, finalObservation }) => steps[1]?.observation ?? finalObservation)).size,
  );
  expect(Math.max(...cells)).toBeGreaterThan(1);
}, 60_000);
