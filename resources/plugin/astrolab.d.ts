// The documented interface of plug-ins in TypeScript, version 1. Only types: a plug-in gets everything it works with as one object (`lab`), so it
// imports nothing at run time. TypeScript is run by stripping the types: no enums, no namespaces, no parameter properties.

/** A schema of zod 4, with the methods that settings need; there are more (zod.dev). */
export interface Schema {
  min(value: number): Schema;
  max(value: number): Schema;
  default(value: unknown): Schema;
  describe(text: string): Schema;
  optional(): Schema;
  nullable(): Schema;
  parse(value: unknown): unknown;
}

/** The part of zod 4 that settings are made of (`lab.z`); the object itself is the complete library. */
export interface Zod {
  strictObject(shape: Readonly<Record<string, Schema>>): Schema;
  object(shape: Readonly<Record<string, Schema>>): Schema;
  string(): Schema;
  number(): Schema;
  int(): Schema;
  boolean(): Schema;
  literal(value: string | number | boolean): Schema;
  enum(values: readonly string[]): Schema;
  array(item: Schema): Schema;
  record(key: Schema, value: Schema): Schema;
}

/** A node of the engine's graph. */
export interface Tensor {
  readonly shape: readonly (number | string)[];
}

/** One token array for each step: thought, action and their closing marks. */
export interface StepTokens {
  readonly ids: Int32Array;
  /** log π of each token at temperature 1, under the grammar's mask. */
  readonly logProbs: Float32Array;
  /** log π_ref of the same tokens; filled in when needs().reference is not 'none'. */
  readonly referenceLogProbs: Float32Array;
  readonly entropies: Float32Array;
  /** The critic's values; filled in when needs().critic. */
  readonly values: Float32Array;
}

/** One turn of an episode. */
export interface Step {
  /** What the agent saw before it acted: the state key of an anchor, where the page says where one is. */
  readonly observation: string;
  /** Empty where the agent does not think. */
  readonly thought: string;
  readonly action: string;
  readonly valid: boolean;
  readonly reward: number;
  readonly facts: { readonly [name: string]: string | number | boolean | null };
  readonly tokens: StepTokens;
}

export interface Trajectory {
  readonly task: string;
  readonly steps: readonly Step[];
  readonly return: number;
  readonly success: boolean;
  /** V* of the task; filled in when needs().vstar. */
  readonly vstar: number | null;
}

/** What the training loop brings. */
export interface Needs {
  readonly vstar: boolean;
  readonly reference: 'none' | 'tokens' | 'full';
  /** Updates after which the reference becomes the policy as it is then; without it the reference stays frozen. */
  readonly referenceLag?: number | undefined;
  readonly critic: boolean;
  /** Rollouts per task in one update. */
  readonly group: number;
  readonly epochs: number;
  readonly minibatches: number;
  /** Continuations to play from the state before every turn, and by whom: `progress.branches`. */
  readonly branches?: { readonly count: number; readonly by: 'policy' | 'reference' } | undefined;
}

export interface Progress {
  readonly update: number;
  readonly updates: number;
  readonly reward: 'binary' | 'shaped';
  /** The rewards of the continuations: [trajectory][turn][continuation] → rewards of its turns. */
  readonly branches?: readonly (readonly (readonly (readonly number[])[])[])[] | undefined;
  /** The value of a state from sampled returns, by the run's estimator of V*. */
  readonly value?: (returns: readonly number[]) => number;
}

/** Plain numbers, parallel to the trajectories. */
export interface Prepared {
  readonly episode: Readonly<Record<string, Float32Array>>;
  readonly token: Readonly<Record<string, readonly Float32Array[]>>;
  readonly keep: readonly boolean[];
  readonly metrics: Readonly<Record<string, number>>;
  readonly distributions: Readonly<Record<string, Float32Array>>;
}

/** The policy's tensors of a micro-batch: [episodes, tokens]. */
export interface PolicyTensors {
  readonly logProbs: Tensor;
  readonly entropies: Tensor;
  /** The critic's value before each token, when needs().critic. */
  readonly values?: Tensor | undefined;
  /** KL(π‖π_ref) at each token, when needs().reference is 'full'. */
  readonly kl?: Tensor | undefined;
  /** 1 for a token, 0 for padding. */
  readonly weights: Tensor;
  /** Sum over an episode's tokens. */
  perEpisode(x: Tensor): Tensor;
  /** Sum over all tokens ÷ the tokens of the whole update: micro-batches add up. */
  tokenMean(x: Tensor): Tensor;
  /** Sum over the episodes ÷ the episodes of the whole update. */
  episodeMean(x: Tensor): Tensor;
}

