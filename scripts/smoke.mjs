// @ts-check
// The smoke test of a packaged application (called by `npm run package -- --smoke`): its command line finds a working
// device and database, its window opens with the right title, and the worker process computes the right number.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { _electron } from 'playwright-core';

const executable = process.argv[2];
assert(
  executable && existsSync(executable),
  `The packaged application ${executable} does not exist: npm run package -- --dev --smoke makes and tests it`,
);
const data = mkdtempSync(join(tmpdir(), 'astrolab-smoke-'));
try {
  await commandLine(executable);
  await window(executable);
  console.log('Smoke test: passed');
} finally {
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
}

/** @param {string} application */
async function commandLine(application) {
  const resources = process.platform === 'darwin' ? join(dirname(application), '..', 'Resources') : join(dirname(application), 'resources');
  const cli = join(resources, 'app.asar', 'out', 'main', 'cli.js');
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
  const lab = async (/** @type {string[]} */ ...words) =>
    JSON.parse((await promisify(execFile)(application, [cli, ...words, '--json', '--data', data], { env })).stdout);
  const { ok, versions, devices } = await lab('doctor');
  assert.equal(ok, true);
  console.log(`Smoke test: doctor is content (Astrolab ${versions.astrolab}, Electron ${versions.electron}, ${devices.length} device(s))`);
  // Several micro-batches: the threads that compute them side by side are started out of the archive.
  const settings = ['training.updates=2', 'training.microBatch=256', 'evaluation.finalTasks=4', 'reference.steps=4'];
  const { state, updates } = await lab('train', '--preset', 'shop-tiny', ...settings.flatMap((setting) => ['--set', setting]));
  assert.deepEqual([state, updates], ['done', 2]);
  console.log('Smoke test: a run trains to its end');
}

/** @param {string} application */
async function window(application) {
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--log-level=3'];
  const app = await _electron.launch({ executablePath: application, args, env: { ...env, ASTROLAB_DATA: data }, timeout: 60_000 });
  try {
    const page = await app.firstWindow();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    assert.match(await page.title(), /Astrolab/);
    assert.equal(await app.evaluate((electron) => electron.app.isPackaged), true);
    const answer = await page.evaluate('window.astrolab.call("worker.selfTest", { steps: 3 })');
    assert.equal(answer.ok, true, `the self-test failed: ${JSON.stringify(answer)}`);
    const { value, expected, backends } = answer.value;
    const about = await page.evaluate('window.astrolab.call("system.about", {})');
    assert.match(about.value.version, /^\d+\.\d+\.\d+/);
    assert(backends.length > 0, 'the self-test names nothing that it computed on');
    assert.equal(value, expected, `the self-test computed ${value} instead of ${expected}`);
    console.log(
      `Smoke test: the window of Astrolab ${about.value.version} opens, and its worker process computes ${value} on ${backends.join(', ')}`,
    );
  } finally {
    await app.close();
  }
}
