// What the sampler of devices can be relied on for: the tokens and numbers of the CPU's sampler, and few bytes. Here the graphs are those of
// a device, run by the CPU; test/engine/device.test.ts runs them over software Vulkan.

import { afterAll, describe, expect, it } from 'vitest';
import { DeviceCounters } from '../../main/engine/gpu/device-counters.ts';
import { fromBinary } from '@bufbuild/protobuf';
import { DeviceParameters, deviceInputs } from '../../main/engine/gpu/device-parameters.ts';
import { ModelSchema } from '../../main/engine/graph/onnx-schema.ts';
import { encode } from '../../main/engine/graph/onnx.ts';
import { mul, reduceSum, square } from '../../main/engine/graph/operators.ts';
import { scalarValue } from '../../main/engine/runtime/session.ts';
import { Trainer, freshState } from '../../main/engine/runtime/training-step.ts';
import { PackedBatch } from '../../main/policy/transformer/batch.ts';
import { deviceSamplingGraph } from '../../main/policy/gpu/device-graph.ts';
import { DeviceSampler } from '../../main/policy/gpu/device-sampler.ts';
import { Sampler } from '../../main/policy/sampling/sampler.ts';
import type { EpisodeSampler } from '../../main/policy/sampling/sampler.ts';
import { Scorer } from '../../main/policy/transformer/scorer.ts';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import { Babble, config, weightsOf } from './babble.ts';

const counters = new DeviceCounters();
const session = { target: 'gpu', threads: 1, counters } as const;
const weights = weightsOf(config, 1);
const layout = modelLayout(config);
const parameters = DeviceParameters.fixed(layout, session, weights);
const seeds = Array.from({ length: 13 }, (_, i) => i);

const opened: { dispose(): Promise<void> }[] = [];
const keep = <T extends { dispose(): Promise<void> }>(it: T): T => {
  opened.push(it);
  return it;
};
afterAll(async () => {
  for (const it of opened) await it.dispose();
  await parameters.dispose();
});

async function play(sampler: EpisodeSampler, settings = {}): Promise<Babble[]> {
  const episodes = seeds.map((seed) => new Babble(seed));
  await sampler.run(episodes, settings);
  return episodes;
}

