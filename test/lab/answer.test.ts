// The doors between window and lab, without a window: who may call, what is let in, what is let out, how an error crosses.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { answer, type Source } from '../../main/lab/answer.ts';
import { CallFailure, type Feature } from '../../main/lab/definition.ts';
import { calls as system } from '../../main/lab/features/system.ts';
import { calls as worker } from '../../main/lab/features/worker.ts';
import { isTrusted, refusal } from '../../main/shell/origin.ts';

const status = { state: 'stopped', pid: null, restarts: 0, reason: '' } as const;

/** The features system and worker, with these handlers. */
function handlers(change: ReturnType<Feature['handlers']> = {}): Source {
  const all = {
    'system.theme': () => ({ theme: 'dark' }),
    'system.setTheme': ({ theme }: { theme: string }) => ({ theme }),
    'worker.status': () => status,
    ...change,
  };
  const features: Readonly<Record<string, Feature['calls']>> = { system, worker };
  return async (name) => {
    const calls = Object.hasOwn(features, name) ? features[name] : undefined;
    return calls && { calls, handlers: all };
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a call', () => {
  test('from the lab’s page is answered', async () => {
    expect(await answer(handlers(), 'system.setTheme', { theme: 'light' })).toEqual({ ok: true, value: { theme: 'light' } });
  });

  test.each([
    ['https://example.org/', false],
    ['app://astrolab.example.org/index.html', false],
    ['app://other/index.html', false],
    ['file:///etc/passwd', false],
    ['about:blank', false],
    ['app://astrolab/index.html#/runs/1', true],
  ])('from %s is trusted: %s', (url, trusted) => {
    expect(isTrusted(url)).toBe(trusted);
    const forbidden = expect.objectContaining({ ok: false, error: expect.objectContaining({ code: 'forbidden' }) });
    expect(refusal({ url, parent: null })).toEqual(trusted ? null : forbidden);
  });

  test('from a frame that is gone, or is not a top frame, is refused', () => {
    const page = { url: 'app://astrolab/index.html' };
    expect(refusal(null)).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(refusal({ ...page, parent: { ...page, parent: null } })).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  test.each(['system.nothing', 'toString', '__proto__', 42, null])('named %s does not exist', async (name) => {
    expect(await answer(handlers(), name, {})).toMatchObject({ ok: false, error: { code: 'unknown-call' } });
  });

  test.each([
    ['system.setTheme', { theme: 'pink' }],
    ['system.setTheme', { theme: 'dark', extra: 1 }],
    ['system.setTheme', undefined],
    ['system.theme', { surprise: true }],
    ['worker.selfTest', { steps: 0.5 }],
    ['worker.selfTest', { steps: '10' }],
  ])('%s with %j is refused before its handler runs', async (name, input) => {
    expect(await answer(handlers(), name, input)).toMatchObject({ ok: false, error: { code: 'invalid-input' } });
  });
});

describe('an answer', () => {
  test('carries only what the contract lists', async () => {
    const leaky = handlers({ 'worker.status': () => ({ ...status, secret: 'x' }) });
    expect(await answer(leaky, 'worker.status', {})).toEqual({ ok: true, value: status });
  });

  test('that breaks the contract becomes an error of ours', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const broken = handlers({ 'worker.status': () => ({ ...status, restarts: Number.NaN }) });
    const outcome = await answer(broken, 'worker.status', {});
    expect(outcome).toMatchObject({ ok: false, error: { code: 'internal' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain('restarts');
  });
});

describe('an error', () => {
  test('meant for the user keeps its code and hint', async () => {
    const failing = handlers({
      'system.theme': () => {
        throw new CallFailure('busy-run', 'The run is training', 'Stop it first.');
      },
    });
    expect(await answer(failing, 'system.theme', {})).toEqual({
      ok: false,
      error: { code: 'busy-run', message: 'The run is training', hint: 'Stop it first.' },
    });
  });

  test('nobody foresaw crosses as a message, never as a stack', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const failing = handlers({ 'system.theme': () => Promise.reject(new TypeError('x is not a function')) });
    const outcome = await answer(failing, 'system.theme', {});
    expect(outcome).toEqual({ ok: false, error: { code: 'internal', message: 'x is not a function', hint: '' } });
    expect(JSON.stringify(outcome)).not.toContain('answer.test');
    expect(log).toHaveBeenCalledOnce();
  });
});
