// The worker process under the real application: the self-test goes the whole way to the window, and a native crash
// is seen, reported and survived.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';

let lab: Lab;
const status = async () => {
  const outcome = await lab.page.evaluate(() => window.astrolab.call('worker.status', {}));
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
};

describe('the worker process', () => {
  beforeAll(async () => {
    lab = await launch();
  });
  afterAll(() => lab.close());

  test('is not started before someone needs it', async () => {
    expect(await status()).toEqual({ state: 'stopped', pid: null, restarts: 0, reason: '' });
  });

  test('computes 32 · 50 through onnxruntime, with telemetry off, and the window shows it', async () => {
    await visit(lab, '/settings');
    await lab.page.getByRole('button', { name: 'Run self-test' }).click();
    await lab.page.getByText('passed', { exact: true }).waitFor();
    await lab.page.getByText(/^cpu.*; 50 steps in \d+ ms$/).waitFor();
    const outcome = await lab.page.evaluate(() => window.astrolab.call('worker.selfTest', { steps: 50 }));
    expect(outcome).toMatchObject({ ok: true, value: { value: 1600, expected: 1600, telemetryOff: true } });
  });

  test('is another process than the window’s, and its crash leaves the window alive', async () => {
    const before = await status();
    const ours = await lab.app.evaluate(() => process.pid);
    expect(before.state).toBe('ready');
    expect(before.pid).not.toBe(ours);
    process.kill(before.pid ?? 0, 'SIGABRT');
    const after = await until('the restart', async () => {
      const now = await status();
      return now.state === 'ready' && now.restarts === 1 ? now : null;
    });
    expect(after.pid).not.toBe(before.pid);
    expect(after.reason).toBe('signal SIGABRT');
    expect(await shown(lab.page.getByRole('link', { name: 'Worker process: ready, restarted 1×' }))).toBe(true);
  });

  test('computes again after the crash', async () => {
    const outcome = await lab.page.evaluate(() => window.astrolab.call('worker.selfTest', { steps: 2 }));
    expect(outcome).toMatchObject({ ok: true, value: { value: 64, expected: 64 } });
  });

  test('a job under way when it crashes ends with an error that says what to do', async () => {
    const { pid } = await status();
    // Held still, so that the job is surely under way and surely not done when the process dies.
    process.kill(pid ?? 0, 'SIGSTOP');
    const job = lab.page.evaluate(() => window.astrolab.call('worker.selfTest', { steps: 1000 }));
    await status(); // answered after the job has been handed over
    process.kill(pid ?? 0, 'SIGKILL');
    const outcome = await job;
    expect(outcome).toMatchObject({ ok: false, error: { code: 'worker-crashed' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain('ended unexpectedly');
    expect(outcome.ok ? '' : outcome.error.hint).toContain('Resume');
  });

  test('after too many crashes it stays down, says so, and starts again on request', async () => {
    for (;;) {
      const now = await until('a running process or the end', async () => {
        const current = await status();
        return current.state === 'ready' || current.state === 'failed' ? current : null;
      });
      if (now.state === 'failed') break;
      process.kill(now.pid ?? 0, 'SIGKILL');
      await until('the crash to be seen', async () => (await status()).pid !== now.pid);
    }
    expect((await status()).restarts).toBe(3);
    await lab.page.getByRole('button', { name: 'Restart' }).click();
    await until('the process to be ready', async () => (await status()).state === 'ready');
  });
});
