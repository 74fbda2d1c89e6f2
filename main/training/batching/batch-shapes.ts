// Which episodes go through the model together, and in what shape. Every shape is a session that takes a while to make and memory to keep,
// and padding is paid like real tokens: how sizes are rounded up is a trade between the two, which depends on what a token costs.

import { at } from '../../base/indexed.ts';
import type { RunConfig } from '../../config/config.ts';
import type { BatchShape } from '../../policy/transformer/batch.ts';
import type { PolicyNetwork } from '../../policy/transformer/network.ts';
import { beginningOf, forestOf, usedLength } from '../../policy/transformer/forest.ts';
import type { TokenMask } from '../../policy/text/grammar-mask.ts';
import type { EncodedRow } from '../../policy/text/prompt.ts';
import { distinctTokens, type SharedShape } from '../../policy/transformer/shared-batch.ts';

/** An episode as far as its length matters. */
export interface HasRows {
  readonly rows: readonly EncodedRow[];
}

/** Fixed cost of one more micro-batch, in tokens: measured on the flagship's model (6 ms, where a token takes 0.07 ms). */
const MICRO_BATCH_COST = 80;
/** Episodes in trees take more than their tokens (what each looks at is data): below this share of the tokens it pays. */
const WORTH_SHARING = 0.85;
/** Rows of a micro-batch. */
export const MOST_ROWS = 32;
export const FEWEST_MASKS = 32;

/** Tokens of a micro-batch on a processor: with more, what one operator writes has left the cache when the next one reads it. */
const CACHED_TOKENS = 1024;

/** Rows of a length that are computed together on a processor. */
export const cachedRows = (time: number): number => Math.max(1, Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(CACHED_TOKENS / time))));

/**
 * How many micro-batches a network computes side by side; undefined: one for every thread. Lanes share the tokens of a micro-batch, so
 * that they take no more memory than one: where half of it does not hold a row there is one lane. Depends on the config alone, not on the machine.
 */
export const lanesFor = (
  { training }: RunConfig,
  { lanes, contextLength }: Pick<PolicyNetwork, 'lanes' | 'contextLength'>,
): number | undefined => (lanes !== undefined && training.microBatch < lanes * contextLength ? 1 : lanes);

export const powerOfTwo = (size: number): number => 2 ** Math.ceil(Math.log2(size));
const up = (size: number, step: number): number => Math.max(step, Math.ceil(size / step) * step);

/** How sizes are rounded up. */
export interface Rounding {
  time(length: number): number;
  rows(rows: number, most: number): number;
  /** The fewest agent tokens of a row. */
  readonly agentTokens: number;
}

/**
 * Of small policies: 8 or 32 rows; more only where a single episode has more rows. A new shape costs a session, which takes as long as
 * thousands of tokens, while one more call costs little: so few sizes, used several times. Small calls also stay in the processor's cache.
 */
export const COARSE: Rounding = {
  time: (length) => up(length, length <= 128 ? 8 : 64),
  rows: (rows, most) => (rows <= Math.min(8, most) ? Math.min(8, most) : powerOfTwo(Math.max(most, rows))),
  agentTokens: 8,
};

/** Of language models, where a session takes as long as a thousand tokens, so that padding is soon dearer. */
export const FINE: Rounding = {
  time: (length) => up(length, length <= 512 ? 32 : 64),
  rows: (rows) => powerOfTwo(rows),
  agentTokens: 32,
};

/** Of an LSTM, which is unrolled over time: a session takes seconds to make, and its time goes by the steps, hardly by the rows. */
export const FEW: Rounding = {
  time: (length) => powerOfTwo(Math.max(32, length)),
  rows: (rows, most) => powerOfTwo(Math.max(most, rows)),
  agentTokens: 64,
};

/** The longest row of an episode, up to the last hidden state that matters. */
function lengthOf({ rows }: HasRows): number {
  return Math.max(1, ...rows.map(usedLength));
}

/** Coarser than the engine's buckets: few shapes, because each is a session that takes a while to make. No row is longer than the context. */
export function sessionShape(
  samples: readonly HasRows[],
  contextLength: number,
  mostRows: (time: number) => number = () => MOST_ROWS,
  rounding: Rounding = COARSE,
): BatchShape {
  const rows = samples.flatMap((sample) => sample.rows);
  const masks = new Set(rows.flatMap((row) => row.agent.map(({ mask }) => mask)));
  const time = rounding.time(Math.max(1, ...samples.map(lengthOf)));
  const size = rounding.rows(rows.length, mostRows(time));
  return {
    rows: size,
    time: Math.min(contextLength, time),
    agentTokens: powerOfTwo(Math.max(rounding.agentTokens, ...rows.map((row) => row.agent.length))),
    masks: powerOfTwo(Math.max(FEWEST_MASKS, masks.size + 1)),
    episodes: size, // an episode has at least one row
  };
}

