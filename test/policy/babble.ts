// A world without meaning for the tests of samplers: a small model with every aid, and episodes that read and write under masks.

import { afterAll } from 'vitest';
import type { Drawn } from '../../main/policy/sampling/draw.ts';
import type { TokenMask } from '../../main/policy/text/grammar-mask.ts';
import { tokenMask } from '../../main/policy/text/grammar-mask.ts';
import type { AgentToken, EncodedRow } from '../../main/policy/text/prompt.ts';
import type { Feed, SampledEpisode } from '../../main/policy/sampling/sampler.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';

/** Gives back what it is handed, and disposes of all of it when the file's tests are over. */
export function keptToTheEnd(): <T extends { dispose(): Promise<void> }>(it: T) => T {
  const opened: { dispose(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const it of opened) await it.dispose();
  });
  return (it) => {
    opened.push(it);
    return it;
  };
}

export const config: ModelConfig = {
  vocabulary: 40,
  width: 24,
  layers: 2,
  heads: 3,
  feedForward: 40,
  gate: 'swiglu',
  contextLength: 96,
  valueHead: true,
  aids: { matchFlag: true, pointer: true, tokenShift: 3 },
};

export function weightsOf(model: ModelConfig, seed: number) {
  const random = Random.from('weights', seed);
  const layout = modelLayout(model);
  const flat = layout.initialise(() => random.normal());
  // Every aid must matter, or a mistake in it would not show.
  for (const name of ['match', 'pointer.gate', 'value.weight']) {
    if (layout.specs.some((spec) => spec.name === name)) layout.view(flat, name).forEach((_, i, view) => (view[i] = 0.3 * random.normal()));
  }
  return flat;
}

export const MASKS: readonly TokenMask[] = [
  tokenMask([3, 7, 8, 21]),
  tokenMask([2, 5]),
  tokenMask(Array.from({ length: 39 }, (_, i) => i + 1)),
  tokenMask([9]),
];

/** A world without meaning: reads a few tokens, writes a few under masks, several times; now and then its context begins anew. */
export class Babble implements SampledEpisode {
  readonly random: Random;
  readonly drawn: Drawn[] = [];
  readonly rows: EncodedRow[] = [];
  readonly #world: Random;
  #turns: number;
  #left = 0;
  #read = { row: -1, count: 0 };
  #mask: TokenMask = tokenMask([1]);

  /** Episodes of one world differ in what they draw only. */
  constructor(seed: number, world = seed) {
    this.random = Random.from('sample', seed);
    this.#world = Random.from('world', world);
    this.#turns = 1 + this.#world.below(4);
    this.#observe(true);
  }

  get done(): boolean {
    return this.#turns === 0;
  }

  get mask(): TokenMask {
    return this.#mask;
  }

  take(): Feed {
    const row = this.rows.length - 1;
    const newRow = row !== this.#read.row;
    const from = newRow ? 0 : this.#read.count;
    const { tokens, flags } = this.rows[row] ?? { tokens: [], flags: [] };
    this.#read = { row, count: tokens.length };
    return { tokens: tokens.slice(from), flags: flags.slice(from), newRow };
  }

  accept(drawn: Drawn): void {
    this.drawn.push(drawn);
    const row = this.rows.at(-1);
    row?.agent.push({ position: row.tokens.length - 1, target: drawn.token, mask: this.#mask } satisfies AgentToken);
    row?.tokens.push(drawn.token);
    row?.flags.push(drawn.token % 2);
    this.#mask = this.#world.pick(MASKS);
    if (--this.#left > 0) return;
    if (--this.#turns > 0) this.#observe(this.#world.below(5) === 0);
  }

  #observe(fresh: boolean): void {
    if (fresh || (this.rows.at(-1)?.tokens.length ?? 0) > 60) this.rows.push({ tokens: [], flags: [], agent: [] });
    const row = this.rows.at(-1);
    for (let i = 1 + this.#world.below(22); i > 0; i--) {
      row?.tokens.push(1 + this.#world.below(39));
      row?.flags.push(this.#world.below(2));
    }
    this.#left = 1 + this.#world.below(6);
    this.#mask = this.#world.pick(MASKS);
  }
}
