// An episode of the store as the window replays it: each step with its page, its words and their numbers, what the oracle
// would have said, and why it failed. The world is played again beside the record; where today's world no longer gives
// the same texts (another catalog, say), that is said and only what was recorded is shown.

import type { Catalog } from '../config/catalog.ts';
import type { Environment, Facts, Task, Turn } from '../environment/environment.ts';
import type { TokenNames } from '../policy/text/episode-text.ts';
import { mark, Tokenizer } from '../policy/text/tokenizer.ts';
import { readCheckpoint } from '../engine/runtime/checkpoint.ts';
import { EXTERNAL_FAILURES, USUAL_FAILURES } from '../environment/failures.ts';
import { WorldFault } from '../environment/external/messages.ts';
import { type Step, type Trajectory } from '../rollout/trajectory.ts';
import { TOP_ALTERNATIVES } from '../policy/sampling/draw.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { defaultDataFolder } from '../base/paths.ts';
import { openRun, readingKey } from '../training/run-setup.ts';
import { isReachable } from '../evaluation/evaluate.ts';
import { type DrawnPage, drawPage } from '../environment/page.ts';
import { diagnose, failureMeaning } from '../evaluation/failures.ts';
import { splits } from '../base/vocabulary.ts';
import type { Replay, ReplayStep, Word } from './schema.ts';

/** What is needed to read the episodes of a run. */
export interface Reader {
  readonly environment: Environment;
  readonly tokenizer: TokenNames;
  findTask(trajectory: Trajectory): Task | undefined;
}

/** Worlds kept open with their tokenizers: runs of one study share theirs. */
const MOST_READERS = 4;
const readers = new Map<string, Reader>();

export function readerOf(catalog: Catalog, run: Run, dataFolder = defaultDataFolder()): Reader {
  const { config } = run;
  const key = readingKey(config);
  let reader = readers.get(key);
  if (!reader) {
    const { environment, codec } = openRun(catalog, config, { dataFolder });
    const tasks = new Map<string, Task>();
    for (const split of splits) for (const task of environment.tasks(split)) tasks.set(task.id, task);
    reader = { environment, tokenizer: codec.tokenizer, findTask: ({ task }) => tasks.get(task) };
    if (readers.size >= MOST_READERS) readers.delete([...readers.keys()][0] ?? '');
    readers.set(key, reader);
  }
  return reader;
}

/** A run whose plug-in has gone, changed or may not run is read from its record alone, with the tokenizer of its newest checkpoint. */
function readerFor(store: Store, run: Run): Reader {
  try {
    return readerOf(store.catalog, run, store.dataFolder);
  } catch (error) {
    if (!usesPlugins(run)) throw error;
    return { environment: recorded(run.world), tokenizer: storedTokens(store, run.id), findTask: () => undefined };
  }
}

const usesPlugins = ({ config }: Run): boolean => config.plugins !== undefined;

function storedTokens(store: Store, run: number): TokenNames {
  const checkpoint = store.checkpoints.newestSound(run);
  const json = checkpoint && readCheckpoint(store.checkpoints.path(checkpoint)).notes.tokenizer;
  return json === undefined ? { size: 0, token: (id) => `#${id}`, json: null } : new Tokenizer(JSON.parse(json));
}

/** A world of which only the name is left. */
function recorded(name: string): Environment {
  const gone = (): never => {
    throw new Error(`The world ${name} is not there`);
  };
  const nothing = { rewardRange: [0, 1], returnRange: [0, 1], categories: [], tiers: [], levels: 1 } as const;
  return {
    ...nothing,
    name,
    settings: {},
    maxSteps: Infinity,
    lexicon: { corpus: () => [] },
    diagnostics: { failures: [...EXTERNAL_FAILURES, ...USUAL_FAILURES] },
    tasks: () => [],
    reset: gone,
    step: gone,
    grammar: () => [],
    oracle: () => undefined,
  };
}

export interface Retraced {
  readonly level: number | undefined;
  /** The turn before each step, and the one after the last. */
  readonly turns: readonly Turn[];
}

/** Plays the recorded actions again at the level they were played at; undefined when no level gives the recorded texts. */
export function retrace(environment: Environment, task: Task, trajectory: Trajectory): Retraced | undefined {
  const levels = [undefined, ...Array.from({ length: environment.levels }, (_, level) => level).reverse()];
  for (const level of levels) {
    if (level !== undefined && level < task.level) continue;
    const turns: Turn[] = [environment.reset(task, trajectory.seed, level)];
    for (const { action } of trajectory.steps) {
      const before = turns.at(-1);
      if (before) turns.push(environment.step(before.state, action));
    }
    const texts = [...trajectory.steps.map((step) => step.observation), trajectory.finalObservation];
    if (texts.every((text, index) => turns[index]?.observation === text)) return { level, turns };
  }
  return undefined;
}

