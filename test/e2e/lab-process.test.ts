// The lab's process is killed while it idles, trains, imports and exports: the window says so, shows where it was, and nothing recorded is lost.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importFile, verifyExport } from '../../main/interchange/import.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { processStart } from '../../main/store/locks.ts';
import { Store } from '../../main/store/store.ts';
import { accessibilityProblems, freshDataFolder, launch, readStore, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { Hold } from './hold.ts';
import { seed } from './seeded.ts';
import { applyOverrides, loadPreset } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const RUNS = 12;
const UPDATES = 6;

let lab: Lab;
const hold = new Hold();
/** Runs of another lab, as a file. */
let file: string;
const scratch = mkdtempSync(join(tmpdir(), 'astrolab-kill-'));
const stored = <T>(read: (store: Store) => T): T => readStore(lab.data, read);
const labPid = () =>
  until('the lab’s process', () => lab.app.evaluate(({ app }) => app.getAppMetrics().find(({ name }) => name === 'Astrolab lab')?.pid));

/** What the page said as an alert, from now on. */
const watchAlerts = () =>
  lab.page.evaluate(() => {
    const said: string[] = [];
    Reflect.set(globalThis, 'alerts', said);
    new MutationObserver(() => {
      for (const alert of document.querySelectorAll('[role="alert"]')) if (!said.includes(alert.textContent)) said.push(alert.textContent);
    }).observe(document.body, { childList: true, subtree: true });
  });
const alerts = () => lab.page.evaluate(() => String(Reflect.get(globalThis, 'alerts')));

/** Ends the lab's process hard, and waits for the next one. */
async function killLab(): Promise<void> {
  const pid = await labPid();
  process.kill(pid, 'SIGKILL');
  await nextLab(pid);
}

async function nextLab(pid: number): Promise<void> {
  await until('another process', async () => (await labPid()) !== pid);
  await lab.page.getByText('The lab is running again').last().waitFor();
}

beforeAll(async () => {
  const elsewhere = freshDataFolder();
  seed(
    elsewhere,
    Array.from({ length: RUNS }, (_, index) => ({ variant: 'grpo', seed: index + 1, agent: 'oracle' as const })),
    20,
  );
  file = join(scratch, 'runs.astrolab');
  const store = Store.open(elsewhere);
  exportRuns(
    store,
    store.runs.list().map(({ id }) => id),
    file,
  );
  store.close();
  rmSync(elsewhere, { recursive: true, force: true });
  lab = await launch(hold.options);
});
afterAll(async () => {
  await lab.close();
  hold.end();
  rmSync(scratch, { recursive: true, force: true });
});
afterEach(async () => {
  lab.noComplaints();
  // A lab that ends again and again within a minute stays down, so each test has its own application.
  await lab.close({ keep: true });
  lab = await launch({ data: lab.data, ...hold.options });
});

describe('the lab’s process is killed', () => {
  test('while it idles: the window says so, stays where it was, and is answered again', async () => {
    await visit(lab, '/settings');
    await watchAlerts();
    await killLab();
    expect(await alerts()).toContain(
      'The lab’s process ended unexpectedly (exit code 9) and is starting again. What was recorded is safe.',
    );
    expect(await lab.page.evaluate(() => window.location.hash)).toBe('#/settings');
    expect(await shown(lab.page.getByText(lab.data).first())).toBe(true);
    expect(await lab.page.locator('[role="alert"]').count()).toBe(0);
  });

  test('while a run trains: the run continues by itself and has the numbers of one that was never interrupted', async () => {
    const config = applyOverrides(loadPreset('shop-tiny').config, [
      `training.updates=${UPDATES}`,
      'reference.demonstrations=32',
      'reference.checkTasks=2',
      'evaluation.finalTasks=4',
      'checkpoints.every=2',
      'threads=1',
    ]);
    const add = () =>
      lab.page.evaluate(
        (tree) => window.astrolab.call('queue.add', { order: { config: tree, seeds: '1', sweep: [] }, preset: 'shop-tiny', tags: [] }),
        JSON.parse(JSON.stringify(config)),
      );
    hold.at('"type":"update","update":3');
    await add();
    await visit(lab, '/runs/1');
    const pid = await labPid();
    let trainer = 0;
    await hold.during(async (own) => {
      trainer = own;
      process.kill(pid, 'SIGKILL');
    });
    await nextLab(pid);
    await until('the training process to end', async () => processStart(trainer) === undefined);
    await until('the run to be done', async () => stored((store) => store.runs.get(1).state) === 'done');
    await lab.page.getByRole('region', { name: 'Run status' }).getByText('done').waitFor();
    await expect.poll(() => lab.page.getByTestId('updates').innerText()).toBe(String(UPDATES));
    expect(stored((store) => store.events.list(1).map(({ text }) => text)).join('\n')).toMatch(/Resumed from update [2-6]/);
    await add();
    await until('the other run to be done', async () => stored((store) => store.runs.get(2).state) === 'done');
    const numbers = (run: number) =>
      stored((store) =>
        store.metrics
          .names(run)
          .filter((name) => !name.startsWith('system/'))
          .map((name) => [name, store.metrics.series(run, name)]),
      );
    expect(numbers(1)).toEqual(numbers(2));
  });

  test('while it imports: all of the runs are there or none, and the same file can be imported again', async () => {
    await visit(lab, '/');
    const importing = lab.page.evaluate(
      (path) =>
        new Promise<string>((resolve) => {
          const stop = window.astrolab.listen('transfer.progress', () => {
            stop();
            document.body.dataset.imports = 'true';
          });
          void window.astrolab.call('transfer.import', { file: path }).then((outcome) => resolve(outcome.ok ? 'done' : outcome.error.code));
        }),
      file,
    );
    await until('the import', () => lab.page.evaluate(() => document.body.dataset.imports));
    await killLab();
    expect(['done', 'lab-stopped']).toContain(await importing);
    expect([2, 2 + RUNS]).toContain(stored((store) => store.runs.list().length));
    const again = await lab.page.evaluate((path) => window.astrolab.call('transfer.import', { file: path }), file);
    expect(again).toMatchObject({ ok: true });
    expect(stored((store) => store.runs.list().length)).toBe(2 + RUNS);
    const folders = readdirSync(join(lab.data, 'checkpoints'));
    expect(folders.filter((uid) => stored((store) => store.runs.findByUid(uid)) === undefined)).toEqual([]);
  });

  test('while it exports: no half file takes the place of a whole one, and the export can be made again', async () => {
    const target = join(scratch, 'exported.astrolab');
    await lab.app.evaluate(({ dialog }, filePath) => {
      dialog.showSaveDialog = async () => ({ canceled: false, filePath });
    }, target);
    const exportAll = () =>
      lab.page.evaluate(
        (runs) => window.astrolab.call('transfer.export', { runs, checkpoints: true }),
        stored((store) => store.runs.list().map(({ id }) => id)),
      );
    const begun = (): boolean => readdirSync(scratch).some((name) => /exported.*\.part$/.test(name));
    for (;;) {
      const exporting = exportAll();
      let over = false;
      void exporting.then(() => (over = true));
      await until('the beginning of the file', async () => over || begun());
      const pid = await labPid();
      if (begun()) process.kill(pid, 'SIGKILL');
      const first = await exporting;
      if (first.ok) continue; // it was faster than this test: once more
      expect(first.error.code).toBe('lab-stopped');
      await nextLab(pid);
      break;
    }
    if (existsSync(target)) verifyExport(BUILT_IN, target);
    expect(await exportAll()).toMatchObject({ ok: true, value: { file: target } });
    const elsewhere = freshDataFolder();
    const store = Store.open(elsewhere);
    expect(importFile(store, target).runs).toHaveLength(2 + RUNS);
    store.close();
    rmSync(elsewhere, { recursive: true, force: true });
  });

  test('again and again: it stays down, the window says so, and starts it on request', async () => {
    const failed = lab.page.getByText('The lab’s process ended several times within a minute');
    for (;;) {
      const pid = await until('the lab’s process, or its failure', async () =>
        (await failed.isVisible())
          ? 'failed'
          : lab.app.evaluate(({ app }) => app.getAppMetrics().find(({ name }) => name === 'Astrolab lab')?.pid),
      );
      if (pid === 'failed') break;
      if (processStart(Number(pid)) !== undefined) process.kill(Number(pid), 'SIGKILL');
      await until('its end', async () => processStart(Number(pid)) === undefined);
    }
    const refused = await lab.page.evaluate(() => window.astrolab.call('runs.list', {}));
    expect(refused).toMatchObject({ ok: false, error: { code: 'lab-stopped' } });
    expect(await accessibilityProblems(lab)).toEqual([]);
    await lab.page.getByRole('button', { name: 'Start the lab' }).click();
    await failed.waitFor({ state: 'detached' });
    expect(await shown(lab.page.locator('tr[data-run="1"]'))).toBe(true);
  });
});
