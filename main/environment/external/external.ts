// A world in another process behind the one interface of all worlds: plain states, turns and grammars out of the program's answers.
// The state is the episode so far (its task, seed and actions), so it can be saved and branched from like that of any other world.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Random } from '../../base/random.ts';
import { randomSentence } from '../agents.ts';
import type { Environment, Grammar, Plain, Start, Task, Turn, World } from '../environment.ts';
import { EXTERNAL_FAILURES, USUAL_FAILURES } from '../failures.ts';
import { LONGEST_ACTION, tidy } from '../grammar.ts';
import { codeHash } from './code-hash.ts';
import { type ExternalTask, fileInside, tasksOf, type WorldManifest } from './manifest.ts';
import type { Answer } from './messages.ts';
import { describeItself, schemaProblem } from './self-description.ts';
import { type History, type Job, type Outcome, Sessions } from './sessions.ts';

export type ExternalState = {
  readonly task: string;
  readonly seed: number;
  /** The actions that the program has been given; those that it could not have understood are not among them. */
  readonly actions: readonly string[];
  readonly steps: number;
  readonly done: boolean;
  readonly return: number;
  readonly page: string;
  readonly commands: readonly string[] | null;
  readonly oracle: string | null;
  readonly snapshot: Plain;
};
type ExternalTurn = Turn<ExternalState>;

/** Episodes that are played at random to learn the world's words, and how many tasks they come from. */
const LISTENED = 100;
/** What the demonstrator of a world with an oracle gets wrong. */
const MISTAKES = { otherAction: { chance: 0.3, meaning: 'Chance of any other action than the best one.' } };
const FAILURES = [...EXTERNAL_FAILURES, ...USUAL_FAILURES];
const MOST_GRAMMARS = 10_000;

/** Programs are shared by all who play the same world with the same settings in this process. */
const open = new Map<string, { readonly folder: string; readonly sessions: Sessions }>();

function sessionsOf(manifest: WorldManifest, folder: string, code: string): Sessions {
  const key = JSON.stringify([folder, manifest, code]);
  const known = open.get(key);
  if (known) return known.sessions;
  // The same folder with other code: nobody needs the old programs any more.
  for (const [old, { folder: of, sessions }] of open) {
    if (of !== folder) continue;
    sessions.close();
    open.delete(old);
  }
  const sessions = new Sessions(manifest, folder);
  open.set(key, { folder, sessions });
  return sessions;
}

/** Ends the programs of a folder's world, for example because it is no longer allowed. */
export function closeWorlds(folder: string): void {
  for (const [key, entry] of open) {
    if (entry.folder !== folder) continue;
    entry.sessions.close();
    open.delete(key);
  }
}

/** The world of a folder. `permit` throws unless the user has allowed its program to be started. */
export function externalWorld(manifest: WorldManifest, folder: string, permit: () => void): World<ExternalState> {
  const settings = settingsSchema(manifest);
  const anything = (environment: Environment<ExternalState>, { state }: ExternalTurn, random: () => number): string =>
    randomSentence(sayable(environment.grammar(state), state.page), random);
  const best = (environment: Environment<ExternalState>, turn: ExternalTurn, random: () => number): string =>
    turn.state.oracle ?? anything(environment, turn, random);
  return {
    name: manifest.name,
    title: manifest.title ?? manifest.name,
    summary: manifest.summary,
    settings,
    folder,
    demonstrates: manifest.oracle,
    mistakes: manifest.oracle ? MISTAKES : {},
    failures: FAILURES,
    create: (chosen) => {
      permit();
      return createExternal(manifest, folder, settings.parse(chosen ?? {}));
    },
    async describe() {
      permit();
      const sessions = sessionsOf(manifest, folder, codeHash(folder));
      const described = await describeItself(manifest, (request) => sessions.ask(request));
      return { ...described, problem: schemaProblem(described, manifest) };
    },
    blind: anything,
    heuristic: anything,
    demonstrate(environment, turn, imperfection, random) {
      if (random() < (imperfection.otherAction ?? 0)) return { thought: 'something else', action: anything(environment, turn, random) };
      return { thought: '', action: best(environment, turn, random) };
    },
  };
}

