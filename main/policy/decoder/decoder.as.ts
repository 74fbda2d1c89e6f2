// One pass of a small Transformer over up to 64 tokens on top of a cache, as the sampling graph does. Nothing is fed, fetched, padded or masked: each token attends to what its
// row has read, and rows of any length go together. What lies where is in the plan, which plan.ts writes: the fields below in their order, four bytes each.

import { attention, softmax } from '../../engine/kernels/attention.as';
import { copy, gate, rmsNorm, rotate } from '../../engine/kernels/layers.as';
import { matmul } from '../../engine/kernels/matmul.as';
import { VECTOR, madd } from '../../engine/kernels/simd.as';

/** Sizes are in numbers, strides in bytes, everything else is an address (within `scratch`: from the lane's beginning). */
@unmanaged
class Plan {
  width: i32;
  layers: i32;
  heads: i32;
  inner: i32;
  gate: i32;
  vocabulary: i32;
  tokenShift: i32;
  matchFlag: i32;
  /** 0: no pointer. */
  pointerSize: i32;
  epsilon: f32;
  rowStride: usize;
  projectionStride: usize;
  wideStride: usize;
  logitStride: usize;
  pointerStride: usize;
  weightStride: usize;
  amountStride: usize;
  /** From one head to the next in the cache. */
  headStride: usize;
  recordBytes: usize;
  match: usize;
  shift: usize;
  vectorBytes: usize;
  rotary: usize;
  norm: usize;
  logits: usize;
  pointerKey: usize;
  pointerQuery: usize;
  pointerGate: usize;
  pointerKeys: usize;
  x: usize;
  normal: usize;
  projected: usize;
  gathered: usize;
  wide: usize;
  active: usize;
  scores: usize;
  picked: usize;
  query: usize;
}

/** The layers follow the plan. */
@unmanaged
class Layer {
  attentionNorm: usize;
  projections: usize;
  attentionOutput: usize;
  feedForwardNorm: usize;
  up: usize;
  down: usize;
  keys: usize;
  values: usize;
}

/** What is known of a token; behind it, for the token itself and for those before it that it sees: the address of its embedding and its match flag. */
@unmanaged
class Token {
  /** Where its row begins in the cache, in tokens. */
  rowStart: i32;
  position: i32;
  /** Whether its logits are wanted. */
  last: i32;
}

/** Reads tokens and writes the logits of the wanted ones, and with the pointer where it looks and how much that counts. Tokens of one row come in order. */
export function decode(
  plan: Plan,
  scratch: usize,
  tokens: usize,
  count: i32,
  wanted: i32,
  logits: usize,
  weights: usize,
  amounts: usize,
): void {
  const width = plan.width;
  const inner = plan.inner;
  const row = plan.rowStride;
  const x = scratch + plan.x;
  const normal = scratch + plan.normal;
  const projected = scratch + plan.projected;
  const gathered = scratch + plan.gathered;
  const wide = scratch + plan.wide;
  const active = scratch + plan.active;
  const picked = scratch + plan.picked;
  const innerBytes = <usize>inner * 4;

  embed(plan, tokens, x, count);
  for (let i = 0; i < plan.layers; i++) {
    const layer = changetype<Layer>(changetype<usize>(plan) + offsetof<Plan>() + <usize>i * offsetof<Layer>());
    rmsNorm(x, layer.attentionNorm, normal, width, row, count, plan.epsilon);
    matmul(normal, row, layer.projections, width, 3 * width, projected, plan.projectionStride, count, false);
    remember(plan, layer, tokens, projected, count);
    attend(plan, layer, tokens, projected, gathered, scratch + plan.scores, count);
    matmul(gathered, row, layer.attentionOutput, width, width, x, row, count, true);
    rmsNorm(x, layer.feedForwardNorm, normal, width, row, count, plan.epsilon);
    matmul(normal, row, layer.up, width, plan.gate == 0 ? 2 * inner : inner, wide, plan.wideStride, count, false);
    gate(plan.gate, wide, plan.wideStride, active, innerBytes, count);
    matmul(active, innerBytes, layer.down, inner, width, x, row, count, true);
  }
  rmsNorm(x, plan.norm, normal, width, row, count, plan.epsilon);
  pick(plan, tokens, normal, picked, count);
  matmul(picked, row, plan.logits, width, plan.vocabulary, logits, plan.logitStride, wanted, false);
  if (plan.pointerSize == 0) return;
  const query = scratch + plan.query;
  matmul(normal, row, plan.pointerKey, width, plan.pointerSize, projected, plan.pointerStride, count, false);
  rememberPointer(plan, tokens, projected, count);
  matmul(picked, row, plan.pointerQuery, width, plan.pointerSize, query, plan.pointerStride, wanted, false);
  matmul(picked, row, plan.pointerGate, width, 1, amounts, plan.amountStride, wanted, false);
  point(plan, tokens, query, weights, count);
}