describe('sampling on a device', () => {
  for (const [name, model, settings] of [
    ['with every aid', config, {}],
    ['at a temperature', config, { temperature: 0.6 }],
    ['greedily', config, { greedy: true }],
    ['without aids', { ...config, gate: 'relu' as const, valueHead: false, aids: { matchFlag: false, pointer: false, tokenShift: 0 } }, {}],
  ] as const) {
    it(`draws what the CPU draws, ${name}`, async () => {
      const flat = weightsOf(model, 1);
      const cpu = await play(keep(new Sampler(model, flat, { capacity: 5, threads: 1 })), settings);
      const placed = keep(DeviceParameters.fixed(modelLayout(model), session, flat));
      const device = await play(new DeviceSampler(model, placed, { capacity: 9 }), settings);
      let choices = 0;
      for (const [i, { drawn }] of cpu.entries()) {
        expect(device[i]?.drawn.map(({ token }) => token)).toEqual(drawn.map(({ token }) => token));
        for (const [k, expected] of drawn.entries()) {
          const found = device[i]?.drawn[k];
          if (expected.top.length > 1) choices++;
          expect(found?.logProb).toBeCloseTo(expected.logProb, 4);
          expect(found?.policyLogProb).toBeCloseTo(expected.policyLogProb, 4);
          expect(found?.entropy).toBeCloseTo(expected.entropy, 4);
          expect(found?.top.map(({ token }) => token)).toEqual(expected.top.map(({ token }) => token));
          for (const [j, { probability }] of expected.top.entries()) expect(found?.top[j]?.probability).toBeCloseTo(probability, 4);
        }
      }
      expect(choices).toBeGreaterThan(20);
    });
  }

  it('exchanges less than 200 bytes per row and call with the device, and what is played again less than that per drawn token', async () => {
    const sampler = keep(new DeviceSampler(config, parameters, { capacity: 16 }));
    await play(sampler);
    counters.take();
    const episodes = await play(sampler); // parameters and masks are there by now
    const { calls, bytesUploaded: up, bytesDownloaded: down } = counters.take();
    const tokens = episodes.reduce((sum, { drawn }) => sum + drawn.length, 0);
    expect(tokens).toBeGreaterThan(100);
    expect((up + down) / (calls * 16)).toBeLessThan(200);
    expect(down).toBeLessThan(60 * 16 * calls);
  });

  it('gives the scores of the CPU, and leaves logits on the device', async () => {
    const episodes = await play(keep(new Sampler(config, weights, { capacity: 16, threads: 1 })));
    const batch = new PackedBatch(
      episodes.map(({ rows }) => rows),
      config,
    );
    const cpu = await keep(new Scorer(config, weights, { threads: 1 })).score(batch);
    const scorer = keep(new Scorer(config, parameters));
    const device = await scorer.score(batch);
    for (const [i, numbers] of cpu.logProbs.entries()) {
      for (const [k, number] of numbers.entries()) expect(device.logProbs[i]?.[k]).toBeCloseTo(number, 4);
    }
    for (const [k, number] of (cpu.values?.[0] ?? []).entries()) expect(device.values?.[0]?.[k]).toBeCloseTo(number, 4);
    counters.take();
    const logits = await scorer.logits(batch);
    expect(logits.dims).toEqual([batch.shape.rows, batch.shape.agentTokens, config.vocabulary]);
    expect(counters.take().bytesDownloaded).toBe(0);
    scorer.freeLogits();
  });

  it('sees the weights of every training step without their travelling', async () => {
    const state = freshState(layout, weightsOf(config, 4));
    const trainer = keep(new Trainer({ layout, state, session }));
    const { parameters: trained } = trainer;
    if (!trained) throw new Error('The trainer keeps no parameters on the device');
    const sampler = new DeviceSampler(config, trained, { capacity: 16 });
    const said = (episodes: Babble[]): number[] => episodes.flatMap(({ drawn }) => drawn.map(({ token }) => token));
    const before = said(await play(sampler, { greedy: true }));
    const build: Parameters<Trainer['step']>[0][number]['build'] = (graph, p) => {
      const goal = p('embedding');
      return { loss: graph.scope('loss', () => reduceSum(square(goal))) };
    };
    await trainer.step([{ key: 'shrink', build, feeds: {} }], 0.05); // takes Adam's moments along
    counters.take();
    for (let step = 0; step < 40; step++) await trainer.step([{ key: 'shrink', build, feeds: {} }], 0.05);
    const { bytesUploaded: up, bytesDownloaded: down } = counters.take();
    expect((up + down) / 40).toBeLessThan(0.01 * 4 * layout.count);
    const after = said(await play(sampler, { greedy: true }));
    expect(after).not.toEqual(before);
    await trainer.download();
    expect(after).toEqual(said(await play(keep(new Sampler(config, state.values, { capacity: 16, threads: 1 })), { greedy: true })));
    await sampler.dispose();
  });
});

describe('training on a device', () => {
  it('brings nothing back of micro-batches, so that the host need not wait: only the report of the step', async () => {
    const state = freshState(layout, weightsOf(config, 5));
    const trainer = keep(new Trainer({ layout, state, session }));
    const host = keep(new Trainer({ layout, state: freshState(layout, weightsOf(config, 5)), session: { threads: 1 } }));
    const build: Parameters<Trainer['step']>[0][number]['build'] = (graph, p) => {
      const loss = graph.scope('loss', () => mul(reduceSum(square(p('embedding'))), graph.input('weight', 'float32', [])));
      return { loss, metrics: { doubled: mul(loss, 2) } };
    };
    const batches = [1, 2, 3].map((weight) => ({ key: 'weighed', build, feeds: { weight: scalarValue(weight) } }));
    await trainer.step(batches, 1e-3);
    const expected = [await host.step(batches, 1e-3), await host.step(batches, 1e-3)].at(-1);
    counters.take();
    const report = await trainer.step(batches, 1e-3);
    const { calls, bytesDownloaded: down } = counters.take();
    expect([calls, down]).toEqual([4, 3 * 4]); // three micro-batches and the step; loss, norm and one metric
    expect(report.loss / (expected?.loss ?? 0)).toBeCloseTo(1, 5);
    expect(report.gradientNorm / (expected?.gradientNorm ?? 0)).toBeCloseTo(1, 5);
    expect(report.metrics.doubled).toBeCloseTo(2 * report.loss, 3);
  });
});