export interface Algorithm {
  readonly id: string;
  readonly title: string;
  /** Where it is from. */
  readonly source: string;
  /** lab.z.strictObject({...}) of lab.knob(...)s: forms, --set and validation come from it. */
  readonly settings: Schema;
  /** `settings` are what the schema above says: write the type of those that you use, `needs({ group }: { group: number })`. */
  needs(settings: never): Needs;
  prepare(trajectories: readonly Trajectory[], settings: never, progress: Progress): Prepared;
  /** `input(name, 'episode')` and `input(name, 'token')` are the numbers of `prepare` as tensors. */
  loss(
    graph: unknown,
    policy: PolicyTensors,
    input: Input,
    settings: never,
  ): { readonly loss: Tensor; readonly metrics: Readonly<Record<string, Tensor>> };
}

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

export interface Task {
  readonly id: string;
  readonly split: 'train' | 'validation' | 'test';
  readonly instruction: string;
  readonly category: string;
  readonly tier: string;
  /** No target may be in two splits. */
  readonly target: string;
  readonly level: number;
}

export type GrammarPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'words'; readonly max: number; readonly from?: readonly string[]; readonly useful?: readonly string[] }
  | { readonly kind: 'characters'; readonly max: number; readonly from: string };
export type Grammar = readonly (readonly GrammarPart[])[];

export interface Turn<State extends Plain = Plain> {
  readonly state: State;
  readonly observation: string;
  readonly reward: number;
  readonly reason: string;
  readonly done: boolean;
  readonly valid: boolean;
  readonly success: boolean;
  readonly clickables: readonly string[];
  readonly facts: { readonly [name: string]: string | number | boolean | null };
}

/** The words of a world, for the policies that read and write them. */
export interface Lexicon {
  /** Texts that together contain every word the world can show or understand: a tokenizer is trained on them. */
  corpus(): Iterable<string>;
  /** The corpus may lack words that the world shows. */
  readonly open?: boolean;
  readonly digits?: 'whole' | 'single';
  /** Words that are mere names: a permutation of them changes nothing. */
  readonly interchangeable?: readonly string[];
}

/** A world with its settings. `reset` and `step` are pure: plain data in, plain data out. */
export interface Environment<State extends Plain = Plain> {
  readonly name: string;
  readonly settings: Plain;
  readonly maxSteps: number;
  readonly rewardRange: readonly [number, number];
  readonly returnRange: readonly [number, number];
  readonly categories: readonly string[];
  readonly tiers: readonly string[];
  readonly levels: number;
  tasks(split: Task['split'], level?: number): readonly Task[];
  reset(task: Task, seed: number, level?: number): Turn<State>;
  step(state: State, action: string): Turn<State>;
  grammar(state: State): Grammar;
  oracle(state: State): string | undefined;
  readonly lexicon: Lexicon;
}

export interface World {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly settings: Schema;
  /** False: no demonstrations; the reference policy starts untrained. */
  readonly demonstrates?: boolean;
  create(settings: unknown): Environment;
  blind(environment: Environment, turn: Turn, random: () => number): string;
  heuristic(environment: Environment, turn: Turn, random: () => number): string;
  /** The mistakes that its demonstrator makes on purpose, with the probability and meaning of each; without it none. */
  readonly mistakes?: Readonly<Record<string, { readonly chance: number; readonly meaning: string }>>;
  /** `imperfection` has the chance of each of its mistakes; `mistake` says that one was made, so that a run may leave it out (reference.skipMistakes). */
  demonstrate(environment: Environment, turn: Turn, imperfection: Readonly<Record<string, number>>, random: () => number): { thought: string; action: string; mistake?: boolean };
}

type Operand = Tensor | number;
/** Gives the loss numbers of `prepare` as tensors, by the names it may ask for. */
export interface Input<PerEpisode extends string = string, PerToken extends string = string> {
  (name: PerEpisode, per: 'episode'): Tensor;
  (name: PerToken, per: 'token'): Tensor;
}

/** Operators of the graph; shapes are broadcast, gradients are automatic. */
export interface Operators {
  add(a: Operand, b: Operand): Tensor;
  sub(a: Operand, b: Operand): Tensor;
  mul(a: Operand, b: Operand): Tensor;
  div(a: Operand, b: Operand): Tensor;
  minimum(a: Operand, b: Operand): Tensor;
  maximum(a: Operand, b: Operand): Tensor;
  clip(x: Tensor, low: Operand, high: Operand): Tensor;
  less(a: Operand, b: Operand): Tensor;
  greater(a: Operand, b: Operand): Tensor;
  where(condition: Tensor, yes: Operand, no: Operand): Tensor;
  neg(x: Tensor): Tensor;
  exp(x: Tensor): Tensor;
  log(x: Tensor): Tensor;
  sqrt(x: Tensor): Tensor;
  abs(x: Tensor): Tensor;
  sigmoid(x: Tensor): Tensor;
  tanh(x: Tensor): Tensor;
  square(x: Tensor): Tensor;
  reduceSum(x: Tensor, axes?: readonly number[], keep?: boolean): Tensor;
  reduceMean(x: Tensor, axes?: readonly number[], keep?: boolean): Tensor;
  stopGradient(x: Tensor): Tensor;
}

