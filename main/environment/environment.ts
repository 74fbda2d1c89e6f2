// The one interface of all worlds. A world is pure: `reset` and `step` take plain data and return plain data, so a
// state can be saved, restored and branched from at any step, and the same inputs always give the same outputs.
// Everything the rest of the lab knows about a world goes through here; a new world is a new folder plus one line
// in registry.ts.

import type { ZodObject } from 'zod';
import type { Split } from '../base/vocabulary.ts';
import type { WorldData } from './data.ts';
import type { FailureClass } from './failures.ts';
import type { DrawnPage, PageContext } from './page.ts';
import type { Trait } from './traits.ts';

/** Plain data: survives JSON and structured clone unchanged. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

export interface Task {
  /** Unique within its world and settings. */
  readonly id: string;
  readonly split: Split;
  /** What the user wants, in words: the heart of the prompt. */
  readonly instruction: string;
  readonly category: string;
  /** Kind of instruction (shop: plain, paraphrased, constrained). */
  readonly tier: string;
  /** What the task is after (a product id, an answer). No target occurs in two splits. */
  readonly target: string;
  /** First curriculum level (0 = easiest) that contains the task. */
  readonly level: number;
}

/** One piece of what may be said; an action is one alternative's parts in a row. */
export type GrammarPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  /** One to `max` words separated by single spaces. `from` is a hard limit; `useful` only hints which words are worth saying. */
  | { readonly kind: 'words'; readonly max: number; readonly from?: readonly string[]; readonly useful?: readonly string[] }
  /** One to `max` characters out of `from`. */
  | { readonly kind: 'characters'; readonly max: number; readonly from: string };

export type Grammar = readonly (readonly GrammarPart[])[];

/** A short form of a page for a small policy, where a world offers one: what is read instead of the observation, and what may be said
 * instead of an action. The world itself, what it records and what it pays stay as they are. */
export interface View {
  readonly text: string;
  /** From every sentence that may be said (a verb, or a verb and one thing) to the action that it stands for. */
  readonly sayings: ReadonlyMap<string, string>;
}

/** Facts for diagnosis, world-specific but flat, e.g. {kind: 'search', results: 7, helpful: true}. */
export type Facts = { readonly [name: string]: string | number | boolean | null };

/** What the agent gets to see and what happened; the answer of `reset` (reward 0) and of `step`. */
export interface Turn<State extends Plain = Plain> {
  readonly state: State;
  readonly observation: string;
  readonly reward: number;
  /** Which rule gave the reward, in words a user understands. */
  readonly reason: string;
  readonly done: boolean;
  /** False when the action was malformed or not possible here (the world did not change, the step still counts). */
  readonly valid: boolean;
  /** Only ever true on the last turn. */
  readonly success: boolean;
  /** The concrete things that can be clicked or bought now, for people and for the window. */
  readonly clickables: readonly string[];
  readonly facts: Facts;
}

/** What begins an episode. */
export interface Start {
  readonly task: Task;
  readonly seed: number;
  readonly level: number | undefined;
}

/** The words of a world, for the policies that read and write them. */
export interface Lexicon {
  /** Texts that together contain every word the world (or its view) can show or understand; a tokenizer is trained on them. Never test-only secrets. */
  corpus(): Iterable<string>;
  /** The corpus may lack words that the world shows: a tokenizer must be able to spell them. */
  readonly open?: boolean;
  /** How a policy reads numbers: as whole words (names, prices; the default) or digit by digit (arithmetic). */
  readonly digits?: 'whole' | 'single';
  /** Names of several words that stand for one thing (`running shoes`), in lower case; a policy may read each as one token. */
  readonly phrases?: readonly string[];
  /** Words that are mere names (product ids): a permutation of them changes nothing. */
  readonly interchangeable?: readonly string[];
  /** Groups of words that may trade places within their group, each with its synonyms: to the agent the world would read as well. */
  readonly concepts?: readonly (readonly (readonly string[])[])[];
  /** Prices of which an agent needs to know only how they compare with the task's; they may be permuted where the comparison is marked. */
  readonly prices?: readonly string[];
  /** Groups of prices and sections that may trade places in an episode of this task: what the task compares them with stays true. */
  comparable?(task: Task): readonly (readonly string[])[];
  /** Pages may be longer than a small policy's context, so a run looks before it begins; the text says what can be set instead. */
  readonly longPages?: string;
}

/** What explains results: why episodes fail, what successes share, what cannot be solved. */
export interface Diagnostics {
  /** Ways to fail that only this world has, in the order in which they are looked for; without it failures.ts has usual ones. */
  readonly failures?: readonly FailureClass[];
  /** What successes may have in common, for evaluation/conduct.ts. */
  readonly traits?: readonly Trait[];
  /** Whether any sequence of actions reaches the task's target; where it is missing, the facts of `reset` say so (`reachable: false`). */
  solvable?(task: Task, level?: number): boolean;
  /** Where settings limit what may be said: the share of the words of what the task wants that may be, 0 to 1. */
  coverage?(task: Task): number;
}

/** Only worlds for which many steps at once cost less than one after another (those in another process). */
export interface Batching<State extends Plain = Plain> {
  /** The same as `step` for each, in order. */
  stepMany(moves: readonly { readonly state: State; readonly action: string }[]): Turn<State>[];
  /** `reset` will soon be called for each of these. */
  prefetch(starts: readonly Start[]): void;
  /** The most episodes that are kept open at once; more than that still works, but costs replays. */
  readonly concurrent: number;
}