describe('a device that hands tensors over through the CPU', () => {
  it('is sent the weights and sends the gradient back at every micro-batch, but never weights or moments', async () => {
    const through = { ...session, stateOnDevice: false } as const;
    const trainer = keep(new Trainer({ layout, state: freshState(layout, weightsOf(config, 6)), session: through }));
    expect(trainer.parameters).toBeUndefined();
    const build: Parameters<Trainer['step']>[0][number]['build'] = (graph, p) => ({
      loss: mul(reduceSum(square(p('embedding'))), graph.input('weight', 'float32', [])),
    });
    const batch = { key: 'through', build, feeds: { weight: scalarValue(1) } };
    counters.take();
    await trainer.step([batch, batch], 1e-3);
    const { calls, bytesUploaded: up, bytesDownloaded: down } = counters.take();
    expect([calls, up, down]).toEqual([2, 2 * (4 * layout.count + 4), 2 * (4 * layout.count + 8)]);
  });
});

describe('half precision on a device', () => {
  const half = { ...session, half: 'float16' } as const;

  it('samples and scores close to single precision, and not the same', async () => {
    const placed = keep(DeviceParameters.fixed(layout, half, weights));
    const single = await play(keep(new DeviceSampler(config, parameters, { capacity: 16 })), { greedy: true });
    const episodes = await play(keep(new DeviceSampler(config, placed, { capacity: 16 })), { greedy: true });
    const first = (all: Babble[]) => all.map(({ drawn }) => drawn.find(({ top }) => top.length > 1)?.policyLogProb ?? 0);
    const gaps = first(single).map((number, i) => Math.abs(number - (first(episodes)[i] ?? Number.NaN)));
    expect(Math.max(...gaps)).toBeLessThan(0.02);
    expect(Math.max(...gaps)).toBeGreaterThan(0);
    const batch = new PackedBatch(
      episodes.map(({ rows }) => rows),
      config,
    );
    const exact = await keep(new Scorer(config, parameters)).score(batch);
    const rounded = await keep(new Scorer(config, placed)).score(batch);
    const differences = exact.logProbs.flatMap((numbers, i) => [...numbers].map((x, k) => Math.abs(x - (rounded.logProbs[i]?.[k] ?? 0))));
    expect(Math.max(...differences)).toBeLessThan(0.02);
    expect(Math.max(...differences)).toBeGreaterThan(0);
  });

  it('reads matrices of half the size on a card, without unpacking them; gains stay single', () => {
    const card = { providers: ['webgpu'], target: 'gpu', half: 'float16' } as const;
    const graph = deviceSamplingGraph(config, 1, (target) => deviceInputs(target, layout, card));
    expect(graph.inputs.get('layer.0.attention.query')?.dtype).toBe('float16');
    expect(graph.inputs.get('embedding')?.dtype).toBe('float16');
    expect(graph.inputs.get('norm')?.dtype).toBe('float32');
    const written = fromBinary(ModelSchema, encode(graph, 'gpu', 'float16')).graph?.node ?? [];
    const readers = (name: string) => written.filter(({ input }) => input.includes(name)).map(({ opType }) => opType);
    expect(readers('layer.0.attention.query')).toEqual(['Gemm']);
    expect(readers('embedding').toSorted()).toEqual(['Gather', 'Gemm']);
  });
});
