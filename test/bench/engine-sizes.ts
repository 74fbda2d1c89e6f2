// The models that the engine's benchmarks train.

import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';

const model = { gate: 'swiglu', valueHead: false, aids: { matchFlag: false, pointer: false, tokenShift: 0 } } as const;

export const SMALL: ModelConfig = { ...model, vocabulary: 512, width: 128, layers: 4, heads: 4, feedForward: 400, contextLength: 128 };
export const MEDIUM: ModelConfig = { ...model, vocabulary: 2048, width: 256, layers: 6, heads: 8, feedForward: 824, contextLength: 256 };
export const TINY: ModelConfig = { ...model, vocabulary: 128, width: 32, layers: 2, heads: 2, feedForward: 96, contextLength: 32 };

/** A model of about so many million parameters, for 128 tokens: twelve times its width squared for every layer. */
export function ofMillions(millions: number): ModelConfig {
  const layers = millions < 1 ? 2 : millions < 10 ? 4 : 8;
  const vocabulary = 512;
  // layers · 12 · width² + vocabulary · width = parameters, solved for the width, in whole heads of 32 channels.
  const a = 12 * layers;
  const width = 32 * Math.max(1, Math.round((Math.sqrt(vocabulary ** 2 + 4 * a * millions * 1e6) - vocabulary) / (2 * a) / 32));
  return { ...model, vocabulary, width, layers, heads: width / 32, feedForward: Math.round((8 * width) / 3), contextLength: 128 };
}