function settingsSchema(manifest: WorldManifest): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(manifest.settings).map(([name, { default: preset, description, options }]) => {
        if (options) return [name, z.enum(options).default(String(preset)).describe(description)];
        if (typeof preset === 'string') return [name, z.string().default(preset).describe(description)];
        if (typeof preset === 'number') return [name, z.number().default(preset).describe(description)];
        return [name, z.boolean().default(preset).describe(description)];
      }),
    ),
  );
}

interface Moves {
  begin(starts: readonly Pick<Start, 'task' | 'seed'>[]): ExternalTurn[];
  stepMany(moves: readonly { readonly state: ExternalState; readonly action: string }[]): ExternalTurn[];
}

/** Beginnings and steps of many episodes at once, played in the world's sessions. */
function movesOf(
  manifest: WorldManifest,
  sessions: Sessions,
  byId: ReadonlyMap<string, ExternalTask>,
  given: { readonly settings?: Plain },
): Moves {
  function historyOf({ task, seed, actions, page, snapshot }: ExternalState): History {
    const known = byId.get(task);
    if (!known) throw new Error(`${manifest.name} has no task "${task}" any more`);
    return { start: startOf(manifest, known, seed, given), actions, seen: actions.length === 0 ? undefined : page, snapshot };
  }

  function begin(starts: readonly Pick<Start, 'task' | 'seed'>[]): ExternalTurn[] {
    const known = starts.map(({ task }) => byId.get(task.id) ?? unknownTask(manifest, task));
    const jobs: Job[] = known.map((task, index) => {
      const start = startOf(manifest, task, starts[index]?.seed ?? 0, given);
      return { history: { start, actions: [], seen: undefined, snapshot: null }, action: undefined };
    });
    return sessions.play(jobs).map((outcome, index) => {
      const task = known[index] ?? unknownTask(manifest, starts[index]?.task);
      return firstTurn(manifest, task, starts[index]?.seed ?? 0, outcome);
    });
  }

  function stepMany(moves: readonly { readonly state: ExternalState; readonly action: string }[]): ExternalTurn[] {
    const said = moves.map(({ state, action }) => commandOf(manifest, state, action));
    const jobs = moves.flatMap(({ state }, index): Job[] => {
      const action = said[index];
      return action === undefined || state.done ? [] : [{ history: historyOf(state), action }];
    });
    const outcomes = sessions.play(jobs);
    let next = 0;
    return moves.map(({ state }, index) => {
      const action = said[index];
      if (action === undefined || state.done) return refusedTurn(manifest, state);
      const outcome = outcomes[next++];
      if (!outcome) throw new Error('A world in another process gave fewer answers than it was asked for');
      return nextTurn(manifest, state, action, outcome);
    });
  }

  return { begin, stepMany };
}

function createExternal(manifest: WorldManifest, folder: string, settings: Readonly<Record<string, unknown>>): Environment<ExternalState> {
  const code = codeHash(folder);
  const sessions = sessionsOf(manifest, folder, code);
  const tasks = tasksOf(manifest, folder);
  const byId = new Map([...tasks.values()].flat().map((task) => [task.id, task]));
  const chosen: Plain = JSON.parse(JSON.stringify(settings));
  const given = Object.keys(manifest.settings).length > 0 ? { settings: chosen } : {};
  const grammars = new Map<string, Grammar>();
  const prefetched = new Map<string, ExternalTurn[]>();
  const name = (task: string, seed: number): string => JSON.stringify([task, seed]);

  const { begin, stepMany } = movesOf(manifest, sessions, byId, given);

  const environment: Environment<ExternalState> = {
    name: manifest.name,
    settings: { ...(typeof chosen === 'object' && chosen !== null && !Array.isArray(chosen) ? chosen : {}), code },
    maxSteps: manifest.maxSteps,
    rewardRange: manifest.reward ?? [0, 1],
    returnRange: manifest.reward ? [Math.min(0, manifest.reward[0] * manifest.maxSteps), manifest.reward[1] * manifest.maxSteps] : [0, 1],
    categories: [...new Set([...byId.values()].map(({ category }) => category))],
    tiers: [...new Set([...byId.values()].map(({ tier }) => tier))],
    levels: 1,
    tasks: (split) => tasks.get(split) ?? [],
    reset(task, seed) {
      const ready = prefetched.get(name(task.id, seed))?.pop();
      const [turn] = ready ? [ready] : begin([{ task, seed }]);
      if (!turn) throw new Error('A world in another process gave no answer to reset');
      return turn;
    },
    step(state, action) {
      const [turn] = stepMany([{ state, action }]);
      if (!turn) throw new Error('A world in another process gave no answer to step');
      return turn;
    },
    grammar(state) {
      if (state.done) return [];
      const key = state.commands === null ? '' : JSON.stringify(state.commands);
      let grammar = grammars.get(key);
      if (!grammar) {
        grammar = grammarOf(manifest, state.commands);
        if (grammars.size >= MOST_GRAMMARS) grammars.clear();
        grammars.set(key, grammar);
      }
      return grammar;
    },
    oracle: (state) => (state.done ? undefined : (state.oracle ?? undefined)),
    lexicon: {
      corpus: () => corpusOf(manifest, folder, environment, begin, stepMany),
      open: true,
      digits: manifest.digits,
    },
    diagnostics: { failures: FAILURES, solvable: () => true },
    batching: {
      stepMany,
      concurrent: sessions.size,
      prefetch(starts) {
        prefetched.clear();
        const some = starts.slice(0, sessions.free);
        begin(some).forEach((turn, index) => {
          const start = some[index];
          const key = start ? name(start.task.id, start.seed) : '';
          prefetched.set(key, [...(prefetched.get(key) ?? []), turn]);
        });
      },
    },
  };
  return environment;
}

