// Compositions with a gradient of their own. Each is made of ordinary operators; its gradient, written as a whole, goes through
// memory fewer times than the rules of its operators would one after the other. Finite differences check each in the tests.

import { elementCount } from './graph.ts';
import type { Tensor } from './graph.ts';
import * as op from './operators.ts';

/**
 * softmax(Q·Kᵀ·scale + mask)·V for each head. All of [time, rows, heads, size]; mask [time, time].
 * The softmax's gradient needs Σ P·dP over each row of the [time, time] matrix: that is Σ dO·O over the size, which is far smaller.
 */
export function attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: number): Tensor {
  const timeFirst = (x: Tensor): Tensor => op.transpose(x, [2, 0, 1, 3]);
  return query.graph.withGradient('attend', [query, key, value], () => {
    const scores = op.matmul(query, key, { rowsFirstA: true, rowsFirstB: true, transposeB: true, scale }); // [rows, heads, time, time]
    const weights = op.softmax(op.add(scores, mask));
    const output = timeFirst(op.matmul(weights, value, { rowsFirstB: true }));
    const gradients = (dy: Tensor): readonly Tensor[] => {
      const dWeights = op.matmul(dy, value, { rowsFirstA: true, rowsFirstB: true, transposeB: true });
      const common = op.transpose(op.reduceSum(op.mul(dy, output), [-1], true), [1, 2, 0, 3]); // [rows, heads, time, 1]
      const dScores = op.mul(weights, op.sub(dWeights, common));
      return [
        timeFirst(op.matmul(dScores, key, { rowsFirstB: true, scale })),
        timeFirst(op.matmul(dScores, query, { transposeA: true, rowsFirstB: true, scale })),
        timeFirst(op.matmul(weights, dy, { transposeA: true, rowsFirstB: true })),
      ];
    };
    return { output, gradients };
  });
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
