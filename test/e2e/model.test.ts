// A language model as a policy, in the real window with the real training process: chosen in New run, with its memory planned beside Start,
// trained, and its episode seen in Replay with thought, action and the probability of every token, as the database has them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findTask } from '../../main/environment/game.ts';
import { ModelRegistry } from '../../main/policy/model/files/registry.ts';
import { modelActions } from '../../main/replay/model-player.ts';
import { readReplay } from '../../main/replay/replay.ts';
import { Store } from '../../main/store/store.ts';
import { formatValue } from '../../renderer/format.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { accessibilityProblems, freshDataFolder, launch, stickingOut, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { findWorld } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

let lab: Lab;
const folder = mkdtempSync(join(tmpdir(), 'astrolab-tiny-'));

beforeAll(async () => {
  const data = freshDataFolder();
  writeTinyModel(folder);
  new ModelRegistry(data).add(folder, 'tiny');
  lab = await launch({ data });
});
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => lab.noComplaints());

/** The only field of this key, after the list of settings has narrowed to it. */
async function field(key: string) {
  await lab.page.getByLabel('Find a setting').fill(key);
  const found = lab.page.locator(`[data-key="${key}"]`);
  await until(`the field ${key}`, async () => (await found.count()) === 1);
  return found;
}

test('the preset names a model that is not here: New run says so, and nothing can be planned', async () => {
  await visit(lab, '/new/preset-minimind-lake~quick');
  const error = lab.page.getByRole('list', { name: 'Errors' }).getByRole('button');
  await error.waitFor();
  await expect.poll(() => error.innerText()).toContain('policy.model.name');
  await expect.poll(() => error.innerText()).toContain('minimind2');
  await expect.poll(() => lab.page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
});

test('another model is chosen, its memory is planned, and the run trains to its end', async () => {
  const model = await field('policy.model.name');
  await model.getByRole('combobox').selectOption('tiny');
  const changes = {
    'policy.contextLength': '512',
    'policy.model.answerTokens': '64',
    'policy.thoughtTokens': '8',
    'training.updates': '1',
    'evaluation.finalTasks': '4',
    'evaluation.every': '1',
    'evaluation.tasks': '4',
    'evaluation.temperature': '1',
  };
  for (const [key, value] of Object.entries(changes)) await (await field(key)).getByRole('textbox').fill(value);
  await (await field('policy.thoughts')).getByRole('switch').click();
  await lab.page.getByLabel('Find a setting').fill('');

  const plan = lab.page.getByRole('table', { name: 'Planned memory' });
  await plan.waitFor();
  const rows = await plan.getByRole('row').allInnerTexts();
  expect(rows.map((row) => row.split(/\t|\n/)[0])).toEqual([
    'Weights',
    'Trained parameters',
    'Optimizer',
    'Keys and values',
    'Activations',
    'Process',
  ]);
  expect(await stickingOut(lab)).toEqual([]);
  expect(await accessibilityProblems(lab)).toEqual([]);
  const start = lab.page.getByRole('button', { name: 'Start', exact: true });
  await until('the start button', () => start.isEnabled());
  await start.click();
  await lab.page.getByRole('region', { name: 'Run status' }).waitFor();
  const end = await until('the end of the run', async () => {
    const store = Store.read(lab.data);
    const { state, reason } = store.runs.get(1);
    store.close();
    return ['done', 'failed', 'crashed'].includes(state) && { state, reason };
  });
  expect(end).toMatchObject({ state: 'done' });
  const status = lab.page.getByRole('region', { name: 'Run status' });
  await status
    .getByText(/of 4, temperature 1, update 1$/)
    .first()
    .waitFor();
});

test('once a run has measured it, the memory beside Start is still the sum of the parts below it', async () => {
  await visit(lab, '/new/run-1');
  const summary = lab.page.getByRole('complementary', { name: 'Summary' });
  await summary.getByText('From run 1').waitFor();
  const rows = await summary.getByRole('table', { name: 'Planned memory' }).getByRole('row').allInnerTexts();
  const sum = rows.reduce((total, row) => total + megabytes(row.split('\t')[1] ?? ''), 0);
  const shown = await summary.getByRole('definition').filter({ hasText: 'free' }).first().innerText();
  expect(Math.abs(megabytes(shown.replace('≈ ', '')) / sum - 1), `${shown} beside ${rows.join('; ')}`).toBeLessThan(0.01);
});

/** Of a text that begins with a number of bytes. */
function megabytes(text: string): number {
  const [, number = '', unit = ''] = /^([\d.]+) (kB|MB|GB)/.exec(text) ?? [];
  return Number(number) * ({ kB: 1e-3, MB: 1, GB: 1e3 }[unit] ?? Number.NaN);
}

test('its episode is replayed: thought, action and the probability of every token', async () => {
  const store = Store.read(lab.data);
  const [episode] = store.episodes.page(1, { purpose: 'evaluation', fromUpdate: 1 }, 'steps', true, 1).episodes;
  if (!episode) throw new Error('The run left no episode of its evaluation');
  const [step] = readReplay(store, episode.id).steps;
  store.close();
  if (!step) throw new Error('The episode has no step');
  expect(new Set(step.words.map(({ part }) => part))).toEqual(new Set(['thought', 'action']));

  await visit(lab, `/replay/1/${episode.id}`);
  const action = lab.page.getByRole('region', { name: 'Action' });
  await action.getByText('Thought', { exact: true }).waitFor();
  await action.getByText('Token table').click();
  const rows = action.getByRole('table').locator('tbody tr');
  await until('the table of tokens', async () => (await rows.count()) === step.words.length);
  const texts = await rows.allInnerTexts();
  for (const [index, { text, probability }] of step.words.entries()) {
    expect(texts[index]).toContain(text.trim());
    expect(texts[index]).toContain(formatValue(probability ?? Number.NaN, 'share'));
  }
  expect(await accessibilityProblems(lab)).toEqual([]);
});

test('it plays on in Play: one action, then to the end, as the same model does without the window', async () => {
  await visit(lab, '/play/bandit');
  const score = lab.page.getByRole('complementary', { name: 'Score' });
  const steps = score.getByTestId('steps');
  await score.getByRole('combobox', { name: 'Language model' }).selectOption('tiny');
  await score.getByRole('button', { name: 'Let it play one action' }).click();
  await until('its first action', async () => (await steps.innerText()) === '1');
  const episode = lab.page.getByRole('region', { name: 'Episode' });
  await episode.getByText('model', { exact: true }).waitFor();
  await score.getByRole('button', { name: 'Let the model finish' }).click();
  await episode.getByRole('status').waitFor();

  const answer = await lab.page.evaluate(() => window.astrolab.call('play.game', {}));
  const game = answer.ok ? answer.value.game : null;
  if (!game) throw new Error('There is no game');
  expect(game.moves.every(({ by, valid }) => by === 'model' && valid)).toBe(true);
  const world = findWorld('bandit');
  const environment = world.create(world.settings.parse({}));
  const task = findTask(environment, game.task.id);
  if (!task) throw new Error('There is no such task');
  expect(game.moves.map(({ action }) => action)).toEqual(
    await modelActions(BUILT_IN, world, environment, task, { dataFolder: lab.data, model: 'tiny' }),
  );
  expect(await accessibilityProblems(lab)).toEqual([]);
});
