// A micro-batch whose sequences stand in trees: what episodes share is computed once, for scoring and for training. The numbers of each
// token of the agent are those of separate sequences; only where they are computed differs.

import { at } from '../../base/indexed.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import { float, integer, value } from '../../engine/runtime/session.ts';
import type { Feeds } from '../../engine/runtime/session.ts';
import { type BatchLayout, type BatchShape, MaskTable, PackedBatch } from './batch.ts';
import { type Forest, forestOf } from './forest.ts';
import type { EncodedRow } from '../text/prompt.ts';

/** A shape with trees. */
export type SharedShape = BatchShape & { readonly trees: number; readonly distinct: number };

export const isShared = (shape: BatchShape): shape is SharedShape => shape.trees !== undefined && shape.distinct !== undefined;

const NEVER = -1e9;

/** A token of the agent as the network computes it. */
interface Distinct {
  readonly tree: number;
  readonly place: number;
  readonly target: number;
  readonly mask: number;
}

/** Which of the distinct tokens each token of the agent is. */
export function distinctTokens(rows: readonly EncodedRow[], forest: Forest, maskOf: (mask: EncodedRow['agent'][number]['mask']) => number) {
  const indexOf = new Map<string, number>();
  const distinct: Distinct[] = [];
  const indices = rows.map(({ agent }, r) => {
    const { tree, places } = at(forest.paths, r);
    return agent.map(({ position, target, mask }) => {
      const token = { tree, place: at(places, position), target, mask: maskOf(mask) };
      const key = Object.values(token).join(' ');
      const index = indexOf.get(key) ?? distinct.length;
      if (index === distinct.length) {
        indexOf.set(key, index);
        distinct.push(token);
      }
      return index;
    });
  });
  return { distinct, indices };
}

export class SharedBatch extends PackedBatch {
  constructor(episodes: readonly (readonly EncodedRow[])[], layout: BatchLayout, shape: SharedShape) {
    super(episodes, layout, shape, (rows) => sharedFeeds(rows, layout, shape));
  }
}

function sharedFeeds(rows: readonly EncodedRow[], layout: BatchLayout, shape: SharedShape): Feeds {
  const { time, agentTokens, masks, trees, distinct: most } = shape;
  const forest = forestOf(rows, layout.contextLength);
  const table = new MaskTable(masks, layout.vocabulary, layout.compactMasks);
  const { distinct, indices } = distinctTokens(rows, forest, (mask) => table.index(mask));
  if (forest.trees.length > trees || distinct.length > most || forest.trees.some(({ tokens }) => tokens.length > time))
    throw new RangeError('A batch with more trees, longer ones or more distinct tokens than its shape');
  const numbers = (length: number): Int32Array => new Int32Array(length);
  const [places, targets, maskIndex] = [numbers(most), numbers(most), numbers(most)];
  for (const [i, { tree, place, target, mask }] of distinct.entries()) {
    places[i] = place * trees + tree;
    targets[i] = target;
    maskIndex[i] = mask;
  }
  const index = numbers(shape.rows * agentTokens);
  for (const [r, row] of indices.entries()) index.set(row, r * agentTokens);
  return {
    ...treeFeeds(forest, trees, time),
    places: integer(places, [most]),
    targets: integer(targets, [most]),
    index: integer(index, [shape.rows, agentTokens]),
    ...(masks > 0 ? { maskIndex: integer(maskIndex, [most]), maskTable: table.value() } : {}),
  };
}

/** Tokens, how deep each is, and what it may look at. What pads a tree looks at itself alone. */
function treeFeeds({ trees }: Forest, count: number, time: number): Feeds {
  const tokens = new Int32Array(count * time);
  const depths = new BigInt64Array(time * count);
  const seen = new Float32Array(count * time * time).fill(NEVER);
  for (let t = 0; t < count; t++) {
    const tree = trees[t];
    for (let i = 0; i < time; i++) {
      const start = (t * time + i) * time;
      const before = tree?.before[i];
      // It sees what the one before it sees, and itself.
      if (before !== undefined && before >= 0) seen.copyWithin(start, (t * time + before) * time, (t * time + before) * time + before + 1);
      seen[start + i] = 0;
      tokens[t * time + i] = tree?.tokens[i] ?? 0;
      depths[i * count + t] = BigInt(tree?.depth[i] ?? 0);
    }
  }
  return {
    tokens: integer(tokens, [count, time]),
    depths: value('int64', depths, [time, count]),
    seen: float(seen, [count, 1, time, time]),
  };
}

/** What a graph takes of such a batch. */
export interface SharedInputs {
  readonly tokens: Tensor;
  /** Of the distinct tokens, in the time-major [time · trees]. */
  readonly places: Tensor;
  readonly targets: Tensor;
  readonly depths: Tensor;
  readonly seen: Tensor;
  readonly maskIndex: Tensor | undefined;
  /** Numbers of distinct tokens as those of the agent's tokens, [rows, agent tokens]. */
  spread(numbers: Tensor): Tensor;
}

export function sharedInputs(graph: Graph, { rows, time, agentTokens, masks, trees, distinct }: SharedShape): SharedInputs {
  const index = graph.input('index', 'int32', [rows, agentTokens]);
  return {
    tokens: graph.input('tokens', 'int32', [trees, time]),
    places: graph.input('places', 'int32', [distinct]),
    targets: graph.input('targets', 'int32', [distinct]),
    depths: graph.input('depths', 'int64', [time, trees]),
    seen: graph.input('seen', 'float32', [trees, 1, time, time]),
    maskIndex: masks > 0 ? graph.input('maskIndex', 'int32', [distinct]) : undefined,
    spread: (numbers) => op.gather(numbers, index),
  };
}
