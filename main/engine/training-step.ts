// One optimizer step, as ONNX sessions. The common case, one micro-batch, is a single session with forward, backward,
// clipping and AdamW. Several micro-batches add their gradients up first and a second session applies them; losses must
// then already be divided by counts of the whole update. On the CPU the state is overwritten in place (every parameter is
// read before the gradient norm is known, every write comes after it); on a device it stays there between steps.

import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import { gradients } from './gradients.ts';
import * as op from './operators.ts';
import { ADAMW, SCALARS, adamW, globalNorm, stepScalars } from './optimizer.ts';
import type { AdamWSettings, Vectors } from './optimizer.ts';
import { ParameterLayout, lookup } from './parameters.ts';
import type { Flat, Group, Parameters } from './parameters.ts';
import { Session, float, floats, scalarValue } from './session.ts';
import type { Feeds, SessionOptions, Value } from './session.ts';

/** What is minimised, and scalars to be reported beside it. */
export interface Objective {
  readonly loss: Tensor;
  readonly metrics?: Readonly<Record<string, Tensor>>;
}

export interface MicroBatch {
  /** Names the graph: micro-batches with the same key share one session. Shapes and loss must be the same. */
  readonly key: string;
  readonly build: (graph: Graph, parameters: Parameters) => Objective;
  readonly feeds: Feeds;
}

export interface StepReport {
  readonly loss: number;
  /** Before clipping. */
  readonly gradientNorm: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Everything that a step changes. The arrays are the live ones where the state is on the CPU. */
export interface TrainingState {
  readonly values: Flat;
  readonly first: Flat;
  readonly second: Flat;
  /** Optimizer steps done. */
  step: number;
}

/** Loss or gradient norm is NaN or infinite; the state was left as it was before the step. */
export class NotFiniteError extends Error {
  override name = 'NotFiniteError';
  readonly report: StepReport;

  constructor(report: StepReport, step: number) {
    const what = Number.isFinite(report.loss) ? `the gradient norm is ${report.gradientNorm}` : `the loss is ${report.loss}`;
    super(`Step ${step} was not taken: ${what}. The weights are those of before. A smaller learning rate or stronger clipping may help`);
    this.report = report;
  }
}

export interface TrainerOptions {
  readonly layout: ParameterLayout;
  readonly state: TrainingState;
  readonly optimizer?: AdamWSettings;
  readonly session?: SessionOptions;
  /** How many sessions are kept; the one unused for longest goes. */
  readonly sessions?: number;
}

type Slot = `${'values' | 'first' | 'second' | 'sum'}.${Group}`;

interface Program {
  readonly session: Session;
  readonly metrics: readonly string[];
}

export function freshState(layout: ParameterLayout, values: Flat): TrainingState {
  return { values, first: layout.zeros(), second: layout.zeros(), step: 0 };
}

export class Trainer {
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #options: SessionOptions;
  readonly #limit: number;
  readonly #onDevice: boolean;
  readonly #programs = new Map<string, Program>();
  /** The state as the sessions see it. */
  readonly #slots = new Map<Slot, Value>();

  constructor({ layout, state, optimizer = ADAMW, session = {}, sessions = 12 }: TrainerOptions) {
    this.#layout = layout;
    this.#state = state;
    this.#settings = optimizer;
    this.#options = session;
    this.#limit = sessions;
    this.#onDevice = session.stateOnDevice ?? session.target === 'gpu';
    for (const kind of ['values', 'first', 'second'] as const) this.#upload(kind, state[kind]);
  }

  get openSessions(): number {
    return this.#programs.size;
  }

