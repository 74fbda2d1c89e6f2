// The guard of the border, without a window: who may call, what is let in, what is let out, how an error crosses.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { CallFailure, dispatch } from '../../main/ipc/dispatch.ts';
import type { Caller, Handlers } from '../../main/ipc/dispatch.ts';
import { isTrusted } from '../../main/ipc/origin.ts';
import type { calls } from '../../preload/contract.ts';

const page: Caller = { url: 'app://astrolab/index.html#/settings' };
const status = { state: 'stopped', pid: null, restarts: 0, reason: '' } as const;

function handlers(change: Partial<Handlers<typeof calls>> = {}): Partial<Handlers<typeof calls>> {
  const unused = (): never => {
    throw new Error('not part of this test');
  };
  return {
    'system.about': unused,
    'system.theme': () => ({ theme: 'dark' }),
    'system.setTheme': ({ theme }) => ({ theme }),
    'system.copy': unused,
    'system.showDataFolder': unused,
    'worker.status': () => status,
    'worker.selfTest': unused,
    'worker.restart': unused,
    ...change,
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a call', () => {
  test('from the lab’s page is answered', async () => {
    expect(await dispatch(handlers(), page, 'system.setTheme', { theme: 'light' })).toEqual({ ok: true, value: { theme: 'light' } });
  });

  test.each([
    ['https://example.org/', false],
    ['app://astrolab.example.org/index.html', false],
    ['app://other/index.html', false],
    ['file:///etc/passwd', false],
    ['about:blank', false],
    ['app://astrolab/index.html#/runs/1', true],
  ])('from %s is trusted: %s', async (url, trusted) => {
    expect(isTrusted(url)).toBe(trusted);
    const outcome = await dispatch(handlers(), { ...page, url }, 'system.theme', {});
    expect(outcome.ok ? 'ok' : outcome.error.code).toBe(trusted ? 'ok' : 'forbidden');
  });

  test('from a frame that is gone, or is not a top frame, is refused', async () => {
    expect(await dispatch(handlers(), null, 'system.theme', {})).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  test.each(['system.nothing', 'toString', '__proto__', 42, null])('named %s does not exist', async (name) => {
    expect(await dispatch(handlers(), page, name, {})).toMatchObject({ ok: false, error: { code: 'unknown-call' } });
  });

  test.each([
    ['system.setTheme', { theme: 'pink' }],
    ['system.setTheme', { theme: 'dark', extra: 1 }],
    ['system.setTheme', undefined],
    ['system.theme', { surprise: true }],
    ['worker.selfTest', { steps: 0.5 }],
    ['worker.selfTest', { steps: '10' }],
  ])('%s with %j is refused before its handler runs', async (name, input) => {
    expect(await dispatch(handlers(), page, name, input)).toMatchObject({ ok: false, error: { code: 'invalid-input' } });
  });
});

describe('an answer', () => {
  test('carries only what the contract lists', async () => {
    const leaky = handlers({ 'worker.status': () => ({ ...status, secret: 'x' }) });
    expect(await dispatch(leaky, page, 'worker.status', {})).toEqual({ ok: true, value: status });
  });

  test('that breaks the contract becomes an error of ours', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const broken = handlers({ 'worker.status': () => ({ ...status, restarts: Number.NaN }) });
    const outcome = await dispatch(broken, page, 'worker.status', {});
    expect(outcome).toMatchObject({ ok: false, error: { code: 'internal' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain('restarts');
  });
});

describe('an error', () => {
  test('meant for the user keeps its code and hint', async () => {
    const failing = handlers({
      'system.theme': () => {
        throw new CallFailure('disk-full', 'The disk is full', 'Make room.');
      },
    });
    expect(await dispatch(failing, page, 'system.theme', {})).toEqual({
      ok: false,
      error: { code: 'disk-full', message: 'The disk is full', hint: 'Make room.' },
    });
  });

  test('nobody foresaw crosses as a message, never as a stack', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const failing = handlers({ 'system.theme': () => Promise.reject(new TypeError('x is not a function')) });
    const outcome = await dispatch(failing, page, 'system.theme', {});
    expect(outcome).toEqual({ ok: false, error: { code: 'internal', message: 'x is not a function', hint: '' } });
    expect(JSON.stringify(outcome)).not.toContain('dispatch.test');
    expect(log).toHaveBeenCalledOnce();
  });
});
