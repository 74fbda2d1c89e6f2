// Clusters in the real window, with a real Slurm on this machine that trains: tested in Settings, a run cancelled, retried and its log
// read, and a study from its definition to its verdict. Keeps pictures of the pages where ASTROLAB_PICTURES names a folder.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterSettings, saveCluster } from '../../main/cluster/clusters.ts';
import { Store } from '../../main/store/store.ts';
import { SlurmCluster, slurmMissing } from '../cluster/slurm-cluster.ts';
import { TINY_STUDY } from '../cluster/tiny-study.ts';
import { freshDataFolder, launch, setTheme, visit } from './app.ts';
import type { Lab } from './app.ts';

const missing = slurmMissing();
const patience = { timeout: 300_000 };

describe.skipIf(missing !== null)(`clusters that train, in the window${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  let lab: Lab;
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 2 });
    const data = freshDataFolder();
    const store = Store.open(data);
    saveCluster(store, clusterSettings.parse({ name: 'here', folder: join(slurm.folder, 'shared'), memory: '400' }));
    store.close();
    mkdirSync(join(data, 'studies'));
    writeFileSync(join(data, 'studies', 'tiny.json'), JSON.stringify(TINY_STUDY));
    lab = await launch({ data });
  });
  afterAll(async () => {
    await lab.close();
    await slurm.stop();
  });

  test('it is tested in Settings, takes a run from New run, and its task is cancelled, retried and its log read', async () => {
    const { page } = lab;
    await visit(lab, '/settings');
    await page.getByRole('button', { name: 'Test this cluster' }).click();
    await page.getByText(/n[12] .* ran Astrolab/).waitFor(patience);
    await pictures(lab, 'settings', () => page.getByRole('heading', { name: 'Clusters' }).scrollIntoViewIfNeeded());

    await visit(lab, '/new/preset-shop-tiny');
    await page.getByLabel('On', { exact: true }).selectOption('here');
    await pictures(lab, 'new-run', () => page.getByLabel('On', { exact: true }).scrollIntoViewIfNeeded());
    await page.getByRole('button', { name: 'Show batch script' }).click();
    await page.getByLabel('Batch script').first().waitFor(patience);
    await pictures(lab, 'script');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Submit 1 to here' }).click();
    const tasks = page.getByRole('table', { name: 'Tasks' });
    await tasks.getByText(/^(pending|running)$/).waitFor(patience);
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await tasks.getByText('cancelled', { exact: true }).waitFor(patience);
    await tasks.getByRole('button', { name: 'Retry' }).click();
    await tasks.getByText(/^(running|done)$/).waitFor(patience); // a short task may be over before the page looks
    await tasks.getByRole('button', { name: 'Log' }).click();
    const log = page.getByLabel('Log', { exact: true });
    await log.waitFor(patience);
    await expect.poll(() => log.textContent()).toMatch(/task 0001 on .*, job \d+, restart 0/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    lab.noComplaints();
  });

  test('a study runs on it from its definition to its verdict', async () => {
    const { page } = lab;
    await visit(lab, '/studies');
    await page.getByLabel('Study', { exact: true }).selectOption('tiny');
    await page.getByLabel('On', { exact: true }).selectOption('here');
    await page.getByRole('button', { name: 'Run on here' }).click();
    const said = page.getByLabel('What study tiny says');
    await said.getByText(/tasks on here/).waitFor(patience);
    await pictures(lab, 'study');
    await page.getByText('A tiny policy does not reach the heuristic.').waitFor(patience);
    await pictures(lab, 'study-done');
    await visit(lab, '/clusters');
    await page.getByRole('table', { name: 'Submissions' }).getByText('4 done').waitFor(patience);
    await page.getByRole('table', { name: 'Tasks' }).getByRole('link').nth(3).waitFor(patience);
    await pictures(lab, 'clusters');
    await visit(lab, '/studies');
    await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
    await page.getByRole('heading', { level: 1, name: /Compare|tiny/ }).waitFor(patience);
    await visit(lab, '/');
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'reinforce' }).count()).toBeGreaterThanOrEqual(2);
    lab.noComplaints();
  });
});

/** The page as it is, in both themes and two sizes. */
async function pictures(lab: Lab, name: string, before: () => Promise<void> = async () => {}): Promise<void> {
  const folder = process.env.ASTROLAB_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const [width, height] of [
    [1024, 700],
    [1440, 900],
  ] as const) {
    await lab.app.evaluate(({ BrowserWindow }, size) => BrowserWindow.getAllWindows()[0]?.setContentSize(size[0], size[1]), [
      width,
      height,
    ] as const);
    for (const theme of ['light', 'dark'] as const) {
      await setTheme(lab, theme);
      await before();
      await lab.page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) });
    }
  }
}