/** Cuts episodes, sorted by length, where the padding saved is worth another micro-batch; never past the budget. */
export function microBatches<L extends HasRows>(
  samples: readonly L[],
  budget: number,
  mostRows: (time: number) => number = () => MOST_ROWS,
  rounding: Rounding = COARSE,
): L[][] {
  const pieces = samples.map((sample) => ({ piece: sample, time: rounding.time(lengthOf(sample)), rows: sample.rows.length }));
  return cutByCost(pieces, budget, mostRows, rounding);
}

/** What cannot be divided among micro-batches: so many rows of a length. */
interface Piece<P> {
  readonly piece: P;
  readonly time: number;
  readonly rows: number;
}

function cutByCost<P>(pieces: readonly Piece<P>[], budget: number, mostRows: (time: number) => number, rounding: Rounding): P[][] {
  const sorted = pieces.map((piece, index) => ({ ...piece, index })).sort((a, b) => a.time - b.time || a.index - b.index);
  const count = sorted.length;
  // best[i]: the least cost of the first i episodes; cut[i]: where the last of their micro-batches begins.
  const best = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  const cut = new Int32Array(count + 1);
  best[0] = 0;
  for (let end = 1; end <= count; end++) {
    const time = at(sorted, end - 1).time;
    const most = mostRows(time);
    let rows = 0;
    for (let start = end - 1; start >= 0; start--) {
      rows += at(sorted, start).rows;
      const size = rounding.rows(rows, most) * time;
      if ((size > budget || rows > most) && start < end - 1) break;
      const cost = at(best, start) + size + MICRO_BATCH_COST;
      if (cost < at(best, end)) {
        best[end] = cost;
        cut[end] = start;
      }
    }
  }
  const parts: P[][] = [];
  for (let end = count; end > 0; end = at(cut, end)) parts.unshift(sorted.slice(at(cut, end), end).map(({ piece }) => piece));
  return parts;
}

/**
 * Episodes whose first rows begin alike, together as far as they stand in one tree, so that a piece stays within the limits whatever the group: what they share is
 * computed once. Undefined where that would save too little.
 */
function bundles<L extends HasRows>(samples: readonly L[], contextLength: number): Piece<readonly L[]>[] | undefined {
  const treesOf = (piece: readonly L[]) =>
    forestOf(
      piece.flatMap(({ rows }) => rows),
      contextLength,
    ).trees;
  const pieces: L[][] = [];
  for (const alike of Map.groupBy(samples, ({ rows }) => beginningOf(at(rows, 0))).values()) {
    let open: L[] | undefined;
    for (const sample of alike) {
      if (open && treesOf([...open, sample]).length === 1) open.push(sample);
      else pieces.push((open = [sample]));
    }
  }
  let together = 0;
  const apart = samples.reduce((sum, { rows }) => sum + rows.reduce((all, row) => all + usedLength(row), 0), 0);
  const bundled = pieces.map((piece) => {
    const lengths = treesOf(piece).map(({ tokens }) => tokens.length);
    together += lengths.reduce((sum, length) => sum + length, 0);
    return { piece, time: Math.max(...lengths), rows: lengths.length };
  });
  return together < WORTH_SHARING * apart ? bundled : undefined;
}

/** Micro-batches of episodes in trees, with their shapes; undefined where the episodes share too little. */
export function sharedMicroBatches<L extends HasRows>(
  samples: readonly L[],
  contextLength: number,
  budget: number,
  mostRows: (time: number) => number,
  rounding: Rounding,
): { part: L[]; shape: SharedShape }[] | undefined {
  const pieces = bundles(samples, contextLength)?.map((bundle) => ({ ...bundle, time: rounding.time(bundle.time) }));
  if (!pieces) return undefined;
  return cutByCost(pieces, budget, mostRows, rounding).map((parts) => {
    const part = parts.flat();
    const rows = part.flatMap((sample) => sample.rows);
    const forest = forestOf(rows, contextLength);
    const numbers = new Map<TokenMask, number>();
    const maskOf = (mask: TokenMask): number => numbers.get(mask) ?? (numbers.set(mask, numbers.size), numbers.size - 1);
    const { distinct } = distinctTokens(rows, forest, maskOf);
    const size = powerOfTwo(rows.length);
    const shape = {
      rows: size,
      time: rounding.time(Math.max(...forest.trees.map(({ tokens }) => tokens.length))),
      agentTokens: powerOfTwo(Math.max(rounding.agentTokens, ...rows.map((row) => row.agent.length))),
      masks: powerOfTwo(Math.max(FEWEST_MASKS, numbers.size + 1)),
      episodes: size,
      trees: powerOfTwo(forest.trees.length),
      distinct: powerOfTwo(Math.max(rounding.agentTokens, distinct.length)),
    };
    return { part, shape };
  });
}
