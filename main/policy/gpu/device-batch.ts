// A batch whose episodes lie on the device (device-episodes.ts): the host names them by a few numbers a row, and the graph makes of them
// what it would otherwise be fed with. Tokens lie packed, several to a word; a row of the batch is a stretch of that list, and its agent's
// tokens are a stretch of another. Whole numbers are divided and multiplied only, because a device has no shifts for them here.

import { at } from '../../base/indexed.ts';
import type { Graph, Tensor } from '../../engine/graph/graph.ts';
import * as op from '../../engine/graph/operators.ts';
import type { BatchInputs, BatchLayout, BatchShape } from '../transformer/batch.ts';

/** The largest whole number of 32 bits, and how many digits of a base fit below it. */
const LARGEST = 2 ** 31 - 1;
export const digitsPerWord = (base: number): number => Math.max(1, Math.floor(Math.log(LARGEST) / Math.log(Math.max(2, base))));
/** A flag is −1, 0 or 1. */
export const FLAGS = 3;

/** What is known of every row that is held, one number after the other; row 0 is empty. */
export const PLACES = ['start', 'length', 'agentStart', 'agentCount'] as const;

/** A batch names a row by its number and its episode; −1 is none. */
export const rowCode = (row: number, episode: number, episodes: number): number => row * (episodes + 1) + episode + 1;

interface Resident extends BatchInputs {
  /** Where in the list of agent tokens the batch's tokens stand: [R, A]. */
  readonly agents: Tensor;
}

const made = new WeakMap<Graph, Resident>();

/** The inputs of a batch of this shape, from what lies on the device. */
export function residentInputs(graph: Graph, shape: BatchShape, layout: BatchLayout): Resident {
  const cached = made.get(graph);
  if (cached) return cached;
  const inputs = graph.scope('batch', () => unpackBatch(graph, shape, layout));
  made.set(graph, inputs);
  return inputs;
}

/** A number of every agent token [R, A], from a list on the device. */
export function residentNumbers(graph: Graph, key: string): Tensor {
  const unpacked = made.get(graph);
  if (!unpacked) throw new Error('The batch must be unpacked before its numbers are asked for');
  return op.mul(op.gather(graph.input(key, 'float32', ['agents']), unpacked.agents), unpacked.weights);
}

function unpackBatch(graph: Graph, { rows, time, agentTokens, episodes }: BatchShape, layout: BatchLayout): Resident {
  const codes = graph.input('rows', 'int32', [rows, 1]);
  const row = op.div(codes, episodes + 1);
  const episode = op.sub(op.sub(codes, op.mul(row, episodes + 1)), 1);
  const held = graph.input('held.rows', 'int32', ['rowNumbers']);
  const [start, length, agentStart, agentCount] = PLACES.map((_, i) => op.gather(held, op.add(op.mul(row, PLACES.length), i)));
  if (!start || !length || !agentStart || !agentCount) throw new Error('A row has four numbers');
  const last = op.sub(length, 1);
  const words = graph.input('held.words', 'int32', ['words']);
  const tokensAt = (within: Tensor): Tensor =>
    digits(words, op.add(start, op.minimum(within, last)), layout.vocabulary, digitsPerWord(layout.vocabulary));

  const order = counting(graph, agentTokens);
  const real = op.cast(op.less(order, agentCount), 'int32'); // [R, A]
  const agents = op.add(agentStart, op.mul(order, real));
  const packed = op.mul(op.gather(graph.input('held.agents', 'int32', ['agents']), agents), real);
  const mask = op.div(packed, layout.contextLength);
  const positions = op.sub(packed, op.mul(mask, layout.contextLength));
  const within = counting(graph, time);
  const numbers = op.reshape(counting(graph, episodes), [episodes, 1]);
  return {
    tokens: tokensAt(within),
    positions,
    targets: tokensAt(op.add(positions, 1)),
    weights: op.cast(real, 'float32'),
    assign: op.cast(op.equal(numbers, op.reshape(episode, [1, rows])), 'float32'),
    flags: layout.aids.matchFlag ? flagsAt(graph, op.add(start, op.minimum(within, last))) : undefined,
    mask: { table: graph.input('maskTable', 'float32', ['masks', layout.vocabulary]), index: mask },
    episodesInUpdate: graph.input('episodesInUpdate', 'float32', []),
    tokensInUpdate: graph.input('tokensInUpdate', 'float32', []),
    agents,
  };
}

const flagsAt = (graph: Graph, places: Tensor): Tensor =>
  op.cast(op.sub(digits(graph.input('held.flags', 'int32', ['flagWords']), places, FLAGS, digitsPerWord(FLAGS)), 1), 'float32');

/** The numbers at these places of a list that lies `count` to a word, each below `base`, the first in the lowest digit. */
export function digits(words: Tensor, places: Tensor, base: number, count: number): Tensor {
  if (count === 1) return op.gather(words, places);
  const word = op.div(places, count);
  const digit = op.sub(places, op.mul(word, count));
  const powers = Int32Array.from({ length: count }, (_, i) => base ** i);
  const shifted = op.div(op.gather(words, word), op.gather(words.graph.constant(powers, [count], 'int32', 'powers'), digit));
  return op.sub(shifted, op.mul(op.div(shifted, base), base));
}

/** The opposite: numbers below `base` as words. */
export function packDigits(numbers: readonly number[], base: number): Int32Array {
  const count = digitsPerWord(base);
  const words = new Int32Array(Math.max(1, Math.ceil(numbers.length / count)));
  for (const [i, number] of numbers.entries()) {
    const word = Math.floor(i / count);
    words[word] = at(words, word) + number * base ** (i % count);
  }
  return words;
}

const counting = (graph: Graph, length: number): Tensor =>
  graph.constant(
    Int32Array.from({ length }, (_, i) => i),
    [length],
    'int32',
    'counting',
  );