export interface Environment<State extends Plain = Plain> {
  readonly name: string;
  /** The settings with every default filled in; part of every cache key. */
  readonly settings: Plain;
  readonly maxSteps: number;
  /** Bounds of the reward of one step, and of a whole episode's return. */
  readonly rewardRange: readonly [number, number];
  readonly returnRange: readonly [number, number];
  readonly categories: readonly string[];
  readonly tiers: readonly string[];
  /** Number of curriculum levels; the last one is the whole world. */
  readonly levels: number;
  /** True where the same action in the same state can have different outcomes, decided by the seed of `reset`. */
  readonly chance?: boolean;
  /** Tasks of a split up to and including a level (default: all), in a fixed order. */
  tasks(split: Split, level?: number): readonly Task[];
  /** The task with this instruction, for people who type one; worlds with looser matching (WebShop ignores the price limit) say so. */
  findTask?(instruction: string): Task | undefined;
  /** `level` limits the world itself (e.g. the catalog) where the world supports it. */
  reset(task: Task, seed: number, level?: number): Turn<State>;
  step(state: State, action: string): Turn<State>;
  /** The same state with another chance ahead of it, for worlds with `chance`: continuations from it then differ in chance too. */
  reseed?(state: State, seed: number): State;
  /** What may be said now. `admits(grammar, action)` of grammar.ts is true exactly for the actions that `step` answers with
   * `valid: true`; both look at the action in its tidy form. A finished episode's grammar is empty. */
  grammar(state: State): Grammar;
  /** The best next action, where the world can know it. */
  oracle(state: State): string | undefined;
  readonly lexicon: Lexicon;
  readonly diagnostics?: Diagnostics;
  readonly batching?: Batching<State>;
  /** Only where the world's settings ask for it: the page in short, made from what a customer can see and remember, never from the answer. */
  view?(state: State): View;
  /** The page as it can be drawn; undefined for a text that is best shown as text. */
  draw?(observation: string, context: PageContext): DrawnPage | undefined;
}

/** An agent that needs no learning. Pure like the world: its randomness is the caller's. */
export interface Agent<State extends Plain = Plain> {
  readonly name: string;
  /** `random` is uniform in [0, 1). */
  act(environment: Environment<State>, turn: Turn<State>, random: () => number): string;
}

/** Demonstrated behaviour, for cloning a reference policy. One entry per turn. */
export interface Demonstration {
  readonly task: Task;
  readonly seed: number;
  readonly success: boolean;
  readonly turns: readonly ({ readonly observation: string } & Said)[];
}

/** What a demonstrator says in one turn. */
export interface Said {
  readonly thought: string;
  readonly action: string;
  /** A mistake made on purpose, where a demonstrator says so: a run may have it played and not imitated. */
  readonly mistake?: boolean;
}

/** A mistake that a world's demonstrator can make. */
export interface Mistake {
  /** Its probability where a run's config gives none. */
  readonly chance: number;
  readonly meaning: string;
  /** The name it had first, which recipes of references keep. */
  readonly firstName?: string;
  /** Recipes leave it out at its default chance: there were references before there was this mistake. */
  readonly added?: true;
}

/** Chances in [0, 1] of the mistakes that a world declares, by name. */
export type Imperfection = Readonly<Record<string, number>>;

/** What a world's folder exports and registry.ts lists: how to make the world, and who can act in it without learning. */
export interface World<State extends Plain = Plain> {
  readonly name: string;
  readonly title: string;
  /** One or two sentences for people who choose a world. */
  readonly summary: string;
  /** Id of the task that is played when none is asked for; without it the first test task. */
  readonly example?: string;
  /** Every field has a default and a description (meaning, range), so that forms and documentation are generated from it. */
  readonly settings: ZodObject;
  /** The mistakes that its demonstrator makes on purpose, by name. */
  readonly mistakes: Readonly<Record<string, Mistake>>;
  /** The failure classes of its environments, where they differ from the usual ones. */
  readonly failures?: readonly FailureClass[];
  /** Data that a user can bring. */
  readonly data?: WorldData;
  /** What a language model is asked to do in its first message, where the config has no text for it. */
  readonly instruction?: string;
  /** The preset whose reference plays where none is named. */
  readonly flagship?: string;
  /** False: nobody can demonstrate it, so a reference policy starts untrained. */
  readonly demonstrates?: boolean;
  /** Where a world that is not built in comes from. */
  readonly folder?: string;
  /** For a world with these settings: from a task to the cluster of tasks that it belongs to, because they are about the same thing and
   * so succeed and fail together. Statistics count clusters; without it each task is a cluster by itself. */
  clusters?(settings: unknown): (task: { readonly id: string; readonly tier: string }) => string;
  /** `settings` may be partial or foreign: it is parsed with the schema. `progress` (0 … 1) is called where making it takes long. */
  create(settings: unknown, progress?: (share: number, what: string) => void): Environment<State>;
  /** What a world in another process answers when it is asked about itself, and what of it does not fit its manifest. */
  describe?(): Promise<{ readonly metadata: Plain; readonly schema: Plain; readonly state: Plain; readonly problem: string | null }>;
  /** Acts on the words of the task without reading what comes back (shop: searches them all and buys the first result). */
  blind(environment: Environment<State>, turn: Turn<State>, random: () => number): string;
  /** A sensible hand-written rule that reads the observation, without knowing the answer. */
  heuristic(environment: Environment<State>, turn: Turn<State>, random: () => number): string;
  /** A competent, human-like demonstrator with the given rate of mistakes, and a short thought on what it looked at. */
  demonstrate(environment: Environment<State>, turn: Turn<State>, imperfection: Imperfection, random: () => number): Said;
}