/** Plain-number mathematics of advantages. */
export interface Advantage {
  clamp(value: number, low: number, high: number): number;
  /** (x − mean) ÷ (std + 1e-8). */
  normalise(values: ArrayLike<number>): Float32Array;
  /** Indices of equal keys. */
  groupBy(keys: readonly string[]): number[][];
  /** Generalised advantage estimation over one episode. */
  gae(
    rewards: ArrayLike<number>,
    values: ArrayLike<number>,
    gamma: number,
    lambda: number,
  ): { readonly advantages: Float32Array; readonly returns: Float32Array };
}

/** Parts of losses. */
export interface Terms {
  /** loss + coefficient · term; without a term the loss itself. */
  withTerm(loss: Tensor, coefficient: number, term: Tensor | undefined): Tensor;
  /** Mean over the episodes of input(name, 'episode') · −log π; `normalise` divides by the length (input `inverseLength`). */
  weightedCrossEntropy<Name extends 'advantage' | 'weight'>(
    policy: PolicyTensors,
    input: Input<Name | 'inverseLength', never>,
    name: Name,
    normalise: boolean,
  ): Tensor;
  /** The critic's squared error against the token input `returns`, clipped to ± range around `oldValues`; range 0: not clipped. */
  valueLoss(policy: PolicyTensors, input: Input<never, 'returns' | 'oldValues'>, range: number): Tensor;
  /** PPO's −min(ρ·A, clip(ρ, 1 − low, 1 + high)·A), ρ = π/π_old, from the token inputs `advantage` and `old`; with the metrics ratio.mean, ratio.clipped and kl.old. */
  clippedSurrogate(
    policy: PolicyTensors,
    input: Input<never, 'advantage' | 'old'>,
    low: number,
    high: number,
  ): { readonly loss: Tensor; readonly metrics: Readonly<Record<string, Tensor>> };
}

export interface Lab {
  readonly version: 1;
  readonly z: Zod;
  /** A setting: schema, default, meaning, unit. */
  knob(schema: Schema, preset: unknown, description: string, unit?: string): Schema;
  between(low: number, high: number): Schema;
  whole(low: number, high: number): Schema;
  random(...names: readonly (string | number)[]): { next(): number; below(n: number): number; shuffle<T>(list: readonly T[]): T[]; pick<T>(list: readonly T[]): T };
  tidy(action: string): string;
  admits(grammar: Grammar, action: string): boolean;
  mean(values: ArrayLike<number>): number;
  deviation(values: ArrayLike<number>): number;
  readonly operators: Operators;
  readonly advantage: Advantage;
  readonly trajectories: {
    rewardOf(trajectory: Trajectory, kind: Progress['reward']): number;
    rewardsOf(trajectories: readonly Trajectory[], kind: Progress['reward']): Float32Array;
    optimalAdvantages(trajectories: readonly Trajectory[], reward: (trajectory: Trajectory) => number): Float32Array;
    referenceSums(trajectories: readonly Trajectory[]): Float32Array;
    tokenNumbers(trajectories: readonly Trajectory[], which: 'logProbs' | 'referenceLogProbs' | 'values'): Float32Array[];
    inverseLengths(trajectories: readonly Trajectory[]): Float32Array;
    advantageMetrics(advantages: Float32Array): Record<string, number>;
  };
  readonly terms: Terms;
}

/** What the default export of plugin.ts answers. */
export interface Plugin {
  readonly worlds?: readonly World[];
  readonly algorithms?: readonly Algorithm[];
  readonly metrics?: readonly { id: string; name: string; formula: string; unit?: string; direction?: 'up' | 'down' | 'neither' }[];
  /** By algorithm id: at most three settings that `lab tune` may change. */
  readonly searchSpaces?: Readonly<Record<string, readonly { key: string; low: number; high: number; scale?: 'log' | 'linear' }[]>>;
  /** Tests that `lab plugin check` runs; each throws when something is wrong. */
  readonly checks?: Readonly<Record<string, () => void | Promise<void>>>;
}