function tokenAt(tokens: usize, plan: Plan, index: i32): Token {
  return changetype<Token>(tokens + <usize>index * plan.recordBytes);
}

/** The sum of the embeddings that a token sees. */
function embed(plan: Plan, tokens: usize, x: usize, count: i32): void {
  const bytes = <usize>plan.width * 4;
  for (let i = 0; i < count; i++, x += plan.rowStride) {
    const seen = changetype<usize>(tokenAt(tokens, plan, i)) + offsetof<Token>();
    for (let column: usize = 0; column < bytes; column += VECTOR) {
      let sum = embedding(plan, seen, column);
      for (let back = 1; back <= plan.tokenShift; back++) {
        const gain = v128.load(plan.shift + <usize>(back - 1) * plan.vectorBytes + column);
        sum = madd(embedding(plan, seen + <usize>back * 8, column), gain, sum);
      }
      v128.store(x + column, sum);
    }
  }
}

function embedding(plan: Plan, seen: usize, column: usize): v128 {
  const vector = v128.load(load<usize>(seen) + column);
  return plan.matchFlag ? madd(v128.load32_splat(seen, 4), v128.load(plan.match + column), vector) : vector;
}

/** Turns queries (which are scaled as well) and keys by their positions, and puts keys and values into the cache. */
function remember(plan: Plan, layer: Layer, tokens: usize, x: usize, count: i32): void {
  const size = <usize>(plan.width / plan.heads) * 4;
  const half = size / 2;
  const one = f32x4.splat(1);
  const scale = f32x4.splat(scaleOf(plan.width / plan.heads));
  for (let i = 0; i < count; i++, x += plan.projectionStride) {
    const token = tokenAt(tokens, plan, i);
    const table = plan.rotary + <usize>token.position * size;
    const place = <usize>token.rowStart * plan.width * 4 + <usize>token.position * size;
    let from = x;
    for (let head = 0; head < plan.heads; head++, from += size) rotate(from, from, table, half, scale);
    let key = layer.keys + place;
    for (let head = 0; head < plan.heads; head++, from += size, key += plan.headStride) rotate(from, key, table, half, one);
    let value = layer.values + place;
    for (let head = 0; head < plan.heads; head++, from += size, value += plan.headStride) copy(from, value, size);
  }
}

/** Every head over all that its row has read. */
function attend(plan: Plan, layer: Layer, tokens: usize, x: usize, y: usize, scores: usize, count: i32): void {
  const size = <usize>(plan.width / plan.heads) * 4;
  for (let i = 0; i < count; i++, x += plan.projectionStride, y += plan.rowStride) {
    const token = tokenAt(tokens, plan, i);
    const read = token.position + 1;
    let start = <usize>token.rowStart * plan.width * 4;
    for (let head = 0; head < plan.heads; head++, start += plan.headStride) {
      const at = <usize>head * size;
      attention(x + at, layer.keys + start, layer.values + start, size, read, scores, y + at);
    }
  }
}

/** The rows whose logits are wanted, one after the other. */
function pick(plan: Plan, tokens: usize, x: usize, y: usize, count: i32): void {
  for (let i = 0; i < count; i++, x += plan.rowStride) {
    if (!tokenAt(tokens, plan, i).last) continue;
    copy(x, y, plan.rowStride);
    y += plan.rowStride;
  }
}

/** Puts the pointer's keys into the cache. */
function rememberPointer(plan: Plan, tokens: usize, x: usize, count: i32): void {
  const size = <usize>plan.pointerSize * 4;
  for (let i = 0; i < count; i++, x += plan.pointerStride) {
    const token = tokenAt(tokens, plan, i);
    copy(x, plan.pointerKeys + <usize>(token.rowStart + token.position) * size, size);
  }
}

/** Where the pointers of the wanted rows look; their weights sum to one. */
function point(plan: Plan, tokens: usize, query: usize, weights: usize, count: i32): void {
  const size = <usize>plan.pointerSize * 4;
  const scale = f32x4.splat(scaleOf(plan.pointerSize));
  for (let i = 0; i < count; i++) {
    const token = tokenAt(tokens, plan, i);
    if (!token.last) continue;
    for (let at: usize = 0; at < size; at += VECTOR) v128.store(query + at, f32x4.mul(v128.load(query + at), scale));
    softmax(query, plan.pointerKeys + <usize>token.rowStart * size, size, token.position + 1, weights);
    query += plan.pointerStride;
    weights += plan.weightStride;
  }
}

/** 1 / √size */
function scaleOf(size: i32): f32 {
  return <f32>(1 / sqrt<f64>(size));
}
