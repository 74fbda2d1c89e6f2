// Training with thoughts, in the world of maths: what is thought is learned from demonstrations, is written token by token before
// the answer, and counts among the agent's tokens. The context is no round number on purpose.

import { expect, test } from 'vitest';
import { train } from '../../main/training/train.ts';
import { smallest, TestHost } from './host.ts';
import { loadPreset } from '../catalog.ts';

const host = new TestHost();

test('thoughts of digits are played, scored and learned in a context that is no round number', async () => {
  const config = smallest({
    world: { name: 'maths', settings: { kind: 'multiplication' } },
    policy: { ...smallest().policy, thoughts: true, thoughtTokens: 56, contextLength: 89 },
    curriculum: { mode: 'updates', every: 2 },
    training: { ...smallest().training, tasks: 60 },
  });
  expect(await train(config, host)).toBe('done');
  const updates = host.reports.flatMap((report) => (report.type === 'update' ? [report] : []));
  expect(updates.map(({ metrics }) => metrics['rollout.level'])).toEqual([0, 0, 1, 1]);
  const steps = updates.flatMap(({ episodes }) => episodes).flatMap((episode) => episode.steps);
  expect(steps).toHaveLength(4 * 8);
  for (const { thought, action, tokens } of steps) {
    expect(action).toMatch(/^\d{1,6}$/);
    // The thought (at most 56 tokens) and its closing mark, the digits and the end mark.
    expect(tokens.ids.length).toBeLessThanOrEqual(56 + 1 + 7);
    // Pieces of a word are joined in the text, so that it has at most as many words as there were tokens.
    expect(tokens.ids.length).toBeGreaterThanOrEqual(thought.split(' ').filter((word) => word !== '').length + 1 + action.length + 1);
    expect(tokens.referenceLogProbs).toHaveLength(tokens.ids.length);
  }
});

test('the maths presets let a whole multiplication or search be thought within the context', () => {
  for (const id of ['maths-multiplication']) {
    const { policy } = loadPreset(id).config;
    expect(policy.thoughts).toBe(true);
    expect(policy.thoughtTokens).toBeGreaterThanOrEqual(56);
    expect(policy.contextLength).toBeGreaterThanOrEqual(30 + policy.thoughtTokens);
  }
});
