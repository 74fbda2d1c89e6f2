// Which reader a policy is sampled with: small Transformers have a program of their own, everything else runs in sessions.

import type { Flat } from '../../engine/graph/parameters.ts';
import { DecodingReader, decodes } from '../decoder/decoding-reader.ts';
import type { PolicyModel } from '../transformer/network.ts';
import { GraphReader } from './reader.ts';
import type { Reader, SamplerOptions } from './reader.ts';

export function openReader(model: PolicyModel, weights: Flat, options: SamplerOptions = {}): Reader {
  if (!('samplingGraph' in model) && decodes(model, options.capacity ?? 64)) return new DecodingReader(model, weights, options);
  return new GraphReader(model, weights, options);
}
