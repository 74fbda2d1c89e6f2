// What the window does after an unclean end: it offers the interrupted run once, asks before it drops a record, and looks for damage on request.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Store } from '../../main/store/store.ts';
import { newRun } from '../store/samples.ts';
import { freshDataFolder, type Lab, launch, visit } from './app.ts';

let lab: Lab;
beforeAll(async () => {
  const data = freshDataFolder();
  const store = Store.open(data);
  // As a loss of power leaves it: still "running", with nobody who trains it.
  const { id } = store.runs.create(newRun());
  store.runs.change(id, { state: 'running', position: null, startedAt: 1 });
  const lost = store.runs.create(newRun()).id;
  store.runs.change(lost, { state: 'paused', position: null, updates: 2 });
  store.close();
  lab = await launch({ data });
});
afterAll(() => lab.close());
afterEach(() => lab.noComplaints());

test('a run that an unclean end interrupted is offered for resuming', async () => {
  await lab.page.getByText('Run 1 was interrupted').first().waitFor();
  await lab.page.getByRole('button', { name: 'Resume' }).first().waitFor();
  const store = Store.read(lab.data);
  expect(store.runs.get(1)).toMatchObject({ state: 'interrupted' });
  store.close();
});

test('a run without a sound checkpoint is not resumed from nothing: the window asks', async () => {
  await visit(lab, '/runs/2');
  await lab.page.getByRole('main').getByRole('button', { name: 'Resume', exact: true }).click();
  const messages = lab.page.getByRole('region', { name: /^Messages/ });
  await messages.getByText('No checkpoint can be read').waitFor();
  await messages.getByText('Starting again drops what it recorded.').waitFor();
  await messages.getByRole('button', { name: 'Restart from the beginning' }).waitFor();
  const store = Store.read(lab.data);
  expect(store.runs.get(2)).toMatchObject({ state: 'paused', updates: 2 });
  store.close();
});

test('Check for damage says that nothing is damaged, or what and where', async () => {
  await visit(lab, '/settings');
  const check = lab.page.getByRole('button', { name: 'Check for damage' });
  await check.click();
  await lab.page.getByText('Nothing is damaged.').waitFor();
  const store = Store.open(lab.data);
  store.references.add({ recipe: 'r', sha256: '0'.repeat(64), file: 'references/gone.safetensors', bytes: 1, world: 'shop', details: {} });
  store.close();
  await check.click();
  await lab.page.getByText('1 damaged; first: references/gone.safetensors: the file is missing.').waitFor();
});
