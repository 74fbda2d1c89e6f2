// Clusters in the real window, with a real Slurm on this machine that starts nothing (its jobs are held): added in Settings, in the
// navigation from then on, the batch script shown in New run and Studies, a run submitted and cancelled.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SlurmCluster, slurmMissing } from '../cluster/slurm-cluster.ts';
import { accessibilityProblems, closeDialog, gone, launch, resize, stickingOut, visit } from './app.ts';
import type { Lab } from './app.ts';

/** From right to left, with emoji, and with a word that cannot be broken. */
const LONG_NAME = `\u05e0\u05d9\u05e1\u05d5\u05d9 \u{1f9ea}\u{1f600} ${'unbroken'.repeat(14)}`.slice(0, 120);
const missing = slurmMissing();

describe.skipIf(missing !== null)(`clusters in the window${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  let lab: Lab;
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 1 });
    lab = await launch();
  });
  afterAll(async () => {
    await lab.close();
    await slurm.stop();
  });

  test('a cluster is added in Settings, takes a run from New run after its script was read, and the task is cancelled', async () => {
    const { page } = lab;
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Clusters' });
    expect(await gone(link), 'there is no cluster yet').toBe(true);
    await visit(lab, '/settings');
    await page.getByRole('button', { name: 'Add a cluster' }).click();
    const form = page.getByRole('form', { name: 'Cluster' });
    await form.getByLabel('Name').fill('here');
    await form.getByLabel('Folder', { exact: true }).fill('relative');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/folder: an absolute path/).waitFor();
    await form.getByLabel('Folder', { exact: true }).fill(join(slurm.folder, 'shared'));
    await form.getByLabel('Further #SBATCH options').fill('--hold');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await link.waitFor();

    await visit(lab, '/new');
    await page.getByLabel('On', { exact: true }).selectOption('here');
    await page.getByRole('button', { name: 'Show batch script' }).click();
    const dialog = page.getByRole('dialog');
    const script = dialog.getByLabel('Batch script');
    await script.waitFor();
    await expect.poll(() => script.textContent()).toMatch(/^#!\/bin\/bash\n#SBATCH --job-name=astrolab-[\w-]+\n#SBATCH --array=0-0\n/);
    await expect.poll(() => script.textContent()).toMatch(/^#SBATCH --hold$/m);
    expect(await accessibilityProblems(lab)).toEqual([]);
    await closeDialog(lab);
    expect(slurm.run('squeue', '-h')).toBe('');

    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(LONG_NAME);
    await page
      .getByRole('table', { name: /^Changed from/ })
      .getByText(LONG_NAME)
      .waitFor();
    await page.getByRole('button', { name: 'Submit 1 to here' }).click();
    const tasks = page.getByRole('table', { name: 'Tasks' });
    await tasks.getByText('pending', { exact: true }).waitFor();
    expect(slurm.run('squeue', '-h', '-o', '%T %r')).toBe('PENDING JobHeldUser');
    expect(await accessibilityProblems(lab)).toEqual([]);
    for (const [width, height] of [
      [640, 400],
      [1024, 700],
    ] as const) {
      await resize(lab, width, height);
      expect([width, await stickingOut(lab)]).toEqual([width, []]);
    }
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await tasks.getByText('cancelled', { exact: true }).waitFor();
    expect(slurm.run('squeue', '-h')).toBe('');
    lab.noComplaints();
  });

  test('a submission that is damaged is a row that says so, beside the one that is sound', async () => {
    const { page } = lab;
    const folder = join(slurm.folder, 'shared', 'half');
    mkdirSync(folder);
    writeFileSync(join(folder, 'submission.json'), '{');
    await visit(lab, '/clusters');
    const row = page.getByRole('table', { name: 'Submissions' }).getByRole('row', { name: /^half here/ });
    await row.waitFor();
    expect(await row.textContent()).toMatch(/submission\.json is not JSON.*damaged/);
    await page.getByRole('table', { name: 'Submissions' }).getByText('1 cancelled').waitFor();
    expect(await accessibilityProblems(lab)).toEqual([]);
    await resize(lab, 640, 400);
    expect(await stickingOut(lab)).toEqual([]);
    rmSync(folder, { recursive: true });
    await row.waitFor({ state: 'detached' });
    lab.noComplaints();
  });

  test('Studies shows the script of a study for the cluster', async () => {
    const { page } = lab;
    await visit(lab, '/studies');
    await page.getByLabel('Study', { exact: true }).selectOption('old-claims');
    await page.getByLabel('On', { exact: true }).selectOption('here');
    await page.getByLabel('Seeds', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Show batch script' }).click();
    const script = page.getByRole('dialog').getByLabel('Batch script').first();
    await script.waitFor();
    await expect.poll(() => script.textContent()).toMatch(/^#SBATCH --array=0-\d+$/m);
    expect(await accessibilityProblems(lab)).toEqual([]);
    await closeDialog(lab);
    await expect.poll(() => page.getByRole('button', { name: 'Run on here' }).isEnabled()).toBe(true);
    lab.noComplaints();
  });

  test('Studies sets the write-ups’ systems beside what was measured', async () => {
    const { page } = lab;
    await visit(lab, '/studies');
    await page.getByRole('button', { name: 'Show the table' }).click();
    const table = page.getByRole('table', { name: 'The systems of the write-ups' });
    await table.waitFor();
    const row = table.getByRole('row', { name: /^Slides: actor and critic/ });
    await expect.poll(() => row.textContent()).toMatch(/85–90% after its four fixes.*67 of 100.*not run at this size/);
    expect(await accessibilityProblems(lab)).toEqual([]);
    await page.getByRole('button', { name: 'Hide' }).click();
    await table.waitFor({ state: 'hidden' });
    lab.noComplaints();
  });
});