  /** Takes one optimizer step on the sum of the micro-batches' losses. */
  async step(batches: readonly MicroBatch[], learningRate: number): Promise<StepReport> {
    const [only] = batches;
    if (!only) throw new RangeError('A step needs at least one micro-batch, found none');
    const scalars = stepScalars(this.#settings, learningRate, this.#state.step + 1);
    const feeds = Object.fromEntries(SCALARS.map((name) => [name, scalarValue(scalars[name])]));
    const report = batches.length === 1 ? await this.#fused(only, feeds) : await this.#accumulated(batches, feeds);
    if (!Number.isFinite(report.loss) || !Number.isFinite(report.gradientNorm)) throw new NotFiniteError(report, this.#state.step + 1);
    this.#state.step++;
    return report;
  }

  /** Loss, metrics and the gradient by every parameter, without a step. */
  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    const report = await this.#sum(batches);
    const sums = await this.#read('sum');
    const squares = this.#layout.groups.flatMap((group) => [...sums[group]]).reduce((sum, x) => sum + x * x, 0);
    return { report: { ...report, gradientNorm: Math.sqrt(squares) }, gradients: sums };
  }

  /** Brings the state to the CPU, e.g. for a checkpoint; the arrays of the state hold it afterwards. */
  async download(): Promise<TrainingState> {
    if (this.#onDevice) {
      for (const kind of ['values', 'first', 'second'] as const) {
        const current = await this.#read(kind);
        for (const group of this.#layout.groups) this.#state[kind][group].set(current[group]);
      }
    }
    return this.#state;
  }

  async dispose(): Promise<void> {
    // Values first: a device buffer that outlives the sessions' allocator takes the process down.
    for (const value of this.#slots.values()) value.dispose();
    this.#slots.clear();
    for (const { session } of this.#programs.values()) await session.dispose();
    this.#programs.clear();
  }

  async #fused(batch: MicroBatch, feeds: Feeds): Promise<StepReport> {
    const { session, metrics } = await this.#program(`step ${batch.key}`, () => stepGraph(batch, this.#layout, this.#settings));
    return readReport(await this.#run(session, ['values', 'first', 'second'], { ...batch.feeds, ...feeds }), metrics);
  }

  async #accumulated(batches: readonly MicroBatch[], feeds: Feeds): Promise<StepReport> {
    const report = await this.#sum(batches);
    const { session } = await this.#program('apply', () => applyGraph(this.#layout, this.#settings));
    const healthy = scalarValue(report.loss);
    const applied = readReport(
      await this.#run(session, ['values', 'first', 'second'], { ...feeds, ...this.#inputs(['sum']), loss: healthy }),
      [],
    );
    return { ...report, gradientNorm: applied.gradientNorm };
  }

  /** Adds the gradients of all micro-batches up in `sum`; losses and metrics add up as well. */
  async #sum(batches: readonly MicroBatch[]): Promise<StepReport> {
    this.#upload('sum', this.#layout.zeros());
    let loss = 0;
    const totals: Record<string, number> = {};
    for (const batch of batches) {
      const { session, metrics } = await this.#program(`gradient ${batch.key}`, () => gradientGraph(batch, this.#layout));
      const report = readReport(await this.#run(session, ['sum'], { ...batch.feeds, ...this.#inputs(['values']) }), metrics);
      loss += report.loss;
      for (const [name, value] of Object.entries(report.metrics)) totals[name] = (totals[name] ?? 0) + value;
    }
    return { loss, gradientNorm: 0, metrics: totals };
  }

  /** Runs a session that replaces the named parts of the state; returns its report. */
  async #run(session: Session, changed: readonly ('values' | 'first' | 'second' | 'sum')[], feeds: Feeds): Promise<Float32Array> {
    const slots = this.#inputs(changed);
    const fetches = Object.fromEntries(Object.entries(slots).map(([slot, value]) => [`next.${slot}`, this.#onDevice ? null : value]));
    const results = await session.run({ ...feeds, ...slots }, { ...fetches, report: null });
    if (this.#onDevice) {
      for (const kind of changed)
        for (const group of this.#layout.groups) this.#replace(`${kind}.${group}`, results[`next.${kind}.${group}`]);
    }
    const { report } = results;
    if (!report) throw new Error('The step gave no report');
    return floats(report);
  }

  #inputs(kinds: readonly ('values' | 'first' | 'second' | 'sum')[]): Record<string, Value> {
    const inputs: Record<string, Value> = {};
    for (const kind of kinds) {
      for (const group of this.#layout.groups) {
        const value = this.#slots.get(`${kind}.${group}`);
        if (!value) throw new Error('The trainer was disposed and cannot step');
        inputs[`${kind}.${group}`] = value;
      }
    }
    return inputs;
  }

  #upload(kind: 'values' | 'first' | 'second' | 'sum', flat: Flat): void {
    for (const group of this.#layout.groups) this.#replace(`${kind}.${group}`, float(flat[group], [flat[group].length]));
  }

  #replace(slot: Slot, value: Value | undefined): void {
    if (!value) throw new Error(`The step gave no next ${slot}`);
    const old = this.#slots.get(slot);
    if (old && old.location !== 'cpu') old.dispose();
    this.#slots.set(slot, value);
  }

  /** A copy on the CPU. A device buffer must not be read directly (that aborts the process), but through a session. */
  async #read(kind: 'values' | 'first' | 'second' | 'sum'): Promise<Flat> {
    const current = this.#inputs([kind]);
    const flat = this.#layout.zeros();
    const program = this.#onDevice ? await this.#program(`read ${kind}`, () => readGraph(this.#layout, kind)) : undefined;
    const results = program ? await program.session.run(current) : current;
    for (const group of this.#layout.groups) {
      const result = results[program ? `read.${group}` : `${kind}.${group}`];
      if (result) flat[group].set(floats(result));
    }
    return flat;
  }

  async #program(key: string, build: () => { graph: Graph; metrics: readonly string[] }): Promise<Program> {
    const known = this.#programs.get(key);
    if (known) {
      this.#programs.delete(key);
      this.#programs.set(key, known);
      return known;
    }
    const [oldest] = this.#programs;
    if (oldest && this.#programs.size >= this.#limit) {
      this.#programs.delete(oldest[0]);
      await oldest[1].session.dispose();
    }
    const { graph, metrics } = build();
    const keepOnDevice = this.#onDevice ? [...graph.outputs.keys()].filter((name) => name.startsWith('next.')) : [];
    const program = { session: await Session.create(graph, { ...this.#options, keepOnDevice }), metrics };
    this.#programs.set(key, program);
    return program;
  }
}

/** Forward, backward, clipping and AdamW in one graph. */
export function stepGraph(
  batch: Pick<MicroBatch, 'key' | 'build'>,
  layout: ParameterLayout,
  settings: AdamWSettings,
): { graph: Graph; metrics: readonly string[] } {
  const graph = new Graph(`step ${batch.key}`);
  const { values, objective, packed } = differentiated(graph, batch, layout);
  const norm = graph.scope('norm', () => globalNorm(packed));
  const state = { values, first: layout.inputs(graph, 'first'), second: layout.inputs(graph, 'second') };
  const next = adamW(graph, state, packed, norm, op.both(op.isFinite(objective.loss), op.isFinite(norm)), settings);
  outputs(graph, 'values', next.values);
  outputs(graph, 'first', next.first);
  outputs(graph, 'second', next.second);
  return { graph, metrics: report(graph, objective, norm) };
}

/** Forward and backward; the gradients are added to `sum`. */
function gradientGraph(batch: MicroBatch, layout: ParameterLayout): { graph: Graph; metrics: readonly string[] } {
  const graph = new Graph(`gradient ${batch.key}`);
  const { objective, packed } = differentiated(graph, batch, layout);
  const sums = layout.inputs(graph, 'sum');
  outputs(graph, 'sum', new Map([...packed].map(([group, gradient]) => [group, op.add(lookupGroup(sums, group), gradient)])));
  return { graph, metrics: report(graph, objective, graph.scalar(0)) };
}

function applyGraph(layout: ParameterLayout, settings: AdamWSettings): { graph: Graph; metrics: readonly string[] } {
  const graph = new Graph('apply');
  const state = { values: layout.inputs(graph, 'values'), first: layout.inputs(graph, 'first'), second: layout.inputs(graph, 'second') };
  const sums = layout.inputs(graph, 'sum');
  const loss = graph.input('loss', 'float32', []);
  const norm = globalNorm(sums);
  const next = adamW(graph, state, sums, norm, op.both(op.isFinite(loss), op.isFinite(norm)), settings);
  outputs(graph, 'values', next.values);
  outputs(graph, 'first', next.first);
  outputs(graph, 'second', next.second);
  return { graph, metrics: report(graph, { loss }, norm) };
}

function readGraph(layout: ParameterLayout, kind: string): { graph: Graph; metrics: readonly string[] } {
  const graph = new Graph(`read ${kind}`);
  for (const [group, vector] of layout.inputs(graph, kind)) graph.output(`read.${group}`, vector);
  return { graph, metrics: [] };
}

function differentiated(
  graph: Graph,
  batch: Pick<MicroBatch, 'build'>,
  layout: ParameterLayout,
): { values: Vectors; objective: Objective; packed: Vectors } {
  const values = layout.inputs(graph, 'values');
  const parameters = layout.unpack(values);
  const objective = batch.build(graph, (name) => lookup(parameters, name));
  const found = gradients(objective.loss, [...parameters.values()]);
  const byName = new Map([...parameters.keys()].flatMap((name, i) => (found[i] ? [[name, found[i]] as const] : [])));
  return { values, objective, packed: graph.scope('pack', () => layout.pack(byName)) };
}

/** All numbers of a step in one vector: loss, norm, metrics. */
function report(graph: Graph, { loss, metrics = {} }: Objective, norm: Tensor): readonly string[] {
  const parts = [loss, norm, ...Object.values(metrics)].map((scalar) => op.reshape(scalar, [1]));
  graph.output(
    'report',
    graph.scope('report', () => op.concat(parts, 0)),
  );
  return Object.keys(metrics);
}

function readReport(numbers: Float32Array, metrics: readonly string[]): StepReport {
  const [loss = Number.NaN, gradientNorm = Number.NaN, ...rest] = numbers;
  return { loss, gradientNorm, metrics: Object.fromEntries(metrics.map((name, i) => [name, rest[i] ?? Number.NaN])) };
}

function outputs(graph: Graph, kind: string, vectors: Vectors): void {
  for (const [group, vector] of vectors) graph.output(`next.${kind}.${group}`, vector);
}

function lookupGroup(vectors: Vectors, group: Group): Tensor {
  const vector = vectors.get(group);
  if (!vector) throw new Error(`There is no vector "${group}"`);
  return vector;
}