function unknownTask(manifest: WorldManifest, task: Task | undefined): never {
  throw new Error(`${manifest.name} has no task "${task?.id ?? ''}"`);
}

/** The data of `reset`. OpenEnv servers get the seed alone: they refuse what they do not know. */
function startOf(
  manifest: WorldManifest,
  task: ExternalTask,
  seed: number,
  given: { readonly settings?: Plain },
): { [field: string]: Plain } {
  const listed = task.listed ? { task_id: task.id, task_data: task.listed.data, instruction: task.instruction } : {};
  if (manifest.url !== undefined) return { seed: task.worldSeed, ...listed };
  return { seed: task.worldSeed, episode_seed: seed, ...listed, ...given };
}

function grammarOf(manifest: WorldManifest, commands: readonly string[] | null): Grammar {
  const known = commands ?? manifest.actions;
  if (!known) return [[{ kind: 'words', max: manifest.words }]];
  return [[{ kind: 'choice', options: [...new Set(known.map(tidy))].filter((option) => option !== '') }]];
}

/** What the program is sent for an action; undefined where it is none. */
function commandOf(manifest: WorldManifest, state: ExternalState, action: string): string | undefined {
  const text = tidy(action);
  const known = state.commands ?? manifest.actions;
  if (known) return known.find((command) => tidy(command) === text);
  return text === '' || action.length > LONGEST_ACTION || text.split(' ').length > manifest.words ? undefined : action.trim();
}

function firstTurn(manifest: WorldManifest, task: ExternalTask, seed: number, outcome: Outcome): ExternalTurn {
  if ('ended' in outcome) throw new Error(`${manifest.name} could not begin the task ${task.id}: ${outcome.ended}`);
  const page = task.listed && !outcome.text.includes(task.instruction) ? `TASK: ${task.instruction}\n${outcome.text}` : outcome.text;
  const state = {
    task: task.id,
    seed,
    actions: [],
    steps: 0,
    done: outcome.done,
    return: 0,
    page,
    commands: outcome.commands,
    oracle: outcome.oracle,
    snapshot: outcome.snapshot,
  };
  return turnOf(manifest, state, {
    observation: page,
    reward: 0,
    reason: 'the beginning',
    valid: true,
    success: false,
    facts: { kind: 'reset', ...outcome.facts },
  });
}

