// Sessions read rows that have a page before rows that write, apart from them: that must not change what anyone reads.

import { expect, it } from 'vitest';
import { GraphReader, readFirst } from '../../main/policy/sampling/reader.ts';
import type { ReadRow } from '../../main/policy/sampling/reader.ts';
import { Random } from '../../main/base/random.ts';
import { config, keptToTheEnd, weightsOf } from './babble.ts';

const keep = keptToTheEnd();
const weights = weightsOf(config, 4);

/** What each row is given to read, one portion after the other: the next when the one before has been read. */
const PORTIONS = [[20, 1, 1, 30, 1], [3, 1, 1, 1, 1, 1], [45, 1, 12, 1], [1, 1, 1, 40, 1, 1], [9]] as const;

interface Reading extends ReadRow {
  readonly number: number;
  readonly random: Random;
  portion: number;
}

function feed(row: Reading): boolean {
  const length = PORTIONS[row.number]?.[row.portion++];
  for (let i = 0; i < (length ?? 0); i++) {
    row.tokens.push(row.random.below(config.vocabulary));
    row.flags.push(row.random.below(2));
  }
  return length !== undefined;
}

/** The logits after every portion, row by row; rows that have read everything leave, as they do in a game. */
async function play(reader: GraphReader, numbers: readonly number[]): Promise<Map<number, number[][]>> {
  const found = new Map(numbers.map((number): [number, number[][]] => [number, []]));
  const rows = numbers.map((number): Reading => ({
    number,
    random: Random.from('page', number),
    portion: 0,
    tokens: [],
    flags: [],
    position: 0,
  }));
  rows.forEach(feed);
  reader.begin();
  while (rows.length > 0) {
    const over: Reading[] = [];
    await reader.read(rows, (row, logits) => {
      found.get(row.number)?.push([...logits]);
      if (!feed(row)) over.push(row);
    });
    for (const row of over) {
      const [place, last] = [rows.indexOf(row), rows.pop()];
      if (!last || last === row) continue;
      rows[place] = last;
      reader.copy(rows.length, place);
    }
  }
  return found;
}

it.each([1, 2])('a row reads the same alone and among rows that read and write, with %i threads', async (threads) => {
  const alone = keep(new GraphReader(config, weights, { capacity: 1, threads: 1 }));
  const together = await play(keep(new GraphReader(config, weights, { capacity: 5, threads })), [0, 1, 2, 3, 4]);
  for (const [number, logits] of together) {
    const own = (await play(alone, [number])).get(number) ?? [];
    expect(logits.length).toBe(PORTIONS[number]?.length);
    for (const [i, values] of logits.entries())
      for (const [k, value] of values.entries()) expect(Math.abs(value - (own[i]?.[k] ?? Number.NaN))).toBeLessThan(1e-4);
  }
});

it('reads pages first and without those who write', () => {
  const row = (left: number): ReadRow => ({ tokens: Array.from({ length: 30 + left }, () => 1), flags: [], position: 30 });
  expect(readFirst([row(1), row(64), row(1), row(9)])).toEqual([1, 3]);
  expect(readFirst([row(1), row(2), row(1)])).toEqual([0, 1, 2]);
});
