// Compositions with a hand-written gradient. Each is made of ordinary operators; its gradient, written as a whole, passes through
// memory fewer times than the rules of its operators would one after the other. Finite differences check each in the tests.

import { at } from '../../base/indexed.ts';
import { elementCount } from './graph.ts';
import type { Tensor } from './graph.ts';
import * as op from './operators.ts';

/** Added to a score that must not count. */
const NEVER = -1e9;

/** From this length on, time is cut into blocks of at least so many positions, four of them or as many as keep them short; more cost more than they save. */
const LONG = 128;
const BLOCKS = 4;
const SHORTEST_BLOCK = 64;
const LONGEST_BLOCK = 512;

/**
 * Causal attention: softmax(Q·Kᵀ·scale)·V for each head, over the position itself and those before it. All of [time, rows, heads, size].
 * Long time is cut into blocks: a block looks only at keys up to its end, which spares most of what the mask would throw away.
 * `mask` [rows, 1, time, time] takes the place of the usual one where not all positions before count; it is added to the scores.
 */
export function attention(query: Tensor, key: Tensor, value: Tensor, scale: number, mask?: Tensor): Tensor {
  const [time = 0] = query.sizes;
  const count = time < LONG ? 1 : Math.min(Math.max(BLOCKS, Math.ceil(time / LONGEST_BLOCK)), Math.floor(time / SHORTEST_BLOCK));
  const ends = Array.from({ length: count }, (_, block) => Math.floor(((block + 1) * time) / count));
  const sizes = ends.map((end, block) => end - (ends[block - 1] ?? 0));
  return query.graph.withGradient('attend', [query, key, value], () => {
    const blocks = op.split(query, sizes, 0).map((part, block) => {
      const until = (x: Tensor): Tensor => op.slice(x, 0, 0, at(ends, block));
      const [begin, end] = [ends[block - 1] ?? 0, at(ends, block)];
      return attendBlock(part, until(key), until(value), scale, mask && op.slice(op.slice(mask, 2, begin, end), 3, 0, end));
    });
    const output = op.concat(
      blocks.map((block) => block.output),
      0,
    );
    const gradients = (dy: Tensor): readonly Tensor[] => {
      const parts = op.split(dy, sizes, 0).flatMap((part, block) => (blocks[block] ? [blocks[block].gradients(part)] : []));
      return [
        op.concat(
          parts.map(({ dQuery }) => dQuery),
          0,
        ),
        sumOfBeginnings(
          parts.map(({ dKey }) => dKey),
          sizes,
        ),
        sumOfBeginnings(
          parts.map(({ dValue }) => dValue),
          sizes,
        ),
      ];
    };
    return { output, gradients };
  });
}

/** Adds up tensors that each cover the time from 0 to the end of their block. */
function sumOfBeginnings(tensors: readonly Tensor[], sizes: readonly number[]): Tensor {
  const pieces = tensors.map((tensor, block) => op.split(tensor, sizes.slice(0, block + 1), 0));
  const sums = sizes.map((_, piece) => pieces.flatMap((parts) => parts[piece] ?? []).reduce((sum, more) => op.add(sum, more)));
  return op.concat(sums, 0);
}

/**
 * The last positions of a sequence: queries [last, …] over keys and values [time, …].
 * The softmax's gradient needs Σ P·dP over each row of the [last, time] matrix: that is Σ dO·O over the size, which is far smaller.
 */
function attendBlock(query: Tensor, key: Tensor, value: Tensor, scale: number, mask?: Tensor) {
  const timeFirst = (x: Tensor): Tensor => op.transpose(x, [2, 0, 1, 3]);
  const [last = 0] = query.sizes;
  const [time = 0] = key.sizes;
  const causal = (): Tensor => query.graph.shared(`causal ${last}×${time}`, [last, time], () => causalMask(last, time));
  const scores = op.matmul(query, key, { rowsFirstA: true, rowsFirstB: true, transposeB: true, scale }); // [rows, heads, last, time]
  const weights = op.softmax(op.add(scores, mask ?? causal()));
  const output = timeFirst(op.matmul(weights, value, { rowsFirstB: true }));
  const gradients = (dy: Tensor): { dQuery: Tensor; dKey: Tensor; dValue: Tensor } => {
    const dWeights = op.matmul(dy, value, { rowsFirstA: true, rowsFirstB: true, transposeB: true });
    const common = op.transpose(op.reduceSum(op.mul(dy, output), [-1], true), [1, 2, 0, 3]); // [rows, heads, last, 1]
    const dScores = op.mul(weights, op.sub(dWeights, common));
    return {
      dQuery: timeFirst(op.matmul(dScores, key, { rowsFirstB: true, scale })),
      dKey: overTime(dScores, query, scale),
      dValue: overTime(weights, dy, 1),
    };
  };
  return { output, gradients };
}

/** What is added to the scores of the last positions over all of them: NEVER where a key comes after its query. */
function causalMask(last: number, time: number): Float32Array {
  const mask = new Float32Array(last * time);
  for (let row = 0; row < last; row++) mask.fill(NEVER, row * time + time - last + row + 1, (row + 1) * time);
  return mask;
}

/** Aᵀ·X·scale by heads, A [rows, heads, last, time] and X [last, rows, heads, size], as [time, rows, heads, size]. */
function overTime(a: Tensor, x: Tensor, scale: number): Tensor {
  // Transposing the smaller factor is a fifth faster, once it is much the smaller one.
  if (Number(a.shape.at(-1)) < 96) return op.transpose(op.matmul(a, x, { transposeA: true, rowsFirstB: true, scale }), [2, 0, 1, 3]);
  return op.transpose(op.matmul(x, a, { transposeA: true, rowsFirstA: true, scale }), [3, 0, 1, 2]);
}

/** silu(gate) · up. */
export function gated(gate: Tensor, up: Tensor): Tensor {
  return gate.graph.withGradient('gated', [gate, up], () => {
    const active = op.silu(gate);
    const output = op.mul(active, up);
    // d/dgate = up·(s + silu·(1 − s)) = output + s·(up − output), with s = sigmoid(gate)
    const gradients = (dy: Tensor): readonly Tensor[] => [
      op.mul(dy, op.add(output, op.mul(op.sigmoid(gate), op.sub(up, output)))),
      op.mul(dy, active),
    ];
    return { output, gradients };
  });
}

/** The logarithm of the softmax of each row, at the one element that `indices` names: [n, m] and [n] give [n]. */
export function logProbability(logits: Tensor, indices: Tensor): Tensor {
  return logits.graph.withGradient('logProbability', [logits], () => {
    const all = op.logSoftmax(logits);
    const output = op.pick(all, indices);
    const gradients = (dy: Tensor): readonly Tensor[] => {
      const [rows = 0, width = 0] = logits.sizes;
      const spread = op.mul(op.exp(all), op.reshape(op.neg(dy), [rows, 1]));
      const starts = logits.graph.constant(
        BigInt64Array.from({ length: rows }, (_, row) => BigInt(row * width)),
        [rows],
        'int64',
        'rowStarts',
      );
      const flat = op.add(op.cast(indices, 'int64'), starts);
      return [op.reshape(op.scatterRows(op.reshape(spread, [elementCount(logits.shape)]), flat, dy, 'add'), logits.shape)];
    };
    return { output, gradients };
  });
}