function nextTurn(manifest: WorldManifest, before: ExternalState, action: string, outcome: Outcome): ExternalTurn {
  const steps = before.steps + 1;
  const actions = [...before.actions, action];
  if ('ended' in outcome) {
    const state = { ...before, actions, steps, done: true, commands: null, oracle: null, snapshot: null };
    const facts = { kind: 'world-error', failure: 'world-error', error: outcome.ended.slice(0, 500) };
    return turnOf(manifest, state, { observation: before.page, reward: 0, reason: outcome.ended, valid: true, success: false, facts });
  }
  const { text, reward, valid, failure } = outcome;
  const state = {
    ...before,
    actions,
    steps,
    done: outcome.done || steps >= manifest.maxSteps,
    return: before.return + reward,
    page: text,
    commands: outcome.commands,
    oracle: outcome.oracle,
    snapshot: outcome.snapshot,
  };
  const reason = outcome.reason ?? (reward === 0 ? 'no reward' : `the world gave ${reward}`);
  const facts = { kind: valid ? 'action' : 'invalid', ...outcome.facts, ...(failure !== null && { failure }) };
  return turnOf(manifest, state, { observation: text, reward, reason, valid, success: isSuccess(manifest, state, outcome), facts });
}

function isSuccess(manifest: WorldManifest, state: ExternalState, answer: Answer): boolean {
  if (!state.done) return false;
  if (answer.success !== null) return answer.success;
  return manifest.success === undefined ? answer.done && answer.reward > 0 : state.return >= manifest.success;
}

/** What cannot be said here costs a step and changes nothing; the program does not hear of it. */
function refusedTurn(manifest: WorldManifest, before: ExternalState): ExternalTurn {
  const steps = before.steps + 1;
  const state = { ...before, steps, done: before.done || steps >= manifest.maxSteps };
  return turnOf(manifest, state, {
    observation: before.page,
    reward: 0,
    reason: 'not possible here',
    valid: false,
    success: false,
    facts: { kind: 'invalid' },
  });
}

function turnOf(
  manifest: WorldManifest,
  state: ExternalState,
  rest: Pick<ExternalTurn, 'observation' | 'reward' | 'reason' | 'valid' | 'success' | 'facts'>,
): ExternalTurn {
  return { state, done: state.done, clickables: state.done ? [] : [...(state.commands ?? manifest.actions ?? [])].map(tidy), ...rest };
}

/** Free text at random is made of the words of the page. */
function sayable(grammar: Grammar, page: string): Grammar {
  const words = [...new Set(page.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['a'])];
  return grammar.map((parts) => parts.map((part) => (part.kind === 'words' && !part.from ? { ...part, from: words } : part)));
}

/** The words of the world: from its file, or by playing training tasks at random. */
function corpusOf(
  manifest: WorldManifest,
  folder: string,
  environment: Environment<ExternalState>,
  begin: (starts: readonly Pick<Start, 'task' | 'seed'>[]) => ExternalTurn[],
  stepMany: (moves: readonly { readonly state: ExternalState; readonly action: string }[]) => ExternalTurn[],
): string[] {
  const texts: string[] = [...(manifest.actions ?? []), 'TASK:'];
  const tasks = environment.tasks('train');
  for (const task of tasks) texts.push(task.instruction);
  if (manifest.corpus !== undefined) return [...texts, readFileSync(fileInside(folder, manifest.corpus), 'utf8')];
  const hear = ({ observation, clickables }: ExternalTurn): void => void texts.push(observation, ...clickables);
  const width = environment.batching?.concurrent ?? LISTENED;
  const chosen = Array.from(
    { length: Math.min(LISTENED, tasks.length) },
    (_, index) => tasks[Math.floor((index * tasks.length) / Math.min(LISTENED, tasks.length))],
  );
  for (let from = 0; from < chosen.length; from += width) {
    const part = chosen.slice(from, from + width).filter((task) => task !== undefined);
    const randoms = part.map((_, index) => Random.from('corpus', manifest.name, from + index));
    let turns = begin(part.map((task, index) => ({ task, seed: from + index })));
    turns.forEach(hear);
    while (turns.some(({ done }) => !done)) {
      const playing = turns.flatMap((turn, index) => (turn.done ? [] : [{ turn, random: randoms[index] ?? Random.from('corpus') }]));
      randoms.splice(0, randoms.length, ...playing.map(({ random }) => random));
      turns = stepMany(
        playing.map(({ turn: { state }, random }) => ({
          state,
          action: randomSentence(sayable(environment.grammar(state), state.page), random.next),
        })),
      );
      turns.forEach(hear);
    }
  }
  return texts;
}
