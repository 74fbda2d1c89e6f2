// The memory of a graphics card is planned before a run starts: weights, moments, keys and values, activations. Micro-batches and the number
// of episodes played at once follow from what the card has.

import { expect, test } from 'vitest';
import { readNvidia } from '../../main/engine/gpu/device.ts';
import { networkOf } from '../../main/policy/transformer/network.ts';
import { fitMemory } from '../../main/training/batching/fit-memory.ts';
import { USABLE, cardCapacity, planCard } from '../../main/training/batching/memory-plan.ts';
import { planText } from '../../main/training/batching/memory-text.ts';
import { sessionPool } from '../../main/training/batching/session-pool.ts';
import { smallest } from './host.ts';
import { openRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const onCard = (changes: Record<string, unknown> = {}) =>
  smallest({ device: 'webgpu', policy: { width: 64, layers: 2, heads: 2 }, ...changes });
const network = networkOf(openRun(onCard()).model);
const numbers = 4 * network.layout.count;

test('every part has its size: state in two buffers, matrices once more for sampling, half of that in half precision', () => {
  const { parts, card } = planCard(BUILT_IN, onCard(), network, null);
  expect(card).toBe(true);
  expect(parts.optimizer).toBe(6 * numbers);
  expect(parts.trained).toBe(3 * numbers);
  expect(parts.weights).toBe(numbers);
  expect(parts.activations).toBeGreaterThan(numbers);
  const half = planCard(BUILT_IN, onCard({ device: 'webgpu-half' }), network, null).parts;
  expect(half.trained).toBe(2.5 * numbers);
  expect(half.weights).toBe(0.5 * numbers);
});

test('a card of which nobody knows the memory is told so, and nothing is changed', () => {
  const config = onCard();
  const fitted = fitMemory(BUILT_IN, config, '/nowhere');
  expect([fitted.changes, fitted.config, fitted.free]).toEqual([[], config, null]);
  expect(planText(fitted)).toMatch(
    /^Memory of the card: \d+\.\d MB needed, up to \d+\.\d MB used, the system does not say .* \(weights .*activations \d+\.\d MB\)$/,
  );
});

test('micro-batches become smaller until the run fits, fewer episodes are played at once, and what cannot fit is refused', () => {
  const asked = onCard({ training: { ...smallest().training, microBatch: 8192, batch: 256 } });
  const roomy = planCard(BUILT_IN, asked, network, null);
  const smaller = fitMemory(BUILT_IN, { ...asked, deviceMemory: Math.floor(roomy.needed / USABLE / 1e6) - 1 }, '/nowhere');
  expect(smaller.changes).toEqual(['training.microBatch=4096']);
  expect(smaller.config.training.microBatch).toBe(4096);
  expect(smaller.plan?.needed).toBeLessThan(roomy.needed);
  expect(cardCapacity(asked, network, 1e12)).toBe(256);
  const rows = cardCapacity(asked, network, 64e6);
  expect(rows).toBeLessThan(256);
  expect(rows).toBeGreaterThanOrEqual(8);
  expect(() => fitMemory(BUILT_IN, { ...asked, deviceMemory: 2 }, '/nowhere')).toThrow(
    /device: this run needs .* of the card's memory even with .* 2\.0 MB are there/,
  );
});

test('what may be used is never more than the card has: sessions are given up before that', async () => {
  const roomy = planCard(BUILT_IN, onCard(), network, null);
  const megabytes = Math.ceil(roomy.needed / USABLE / 1e6);
  const { plan, changes } = fitMemory(BUILT_IN, onCard({ deviceMemory: megabytes }), '/nowhere');
  expect(changes).toEqual([]);
  expect(plan?.needed).toBe(roomy.needed);
  expect(roomy.most).toBeGreaterThan(megabytes * 1e6);
  expect(plan?.most).toBeLessThanOrEqual(USABLE * megabytes * 1e6);
  const gone = async (deviceMemory: number): Promise<boolean> => {
    const config = onCard({ deviceMemory });
    const pool = sessionPool(BUILT_IN, config, openRun(config).model);
    let evicted = false;
    const held = { bytes: roomy.parts.activations, users: 0, evict: async () => ((evicted = true), pool.remove(held)) };
    pool.add(held);
    await pool.makeRoom(roomy.parts.activations);
    return evicted;
  };
  expect(await gone(megabytes)).toBe(true);
  expect(await gone(10 * megabytes)).toBe(false);
  expect(await gone(0)).toBe(false); // nobody says how much there is
});

test('the memory of the card with a number is read from the list of cards', () => {
  const listed = 'NVIDIA GeForce RTX 4090, 24564\nNVIDIA GeForce RTX 3060, 12288\n';
  expect(readNvidia(listed, 1)).toEqual({ name: 'NVIDIA GeForce RTX 3060', memory: 12288 * 2 ** 20 });
  expect(readNvidia(listed, 2)).toBeUndefined();
});
