// Matrices that the same rows are multiplied with (queries, keys and values; gate and up), as one where they lie one after the other in their file: one product instead of three
// shares its work out once, and rounds its rows once. Of an adapter's matrices only A are put together, in copies that are made anew when a game begins: those of B would be half zeros.

import type { ExternalData } from '../../engine/graph/graph.ts';
import type { JoinedParameter } from '../transformer/joined-parameters.ts';
import type { LoraShape } from './adapter.ts';
import { loraSpecs } from './adapter.ts';
import { layerName } from './architecture.ts';
import type { LanguageModelConfig } from './architecture.ts';
import type { MappedWeight, MappedWeights } from './files/mapped-weights.ts';

/** Matrices of one layer that the same rows are multiplied with, without `.weight`. */
export const SIBLINGS = [
  ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  ['self_attn.o_proj'],
  ['mlp.gate_proj', 'mlp.up_proj'],
  ['mlp.down_proj'],
] as const;

/** Of these weights those together that are one in their files, in the order in which they lie there. */
export function neighbours(weights: MappedWeights, names: readonly string[]): readonly (readonly string[])[] {
  const start = (name: string): number => weights.get(name)?.place.offset ?? 0;
  const groups: string[][] = [];
  for (const name of names.toSorted((a, b) => start(a) - start(b))) {
    const group = groups.at(-1);
    const [before, weight] = [weights.get(group?.at(-1) ?? ''), weights.get(name)];
    if (group && before && weight && follows(before, weight)) group.push(name);
    else groups.push([name]);
  }
  return groups;
}

const adjacent = (a: ExternalData, b: ExternalData): boolean => a.file === b.file && a.offset + a.bytes === b.offset;

function follows(a: MappedWeight, b: MappedWeight): boolean {
  if (a.kind !== b.kind || !adjacent(a.place, b.place)) return false;
  return !('scales' in a) || !('scales' in b) || adjacent(a.scales, b.scales);
}

/** Neighbours as one weight. Their zero points, which products in blocks do not ask for, may lie anywhere. */
export type JoinedWeight =
  | { readonly kind: 'f32' | 'f16'; readonly place: ExternalData }
  | { readonly kind: 'int8' | 'int4'; readonly place: ExternalData; readonly scales: ExternalData };

export function joinedWeight(weights: MappedWeights, names: readonly string[]): JoinedWeight {
  const all = names.map((name) => {
    const mapped = weights.get(name);
    if (!mapped) throw new Error(`The model has no weight ${name}`);
    return mapped;
  });
  const [first] = all;
  if (!first) throw new Error('No weights were named to be joined');
  const whole = (start: ExternalData, places: readonly ExternalData[]): ExternalData => ({
    ...start,
    bytes: places.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  const place = whole(
    first.place,
    all.map((weight) => weight.place),
  );
  if (!('scales' in first)) return { kind: first.kind, place };
  const scales = all.flatMap((weight) => ('scales' in weight ? [weight.scales] : []));
  return { kind: first.kind, place, scales: whole(first.scales, scales) };
}

/** The adapter's matrices A of neighbours, one below the other. */
export function joinedAdapter(config: LanguageModelConfig, lora: LoraShape, weights: MappedWeights): readonly JoinedParameter[] {
  const shapes = new Map(loraSpecs(config, lora).map(({ name, shape }) => [name, shape]));
  const siblings = Array.from({ length: config.layers }, (_, layer) =>
    SIBLINGS.map((parts) => parts.map((part) => `${layerName(layer, part)}.weight`)),
  ).flat();
  return siblings.flatMap((names) =>
    neighbours(weights, names).flatMap((group): JoinedParameter[] => {
      const parts = group.map((name) => name.replace(/weight$/, 'lora_A')).filter((name) => shapes.has(name));
      const [, inner] = shapes.get(parts[0] ?? '') ?? [];
      return parts.length < 2 || inner === undefined ? [] : [{ name: parts.join('+'), shape: [parts.length * lora.rank, inner], parts }];
    }),
  );
}

/** How many numbers a product with a matrix of a layer gives. */
export function outputSizes({ width, feedForward, heads, keyValueHeads, headSize }: LanguageModelConfig): (name: string) => number {
  return (name) => {
    if (name.endsWith('q_proj')) return heads * headSize;
    if (name.endsWith('k_proj') || name.endsWith('v_proj')) return keyValueHeads * headSize;
    return name.endsWith('gate_proj') || name.endsWith('up_proj') ? feedForward : width;
  };
}
