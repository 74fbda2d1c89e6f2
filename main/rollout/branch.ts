// Continuations: from the state before each turn of an episode, K episodes are played on to their end. What they collect is the value of that
// state, exactly but for the size of the sample. They are ordinary rollouts, in the same batches; a state that several episodes went through in the
// same way is played from once.

import { Random } from '../base/random.ts';
import type { DrawSettings } from '../policy/sampling/draw.ts';
import type { Episode, EpisodeRequest } from './episode.ts';
import { type Actor, rollout, type RolloutOptions } from './rollout.ts';
import type { Trajectory } from './trajectory.ts';

/** An episode that was played, and how. */
export type Played = Pick<Episode, 'request' | 'trajectory'>;

export interface BranchSettings {
  /** K: continuations from each state. */
  readonly count: number;
  /** The first turn that is continued from. */
  readonly first: number;
  /** Decides what is drawn; the same name, the same continuations. */
  readonly name: readonly (string | number)[];
  readonly draw: DrawSettings;
}

export interface BranchResult {
  /** [episode][turn] → its continuations, from the episode's beginning; none before `first`. */
  readonly continuations: readonly (readonly (readonly Trajectory[])[])[];
  /** What was played for them: episodes, and the turns and tokens after the states they began in. */
  readonly cost: { readonly episodes: number; readonly steps: number; readonly tokens: number };
}

export async function playBranches(
  actor: Actor,
  played: readonly Played[],
  { count, first, name, draw }: BranchSettings,
  options: RolloutOptions = {},
): Promise<BranchResult> {
  const starts = new Map<string, { readonly turn: number; readonly requests: EpisodeRequest[] }>();
  const keys = played.map(({ request, trajectory }) =>
    trajectory.steps.map((_, turn) => {
      if (turn < first) return undefined;
      const key = stateKey(request, trajectory, turn);
      if (!starts.has(key)) starts.set(key, { turn, requests: continuing(request, trajectory, turn, count, [...name, starts.size]) });
      return key;
    }),
  );
  const requests = [...starts.values()].flatMap((start) => start.requests);
  const episodes = await rollout(actor, requests, draw, options);
  const found = new Map<string, Trajectory[]>();
  const cost = { episodes: episodes.length, steps: 0, tokens: 0 };
  let at = 0;
  for (const [key, { turn }] of starts) {
    const own = episodes.slice(at, (at += count)).map(({ trajectory }) => trajectory);
    found.set(key, own);
    for (const { steps } of own) {
      cost.steps += steps.length - turn;
      for (const { tokens } of steps.slice(turn)) cost.tokens += tokens.ids.length;
    }
  }
  return { continuations: keys.map((turns) => turns.map((key) => (key === undefined ? [] : (found.get(key) ?? [])))), cost };
}

/** The way to a state: what was seen, thought and done, and what is seen now. */
function stateKey({ task, level }: EpisodeRequest, { steps }: Trajectory, turn: number): string {
  const way = steps.slice(0, turn).map(({ observation, thought, action }) => [observation, thought, action]);
  return JSON.stringify([task.id, level ?? null, way, steps[turn]?.observation]);
}

function continuing(
  request: EpisodeRequest,
  { steps }: Trajectory,
  turn: number,
  count: number,
  name: readonly (string | number)[],
): EpisodeRequest[] {
  const before = steps.slice(0, turn).map(({ thought, action }) => ({ thought, action }));
  // The names that the episode was shown stay as they were.
  const relabel = request.relabel === true ? request.seed : request.relabel;
  return Array.from({ length: count }, (_, copy) => ({
    ...request,
    relabel,
    before,
    drawSeed: Random.from('branch', ...name, copy).integer(),
  }));
}
