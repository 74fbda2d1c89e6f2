// The decoder's program reads what the sampling graph reads: the same logits, whatever the model looks like, and the same bits for a row in whatever company.

import { describe, expect, it } from 'vitest';
import { DecodingReader, decodes } from '../../main/policy/decoder/decoding-reader.ts';
import { openReader } from '../../main/policy/sampling/sampler.ts';
import { GraphReader } from '../../main/policy/sampling/reader.ts';
import type { Reader, ReadRow } from '../../main/policy/sampling/reader.ts';
import { spellingsOf } from '../../main/policy/text/spelling.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { Random } from '../../main/base/random.ts';
import { config, keptToTheEnd, weightsOf } from './babble.ts';

const keep = keptToTheEnd();

function rowOf(model: ModelConfig, seed: number, length: number): ReadRow {
  const random = Random.from('row', seed);
  return {
    tokens: Array.from({ length }, () => random.below(model.vocabulary)),
    flags: Array.from({ length }, () => random.below(2)),
    position: 0,
  };
}

/** Reads rows of these lengths, then twice one more token each; the logits of every row, call by call. */
async function logitsOf(reader: Reader, model: ModelConfig, seeds: readonly number[], lengths: readonly number[]): Promise<number[][]> {
  const rows = seeds.map((seed) => rowOf(model, seed, lengths[seed] ?? 1));
  const found = rows.map((): number[] => []);
  reader.begin();
  for (let more = 0; more < 3; more++) {
    for (const row of rows)
      if (more > 0)
        [row.tokens, row.flags] = [
          [...row.tokens, (more * 7) % model.vocabulary],
          [...row.flags, 1],
        ];
    // The decoder reads all at once, the graph a few at a time: its rows are equally long.
    while (rows.some(({ tokens, position }) => position < tokens.length))
      await reader.read(rows, (row, logits) => found[rows.indexOf(row)]?.push(...logits));
  }
  return found;
}

const none = { matchFlag: false, pointer: false, tokenShift: 0 };
const words = ['<a>', '<b>', 'apple', 'plum', 'pear', '12'];
const MODELS: [string, ModelConfig][] = [
  ['every aid', config],
  ['no aid and odd sizes', { ...config, aids: none, feedForward: 37, vocabulary: 61 }],
  ['the pointer alone, a wide head', { ...config, width: 64, heads: 1, aids: { ...none, pointer: true }, gate: 'silu' }],
  ['tokens before, relu', { ...config, aids: { ...none, tokenShift: 2 }, gate: 'relu', layers: 1 }],
  ['match flags, squared relu', { ...config, aids: { ...none, matchFlag: true }, gate: 'relu2', layers: 3 }],
  ['spelled words', { ...config, vocabulary: words.length, spellings: spellingsOf(words, 3) ?? [] }],
];

describe('the decoder', () => {
  it('looks at messages while it reads, so that a run can be paused and stopped', async () => {
    const reader = keep(new DecodingReader(config, weightsOf(config, 4), { capacity: 1, threads: 1 }));
    reader.begin();
    let arrived = false;
    setTimeout(() => (arrived = true));
    const row = rowOf(config, 1, 1);
    for (let call = 0; !arrived && call < 200_000; call++) {
      row.position = 0;
      await reader.read([row], () => {});
    }
    expect(arrived).toBe(true);
  });

  it.each(MODELS)('gives the logits of the sampling graph: %s', async (_, model) => {
    const weights = weightsOf(model, 4);
    expect(openReader(model, weights)).toBeInstanceOf(DecodingReader);
    const lengths = [5, 5, 5, 5, 5];
    const seeds = [0, 1, 2, 3, 4];
    const own = await logitsOf(keep(new DecodingReader(model, weights, { capacity: 5, threads: 1 })), model, seeds, lengths);
    const graph = await logitsOf(keep(new GraphReader(model, weights, { capacity: 5, threads: 1 })), model, seeds, lengths);
    for (const [i, logits] of own.entries()) {
      expect(logits.length).toBe(3 * model.vocabulary);
      for (const [k, logit] of logits.entries()) expect(Math.abs(logit - (graph[i]?.[k] ?? Number.NaN))).toBeLessThan(2e-5);
    }
  });

  it('gives a row the same bits alone, in company, in two threads and beside rows of other lengths', async () => {
    // Large enough for a second thread.
    const model = { ...config, width: 96, feedForward: 300, layers: 3, vocabulary: 300 };
    const weights = weightsOf(model, 9);
    const lengths = Array.from({ length: 40 }, (_, i) => 30 + (i % 5));
    const seeds = Array.from({ length: 40 }, (_, i) => i);
    const alone = keep(new DecodingReader(model, weights, { capacity: 1, threads: 1 }));
    const together = await logitsOf(keep(new DecodingReader(model, weights, { capacity: 40, threads: 2 })), model, seeds, lengths);
    const backwards = await logitsOf(
      keep(new DecodingReader(model, weights, { capacity: 64, threads: 3 })),
      model,
      seeds.toReversed(),
      lengths,
    );
    for (const seed of [0, 7, 19, 20, 21, 39]) {
      const [expected] = await logitsOf(alone, model, [seed], lengths);
      expect(expected?.length).toBe(3 * model.vocabulary);
      expect(together[seed]).toEqual(expected);
      expect(backwards[39 - seed]).toEqual(expected);
    }
  });

  it('keeps what was read when the cache grows, when rows move and after it gave its memory back', async () => {
    const weights = weightsOf(config, 2);
    const reader = keep(new DecodingReader(config, weights, { capacity: 3, threads: 1 }));
    const read = async (rows: readonly ReadRow[]): Promise<number[][]> => {
      const found: number[][] = [];
      await reader.read(rows, (_, logits) => found.push([...logits]));
      return found;
    };
    const whole = rowOf(config, 1, 90);
    reader.begin();
    await read([whole]); // 64 tokens of it
    const [expected] = await read([whole]);
    await reader.dispose();
    reader.begin();
    const parts = { ...rowOf(config, 1, 90), tokens: whole.tokens.slice(0, 20) };
    const other = rowOf(config, 2, 3);
    await read([other, parts]);
    reader.copy(1, 0);
    reader.copy(0, 2);
    parts.tokens = whole.tokens;
    const twin = { ...parts };
    const third = { ...parts };
    await read([parts, twin, third]);
    expect(await read([parts, twin, third])).toEqual([expected, expected, expected]);
  });

  it('shows damaged weights in the logits', async () => {
    const weights = weightsOf(config, 2);
    weights.decay.fill(Number.NaN);
    const reader = keep(new DecodingReader(config, weights, { capacity: 1, threads: 1 }));
    await reader.read([rowOf(config, 1, 6)], (_, logits) => expect(logits.every(Number.isNaN)).toBe(true));
  });

  it('leaves to sessions what it cannot do or what they do faster', () => {
    expect(decodes(config, 64)).toBe(true);
    expect(decodes({ ...config, architecture: 'lstm' }, 64)).toBe(false);
    expect(decodes({ ...config, heads: 6 }, 64)).toBe(false);
    expect(decodes({ ...config, width: 1024, heads: 16, feedForward: 4096 }, 64)).toBe(false);
    expect(decodes({ ...config, contextLength: 100_000 }, 512)).toBe(false);
  });
});
