// Training with the state in plain memory: the session computes loss and gradients, AdamW runs here. Measured inside Electron, the
// runtime copies every result into fresh memory at about 1 ms per megabyte; handing back gradients alone instead of weights and
// two moments saves two thirds of that, and one loop over all parameters beats a dozen operators that each go through memory.

import { adamWInPlace } from './optimizer.ts';
import type { AdamWSettings } from './optimizer.ts';
import type { Flat, ParameterLayout } from './parameters.ts';
import type { ProgramCache } from './program-cache.ts';
import { float, floats, release } from './session.ts';
import type { Value } from './session.ts';
import { gradientGraph } from './training-graphs.ts';
import { readReport } from './training-report.ts';
import type { MicroBatch, Poll, StateKeeper, StepReport, TrainingState } from './training-report.ts';

export class HostState implements StateKeeper {
  readonly #layout: ParameterLayout;
  readonly #state: TrainingState;
  readonly #settings: AdamWSettings;
  readonly #programs: ProgramCache;
  readonly #weights: Readonly<Record<string, Value>>;

  constructor(layout: ParameterLayout, state: TrainingState, settings: AdamWSettings, programs: ProgramCache) {
    this.#layout = layout;
    this.#state = state;
    this.#settings = settings;
    this.#programs = programs;
    this.#weights = Object.fromEntries(
      layout.groups.map((group) => [`values.${group}`, float(state.values[group], [layout.lengths[group]])]),
    );
  }

  async step(batches: readonly MicroBatch[], learningRate: number, poll?: Poll): Promise<StepReport> {
    const { report, sums } = await this.#gradients(batches, poll);
    if (Number.isFinite(report.loss) && Number.isFinite(report.gradientNorm)) {
      for (const group of this.#layout.groups) {
        const { values, first, second, step } = this.#state;
        const part = { values: values[group], first: first[group], second: second[group], gradient: floats(lookupValue(sums, group)) };
        adamWInPlace(part, this.#settings, { learningRate, step: step + 1, norm: report.gradientNorm, decay: group === 'decay' });
      }
    }
    for (const sum of Object.values(sums)) release(sum);
    return report;
  }

  async gradients(batches: readonly MicroBatch[]): Promise<{ report: StepReport; gradients: Flat }> {
    const { report, sums } = await this.#gradients(batches);
    const gradients = this.#layout.zeros();
    for (const group of this.#layout.groups) gradients[group].set(floats(lookupValue(sums, group)));
    for (const sum of Object.values(sums)) release(sum);
    return { report, gradients };
  }

  /** The state is always here. */
  async download(): Promise<void> {}

  async dispose(): Promise<void> {}

  /** The gradients of all micro-batches, added up; losses and metrics add up as well. */
  async #gradients(batches: readonly MicroBatch[], poll?: Poll): Promise<{ report: StepReport; sums: Record<string, Value> }> {
    const sums: Record<string, Value> = {};
    const metrics: Record<string, number> = {};
    let loss = 0;
    for (const batch of batches) {
      await poll?.();
      const program = await this.#programs.get(`gradient ${batch.key}`, () => gradientGraph(batch, this.#layout));
      const results = await program.session.run({ ...batch.feeds, ...this.#weights });
      const part = readReport(floats(lookupValue(results, 'report')), program.metrics);
      loss += part.loss;
      for (const [name, number] of Object.entries(part.metrics)) metrics[name] = (metrics[name] ?? 0) + number;
      for (const group of this.#layout.groups) {
        const gradient = lookupValue(results, `gradient.${group}`);
        const sum = sums[group];
        if (sum) {
          addTo(floats(sum), floats(gradient));
          release(gradient);
        } else sums[group] = gradient;
      }
    }
    const gradientNorm = Math.sqrt(Object.values(sums).reduce((total, sum) => total + squares(floats(sum)), 0));
    return { report: { loss, gradientNorm, metrics }, sums };
  }
}

function addTo(sum: Float32Array, more: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += more[i]!;
}

/** Σ x², in four sums at once so that the processor need not wait for each addition. */
function squares(x: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const whole = x.length - (x.length % 4);
  for (let i = 0; i < whole; i += 4) {
    const [p, q, r, s] = [x[i]!, x[i + 1]!, x[i + 2]!, x[i + 3]!];
    a += p * p;
    b += q * q;
    c += r * r;
    d += s * s;
  }
  for (let i = whole; i < x.length; i++) a += x[i]! ** 2;
  return a + b + c + d;
}

function lookupValue(values: Readonly<Record<string, Value>>, name: string): Value {
  const value = values[name];
  if (!value) throw new Error(`The training step gave no "${name}"`);
  return value;
}
