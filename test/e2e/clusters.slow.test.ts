// Clusters in the real window, with a real Slurm on this machine: added and tested in Settings, chosen in New run, and the page of
// submissions with states, log, cancel and retry.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SlurmCluster, slurmMissing } from '../cluster/slurm-cluster.ts';
import { accessibilityProblems, launch, visit } from './app.ts';

const missing = slurmMissing();

describe.skipIf(missing !== null)(`clusters in the window${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 1 });
  });
  afterAll(() => slurm.stop());

  test('a cluster is added and tested in Settings, takes a run from New run, and its task is cancelled and retried', async () => {
    const lab = await launch();
    const { page } = lab;
    const patience = { timeout: 90_000 };
    try {
      await visit(lab, '/settings');
      await page.getByRole('button', { name: 'Add a cluster' }).click();
      const form = page.getByRole('form', { name: 'Cluster' });
      await form.getByLabel('Name').fill('here');
      await form.getByLabel('Folder', { exact: true }).fill('relative');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText(/folder: an absolute path/).waitFor();
      await form.getByLabel('Folder', { exact: true }).fill(join(slurm.folder, 'shared'));
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Test this cluster' }).click();
      await page.getByText(/n1 .* ran Astrolab/).waitFor(patience);

      await visit(lab, '/new');
      await page.getByLabel('On', { exact: true }).selectOption('here');
      await page.getByRole('button', { name: 'Submit 1 to here' }).click();
      const tasks = page.getByRole('table', { name: 'Tasks' });
      await tasks.getByText(/^(pending|running)$/).waitFor(patience);
      expect(await accessibilityProblems(lab)).toEqual([]);
      await page.getByRole('button', { name: 'Cancel all' }).click();
      await tasks.getByText('cancelled').waitFor(patience);
      await tasks.getByRole('button', { name: 'Retry' }).click();
      await tasks.getByText(/^(pending|running|requeued)$/).waitFor(patience);
      await tasks.getByText(/^(running|done)$/).waitFor(patience); // a short task may be over before the page looks
      await tasks.getByRole('button', { name: 'Log' }).click();
      await page
        .getByText(/task 0001 on .*, job \d+, restart 0/)
        .first()
        .waitFor(patience);
      lab.noComplaints();
    } finally {
      await lab.close();
    }
  });
});
