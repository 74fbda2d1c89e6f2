// Where a policy plays: on the device when its weights are there and the network can be sampled there, else on the CPU.

import { DeviceParameters } from '../../engine/gpu/device-parameters.ts';
import type { Flat } from '../../engine/graph/parameters.ts';
import { stateStays } from '../../engine/runtime/session.ts';
import type { SessionOptions } from '../../engine/runtime/session.ts';
import { DeviceSampler } from '../gpu/device-sampler.ts';
import { networkOf } from '../transformer/network.ts';
import type { PolicyModel } from '../transformer/network.ts';
import type { SamplerOptions } from './reader.ts';
import { type EpisodeSampler, Sampler } from './sampler.ts';

/** Weights that act: in plain memory, or on a device. */
export type ActingWeights = Flat | DeviceParameters;

/** Weights that do not change, where a session of these options can use them best. */
export function placeWeights(model: PolicyModel, flat: Flat, session: SessionOptions): ActingWeights {
  const { layout, device } = networkOf(model);
  return device && stateStays(session) ? DeviceParameters.fixed(layout, session, flat) : flat;
}

/** The trained weights, where they are: on the device, unless the network cannot be sampled there. */
export function trainedWeights(model: PolicyModel, flat: Flat, parameters: DeviceParameters | undefined): ActingWeights {
  return networkOf(model).device ? (parameters ?? flat) : flat;
}

export function openSampler(model: PolicyModel, weights: ActingWeights, options: SamplerOptions = {}): EpisodeSampler {
  return weights instanceof DeviceParameters ? new DeviceSampler(model, weights, options) : new Sampler(model, weights, options);
}

/** Gives the device's memory back. */
export async function releaseWeights(weights: ActingWeights): Promise<void> {
  if (weights instanceof DeviceParameters) await weights.dispose();
}