/** A world in another process may fail while it plays again: the record is still there. */
function retraceIfPossible(environment: Environment, task: Task, trajectory: Trajectory): Retraced | undefined {
  try {
    return retrace(environment, task, trajectory);
  } catch (error) {
    if (error instanceof WorldFault) return undefined;
    throw error;
  }
}

export function readReplay(store: Store, episode: number): Replay {
  const { run, update } = store.episodes.get(episode);
  return replayOf(store, store.runs.get(run), store.trajectories.read(episode), episode, update);
}

/** `episode` is null for one that is not in the store. */
export function replayOf(store: Store, run: Run, trajectory: Trajectory, episode: number | null, update: number): Replay {
  const reader = readerFor(store, run);
  const { environment } = reader;
  const task = reader.findTask(trajectory);
  const traced = task && retraceIfPossible(environment, task, trajectory);
  const target = task?.target ?? null;
  const draw = (text: string, facts: Facts = {}): DrawnPage => drawPage(environment, text, { target, facts });
  let returned = 0;
  const steps = trajectory.steps.map((step, index): ReplayStep => {
    const turn = traced?.turns[index];
    returned += step.reward;
    const { observation, thought, action, reward, reason, valid, facts } = step;
    return {
      observation,
      view: (turn && environment.view?.(turn.state).text) ?? null,
      thought,
      action,
      reward,
      reason,
      valid,
      returned,
      facts: { ...facts },
      page: draw(observation, trajectory.steps[index - 1]?.facts),
      oracle: (turn && environment.oracle(turn.state)) ?? null,
      words: wordsOf(step, reader.tokenizer),
    };
  });
  const reachable = trajectory.success || !task || isReachable(environment, task, traced?.level);
  const diagnosis = diagnose(environment, trajectory, { reachable });
  const { purpose, split, category, tier, seed, success, advantage, finalObservation } = trajectory;
  return {
    id: episode,
    update,
    purpose,
    split,
    category,
    tier,
    seed,
    success,
    advantage,
    finalObservation,
    steps,
    target,
    run: { id: run.id, name: run.name, variant: run.variant, seed: run.seed, world: run.world },
    task: trajectory.task,
    instruction: task?.instruction ?? trajectory.task,
    return: trajectory.return,
    vstar: vstarOf(store, run.id, trajectory),
    finalPage: draw(finalObservation, trajectory.steps.at(-1)?.facts),
    diagnosis: diagnosis && { ...diagnosis, meaning: failureMeaning(store.catalog, diagnosis.failure) },
    retraced: traced !== undefined,
  };
}

function vstarOf(store: Store, run: number, trajectory: Trajectory): Replay['vstar'] {
  const known = store.vstar.ofRun(run).find(({ task }) => task === trajectory.task);
  const value = trajectory.vstar ?? known?.value;
  return value === undefined ? null : { value, k: known?.k ?? null, n: known?.n ?? null };
}

function wordsOf({ tokens }: Step, tokenizer: TokenNames): Word[] {
  const ids = [...tokens.ids];
  const endOfThought = tokenizer.endOfThought?.(ids) ?? ids.indexOf(mark('</think>'));
  const spoken = (id: number): string => (id >= 0 && id < tokenizer.size ? tokenizer.token(id) : `#${id}`);
  const at = (values: Float32Array, index: number): number | null => values[index] ?? null;
  return ids.map((id, index): Word => {
    const logProb = tokens.logProbs[index];
    const reference = tokens.referenceLogProbs[index];
    const alternatives = Array.from({ length: TOP_ALTERNATIVES }, (_, column) => index * TOP_ALTERNATIVES + column).flatMap((place) => {
      const other = tokens.topIds[place] ?? -1;
      return other < 0 ? [] : [{ text: spoken(other), probability: tokens.topProbs[place] ?? 0 }];
    });
    return {
      text: spoken(id),
      part: index <= endOfThought ? 'thought' : 'action',
      probability: logProb === undefined ? null : Math.exp(logProb),
      entropy: at(tokens.entropies, index),
      logRatio: logProb === undefined || reference === undefined ? null : logProb - reference,
      value: at(tokens.values, index),
      advantage: at(tokens.advantages, index),
      alternatives,
    };
  });
}
