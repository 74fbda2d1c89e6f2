// What a researcher does, in the real window with the real training process: set up a run from a preset, watch it,
// pause, take one update, resume, see it done; then filter the list, delete and undo. Numbers on screen are held
// against the database that the training process filled.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { estimateRun } from '../../main/queue/estimate.ts';
import { wilson } from '../../main/base/statistics.ts';
import { processStart } from '../../main/store/locks.ts';
import { Store } from '../../main/store/store.ts';
import { accessibilityProblems, closeDialog, launch, readStore, setTheme, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { Hold } from './hold.ts';
import { loadPreset } from '../catalog.ts';

let lab: Lab;
const hold = new Hold();
const UPDATES = 6;
const FINAL_TASKS = 100;

const stored = <T>(read: (store: Store) => T): T => readStore(lab.data, read);
const state = async (run: number, ...wanted: string[]) =>
  until(`run ${run} to be ${wanted.join(' or ')}`, async () => wanted.includes(stored((store) => store.runs.get(run).state)));
const button = (name: string) => lab.page.getByRole('button', { name, exact: true });
const row = (run: number) => lab.page.locator(`tr[data-run="${run}"]`);
const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

/** Fills a field of the form as a user does: finds the setting, then types. */
async function setField(key: string, label: string, value: string): Promise<void> {
  await lab.page.getByLabel('Find a setting').fill(key);
  const field = lab.page.getByLabel(label, { exact: true });
  // The list narrows a moment after the typing; two groups may have a field of that name.
  await until(`only one field “${label}” to be left`, async () => (await field.count()) === 1);
  await field.fill(value);
}

beforeAll(async () => {
  lab = await launch(hold.options);
});
afterAll(async () => {
  await lab.close();
  hold.end();
});
afterEach(() => lab.noComplaints());

describe('setting a run up', () => {
  test('a preset shows where it departs from its source, and has a quick version', async () => {
    await visit(lab, '/new/preset-webshop-apo');
    await lab.page.getByText('differences from its source').click();
    const differences = lab.page.getByRole('list', { name: 'Differences from its source' });
    await expect.poll(() => differences.getByRole('listitem').count()).toBeGreaterThan(3);
    await lab.page.getByLabel('Size', { exact: true }).selectOption('quick');
    await lab.page.getByText('from preset webshop-apo, quick', { exact: true }).waitFor();
    await lab.page.getByText('--set training.updates=20').waitFor();
  });

  test('a wrong value says what is expected, and nothing can be started', async () => {
    await visit(lab, '/new/preset-shop-tiny');
    await setField('training.learningRate', 'Learning rate', '7');
    await lab.page.getByText('Enter at most 1').first().waitFor();
    await expect.poll(() => button('Start').isDisabled()).toBe(true);
    // From the error to its field.
    await lab.page.getByLabel('Find a setting').fill('');
    await lab.page.getByRole('list', { name: 'Errors' }).getByRole('button').click();
    // The reference has a learning rate too: the one with the error is meant.
    const field = lab.page.locator('input[aria-invalid="true"]');
    await until('the focus in the field', () => field.evaluate((element) => element === document.activeElement));
    await expect.poll(() => field.inputValue()).toBe('7');
  });

  test('changes are listed against the preset, seeds multiply the runs, and the command says the same', async () => {
    await visit(lab, '/new/preset-shop-tiny');
    await lab.page.getByRole('button', { name: 'Discard all changes' }).click();
    await setField('training.learningRate', 'Learning rate', '0.004');
    const changes = lab.page.getByRole('table', { name: 'Changed from preset shop-tiny' });
    expect(await shown(changes.getByText('0.004'))).toBe(true);
    await lab.page.getByLabel('Seeds', { exact: true }).fill('1-3');
    expect(await shown(button('Start 3 runs'))).toBe(true);
    await lab.page.getByText('for seed in 1 2 3; do npm run lab -- train --preset shop-tiny').waitFor();
    await lab.page.getByText('--set training.learningRate=0.004').waitFor();
    // A sweep from a range: every value with every seed, listed before anything starts, and the same as a command.
    await button('Sweep a setting').click();
    await lab.page.getByLabel('Swept setting', { exact: true }).fill('training.temperature');
    await button('Fill from a range…').click();
    const range = lab.page.getByRole('group', { name: 'Range of values' });
    for (const [name, value] of [
      ['From', '0.5'],
      ['To', '2'],
      ['Count', '3'],
    ] as const)
      await range.getByLabel(name, { exact: true }).fill(value);
    await range.getByRole('button', { name: 'Fill in' }).click();
    await expect.poll(() => lab.page.getByLabel('Values of training.temperature').inputValue()).toBe('0.5, 1, 2');
    expect(await shown(button('Start 9 runs'))).toBe(true);
    await lab.page
      .getByRole('list', { name: 'Runs of this order' })
      .getByText('shop-tiny, temperature 0.5, seed 1', { exact: true })
      .waitFor();
    await button('Remove sweep').click();
    await button('Start 3 runs').waitFor();
    await lab.page.getByLabel('Seeds', { exact: true }).fill('3-1');
    expect(await shown(lab.page.getByText('“3-1” runs backwards; write 1-3', { exact: true }))).toBe(true);
  });
});

describe('what it will cost', () => {
  test('says what it rests on before anything was measured here, and after the probe', async () => {
    await visit(lab, '/');
    await visit(lab, '/new/preset-shop-tiny');
    const cost = lab.page.getByRole('region', { name: 'Estimated cost' });
    const { basis } = stored((store) => estimateRun(store, loadPreset('shop-tiny').config));
    expect(basis).toMatch(/^No estimate yet|with one thread on another machine/);
    await cost.getByText(basis, { exact: true }).waitFor();
    const entry = lab.page.getByRole('radio', { name: /^Shop, tiny/ });
    await button('Measure on this machine').click();
    const measured = cost.getByRole('status');
    await measured.waitFor();
    await expect.poll(() => measured.innerText()).toMatch(/^Measured in .+: .+ s per update, .+ MB of memory\.$/);
    await cost.getByText('a probe of two updates with this config').waitFor();
    await expect.poll(() => cost.locator('dd').first().innerText()).toMatch(/^≈ /);
    await until('the time of this machine in the list', async () => /≈ [^*]+$/.test(await entry.innerText()));
    // Nothing of it is in the list.
    expect(stored((store) => store.runs.list().length)).toBe(0);
  });
});

/** The process that trains a run. */
const trainerOf = (run: number): number | null => stored((store) => store.locks.holder(run)?.trainerPid ?? null);
/** Calls are taken in turn: when this one is answered, those before it have been handed over. */
const answered = () => lab.page.evaluate(() => window.astrolab.call('worker.status', {}));

describe('a run from preset to done', () => {
  test('starts from the form and opens where it can be watched', async () => {
    await visit(lab, '/');
    await visit(lab, '/new/preset-shop-tiny');
    await setField('reference.demonstrations', 'Demonstrations', '32');
    await setField('reference.checkTasks', 'Check tasks', '2');
    await setField('training.updates', 'Updates', String(UPDATES));
    await setField('evaluation.finalTasks', 'Final tasks', String(FINAL_TASKS));
    await setField('threads', 'Threads', '1');
    await lab.page.getByLabel('Find a setting').fill('');
    await until('the start button', () => button('Start').isEnabled());
    hold.at('"type":"update"');
    await button('Start').click();
    await lab.page.getByRole('region', { name: 'Run status' }).waitFor();
    expect(stored((store) => store.runs.get(1))).toMatchObject({ variant: 'astar-po', preset: 'shop-tiny', planned: UPDATES });
  });

  test('pauses after the update under way, takes one more, and waits again', async () => {
    await hold.during(async () => {
      await lab.page.getByRole('region', { name: 'Run status' }).getByText('running').waitFor();
      await lab.page
        .getByRole('region', { name: 'Training now' })
        .getByRole('link', { name: /^Run 1 shop-tiny/ })
        .waitFor();
      // Nothing beside it calls the lab idle.
      expect(await lab.page.getByRole('link', { name: /^Worker process: / }).count()).toBe(0);
      const stages = lab.page.getByRole('list', { name: 'Stages' });
      await expect.poll(() => stages.getByRole('listitem').allInnerTexts()).toEqual(['Reference', 'V*', 'Training', 'Test']);
      expect(await shown(stages.locator('li[aria-current="step"]'))).toBe(true);
      // Quitting while it trains asks first, and "Keep training" keeps everything.
      await lab.app.evaluate(({ app, dialog }) => {
        dialog.showMessageBoxSync = ((options: { message: string }) => {
          process.env.ASKED = options.message;
          return 0;
        }) as typeof dialog.showMessageBoxSync;
        app.quit();
      });
      expect(await until('the question', () => lab.app.evaluate(() => process.env.ASKED))).toBe('A run is training.');
      expect(await lab.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
      await button('Pause').click();
      await answered();
    });
    await button('Step one update').waitFor();
    const before = stored((store) => store.runs.get(1));
    expect(before.state).toBe('paused');
    expect(await shown(lab.page.getByText(`Paused after update ${before.updates}`).first())).toBe(true);
    await button('Step one update').click();
    await until('one more update', async () => stored((store) => store.runs.get(1).updates) === before.updates + 1);
    await state(1, 'paused');
    await expect.poll(() => lab.page.getByTestId('updates').innerText()).toBe(String(before.updates + 1));
  });

  test('resumes, and pauses during the final evaluation too', async () => {
    hold.at('evaluating on test tasks');
    await button('Resume').click();
    await hold.during(async () => {
      await lab.page.getByRole('list', { name: 'Stages' }).locator('li[aria-current="step"]').filter({ hasText: 'Test' }).waitFor();
      await button('Pause').click();
      await lab.page.getByText('pausing after the work under way').waitFor();
      await answered();
    });
    await button('Step one update').waitFor();
    expect(stored((store) => store.runs.get(1))).toMatchObject({ state: 'paused', updates: UPDATES, test: null });
    expect(await shown(lab.page.getByText(`Paused after update ${UPDATES}`).first())).toBe(true);
  });

  test('resumes, and ends with the numbers that the database has', async () => {
    await button('Resume').click();
    await state(1, 'done');
    const { run, success, loss } = stored((store) => ({
      run: store.runs.get(1),
      success: store.metrics.series(1, 'rollout.success'),
      loss: store.metrics.series(1, 'loss'),
    }));
    expect(run.updates).toBe(UPDATES);
    expect([...success.updates]).toEqual([1, 2, 3, 4, 5, 6]);
    const figure = lab.page.getByRole('figure', { name: 'Success' });
    await expect
      .poll(() => figure.getByRole('button', { name: /Training success/ }).innerText())
      .toContain(percent(success.values.at(-1) ?? 0));
    const { k, n } = run.test ?? { k: 0, n: 0 };
    expect(n).toBe(FINAL_TASKS);
    const { rate, low, high } = wilson(k, n);
    const overview = lab.page.getByRole('region', { name: 'Run status' });
    await overview.getByText(percent(rate)).first().waitFor();
    await overview.getByText(`${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}%, ${k} of ${n}`).waitFor();
    const drawn = async (): Promise<number> => {
      const entry = await lab.page.getByRole('figure', { name: 'Loss' }).getByRole('button', { name: /^Loss/ }).innerText();
      return Number(entry.split('\n').at(-1)?.replace('−', '-'));
    };
    await expect.poll(drawn).toBeCloseTo(loss.values.at(-1) ?? Number.NaN, 2);
  });

  test('a point of a chart leads to exactly the episodes behind it', async () => {
    const plot = lab.page.getByRole('group', { name: /^Success, chart/ });
    await plot.focus();
    await lab.page.keyboard.press('ArrowRight');
    await lab.page.keyboard.press('Enter');
    await lab.page.getByRole('dialog', { name: 'Episodes of update 1' }).waitFor();
    const list = lab.page.getByRole('list', { name: 'Episodes behind the point' });
    await list.waitFor();
    const expected = stored((store) => store.episodes.page(1, { purpose: 'train', fromUpdate: 1, toUpdate: 1 }));
    await expect.poll(() => list.getByRole('listitem').count()).toBe(expected.total);
    const first = await list.getByRole('link').first().getAttribute('href');
    expect(first).toBe(`#/replay/1/${expected.episodes.at(-1)?.id}`);
    await closeDialog(lab);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing on Live, Runs and New run with data in the %s theme', async (theme) => {
    await setTheme(lab, theme);
    for (const address of ['/runs/1', '/', '/new/run-1']) {
      await visit(lab, address);
      expect([address, await accessibilityProblems(lab, theme)]).toEqual([address, []]);
    }
  });
});

describe('the list', () => {
  /** An .astrolab file of run 1. */
  let exported = '';

  test('queues further runs, which can be reordered by key and taken out', async () => {
    await visit(lab, '/new/run-1');
    await lab.page.getByText('from run 1 “shop-tiny”', { exact: true }).waitFor();
    // More than the first one trains before it is stopped.
    await setField('training.updates', 'Updates', '100000');
    await lab.page.getByLabel('Find a setting').fill('');
    const seeds = lab.page.getByLabel('Seeds', { exact: true });
    await seeds.fill('11-14');
    await lab.page.getByLabel('Tags', { exact: true }).fill('batch');
    await until('four runs to start', () => button('Start 4 runs').isEnabled());
    await button('Start 4 runs').click();
    // What was queued is not queued again, by button or by key; a change makes it another order.
    await button('Queue again').waitFor();
    expect(await lab.page.getByRole('button', { name: /^(Start|Queue) 4 runs$/ }).count()).toBe(0);
    await lab.page.keyboard.press('Control+Enter');
    await seeds.fill('15');
    await until('another order', () => button('Add to queue').isEnabled());
    await seeds.fill('11-14');
    await button('Queue again').waitFor();
    expect(stored((store) => store.runs.list().map(({ id, tags }) => `${id} ${tags.join()}`))).toEqual([
      '5 batch',
      '4 batch',
      '3 batch',
      '2 batch',
      '1 ',
    ]);
    await state(2, 'running');
    const waiting = lab.page.getByRole('list', { name: 'Queued runs, in order' });
    await waiting.getByRole('listitem').nth(2).focus();
    await lab.page.keyboard.press('Alt+ArrowUp');
    await until('run 5 before run 4', async () => stored((store) => store.runs.queue().map(({ id }) => id)).join() === '3,5,4');
    await visit(lab, '/queue');
    await lab.page.getByRole('list', { name: 'Training runs' }).waitFor();
    for (const theme of ['light', 'dark'] as const) {
      await setTheme(lab, theme);
      expect(await accessibilityProblems(lab, theme)).toEqual([]);
    }
    for (const run of [3, 4, 5]) await lab.page.getByRole('button', { name: `Remove run ${run} from the queue` }).click();
    await until('an empty queue', async () => stored((store) => store.runs.queue().length) === 0);
    await visit(lab, '/runs/2');
    await button('Stop').click();
    await state(2, 'stopped', 'done');
  });

  test('filters by text and says how many fit', async () => {
    await visit(lab, '/');
    await row(1).waitFor();
    await lab.page.getByLabel('Filter by text').fill('seed:12');
    await row(1).waitFor({ state: 'detached' });
    await expect.poll(() => row(3).locator('td').allInnerTexts()).toContain('12');
    await lab.page.getByText('1 of 5 shown').waitFor();
    await lab.page.getByLabel('Filter by text').fill('');
    await row(1).waitFor();
  });

  test('a filter saved under a name comes back from the menu after leaving the page, and can be deleted with undo', async () => {
    const menu = button('Saved filters');
    const choose = async (name: string): Promise<void> => {
      await menu.click();
      await lab.page.getByRole('menuitem', { name }).click();
    };
    await lab.page.getByLabel('Filter by text').fill('seed:12');
    await row(1).waitFor({ state: 'detached' });
    await choose('Save current filter…');
    const dialog = lab.page.getByRole('dialog', { name: 'Save filter' });
    await dialog.getByLabel('Name').fill('the twelfth');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await lab.page.getByLabel('Filter by text').fill('');
    await row(1).waitFor();
    await visit(lab, '/settings');
    await visit(lab, '/');
    await choose('the twelfth');
    await lab.page.getByText('1 of 5 shown').waitFor();
    await expect.poll(() => lab.page.getByLabel('Filter by text').inputValue()).toBe('seed:12');
    await choose('Delete “the twelfth”');
    await lab.page.getByRole('button', { name: 'Undo' }).click();
    await lab.page.getByLabel('Filter by text').fill('');
    await row(1).waitFor();
    await menu.click();
    expect(await shown(lab.page.getByRole('menuitem', { name: 'the twelfth' }))).toBe(true);
    await lab.page.keyboard.press('Escape');
  });

  test('a right-click stars a run and opens its name and notes; the file it exports can be imported', async () => {
    await row(3).click({ button: 'right' });
    await lab.page.getByRole('menuitem', { name: 'Star', exact: true }).click();
    await until('the star', async () => stored((store) => store.runs.get(3).tags.includes('starred')));
    await row(3).click({ button: 'right' });
    await lab.page.getByRole('menuitem', { name: 'Rename and notes…' }).click();
    await lab.page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('renamed here');
    await lab.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await row(3).getByText('renamed here').waitFor();
    const file = join(mkdtempSync(join(tmpdir(), 'astrolab-export-')), 'one.astrolab');
    await lab.app.evaluate(({ dialog }, path) => {
      dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: path });
    }, file);
    await row(1).click({ button: 'right' });
    await lab.page.getByRole('menuitem', { name: 'Export…' }).click();
    await lab.page
      .getByText(/^Run exported \(/)
      .first()
      .waitFor();
    const again = await lab.page.evaluate((path) => window.astrolab.call('transfer.import', { file: path }), file);
    expect(again).toMatchObject({ ok: true, value: { runs: [1], study: null } });
    exported = file;
  });

  test('a file that is dropped on the window is imported, and its run opens', async () => {
    // A file with a path, as the system's file manager gives it: one chosen through an input has it too.
    const input = await lab.page.evaluateHandle(() => {
      const element = document.createElement('input');
      element.type = 'file';
      return element;
    });
    await input.setInputFiles(exported);
    await lab.page.evaluate((element) => {
      const [file] = element.files ?? [];
      const dataTransfer = new DataTransfer();
      if (file) dataTransfer.items.add(file);
      const event = { dataTransfer, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new DragEvent('dragover', event));
      document.body.dispatchEvent(new DragEvent('drop', event));
    }, input);
    await lab.page.getByText('Run 1 imported', { exact: true }).first().waitFor();
    expect(await shown(lab.page.getByRole('region', { name: 'Run status' }))).toBe(true);
    await expect.poll(() => lab.page.evaluate(() => window.location.hash)).toBe('#/runs/1');
    await visit(lab, '/');
    await row(3).waitFor();
  });

  test('deletes the selected runs and Undo brings them back', async () => {
    await row(3).locator('td').first().click();
    await row(4).locator('td').first().click();
    await lab.page.getByText('2 selected').waitFor();
    await button('Delete').click();
    await row(3).waitFor({ state: 'detached' });
    expect(stored((store) => store.runs.list({ deleted: true }).map(({ id }) => id))).toEqual([4, 3]);
    await lab.page.getByRole('button', { name: 'Undo' }).click();
    await row(3).waitFor();
    expect(stored((store) => store.runs.list().length)).toBe(5);
  });

  test('a paused run has no process; it can be deleted, and Undo brings it back, paused', async () => {
    hold.at('"type":"update"');
    await lab.page.evaluate(() => window.astrolab.call('queue.steer', { run: 5, action: 'step' }));
    let trainer = 0;
    await hold.during(async (pid) => {
      trainer = pid;
      expect(trainerOf(5)).toBe(pid);
    });
    await state(5, 'paused');
    await until('no training process', async () => trainerOf(5) === null && processStart(trainer) === undefined);
    await row(5).locator('td').first().click();
    await button('Delete').click();
    await row(5).waitFor({ state: 'detached' });
    expect(stored((store) => [store.runs.get(5).state, store.runs.list().length])).toEqual(['paused', 4]);
    expect(await row(5).count()).toBe(0);
    await lab.page.getByRole('button', { name: 'Undo' }).click();
    expect(await shown(row(5).getByText('paused'))).toBe(true);
  });

  test('groups by a setting, and moves and opens by key', async () => {
    await lab.page.getByLabel('Group by').selectOption('seed');
    expect(await shown(lab.page.locator('tr[aria-expanded]').nth(4))).toBe(true);
    await lab.page.getByLabel('Group by').selectOption('');
    await row(5).waitFor();
    await lab.page.getByRole('grid', { name: 'Runs' }).focus();
    await lab.page.keyboard.press('End');
    await lab.page.keyboard.press('Enter');
    expect(await shown(lab.page.getByText('#1 · astar-po · shop · seed 1 · cpu'))).toBe(true);
  });

  test('what another process changes is seen without asking: a terminal beside the window', async () => {
    await visit(lab, '/');
    const terminal = Store.open(lab.data);
    const { name } = terminal.runs.get(1);
    terminal.runs.change(1, { name: 'renamed in a terminal' });
    await row(1).getByText('renamed in a terminal').waitFor();
    terminal.runs.change(1, { name });
    await row(1).getByText(name, { exact: true }).waitFor();
    expect(await row(1).getByText('renamed in a terminal').count()).toBe(0);
    terminal.close();
  });

  test('Replay counts its episodes again when the run is resumed, in the heading and in the filters', async () => {
    await lab.page.getByRole('link', { name: /^Worker process/ }).waitFor();
    await visit(lab, '/replay/5');
    const counted = async (): Promise<void> => {
      const total = stored((store) => store.episodes.count(5)).toLocaleString('en');
      const training = stored((store) => store.episodes.facets(5).purposes.train ?? 0).toLocaleString('en');
      await until(`${total} episodes`, async () => (await lab.page.getByText(`${total} episodes`, { exact: true }).count()) === 1);
      await until(
        `training (${training})`,
        async () => (await lab.page.locator('option', { hasText: `training (${training})` }).count()) === 1,
      );
    };
    await counted();
    // An open episode, at one of its steps, stays open.
    await until('an episode in the address', () => lab.page.evaluate(() => /\/replay\/5\/\d+$/.test(window.location.hash)));
    const address = await lab.page.evaluate(() => window.location.hash);
    await lab.page.getByRole('button', { name: 'Next step' }).click();
    const place = lab.page.getByRole('group', { name: 'Steps' }).locator('output');
    const before = await place.innerText();
    const { updates } = stored((store) => store.runs.get(5));
    await lab.page.evaluate(() => window.astrolab.call('queue.steer', { run: 5, action: 'step' }));
    await until('one more update', async () => stored((store) => store.runs.get(5).updates) === updates + 1);
    await state(5, 'paused', 'done');
    await counted();
    expect(stored((store) => store.episodes.count(5))).toBeGreaterThan(0);
    expect([await lab.page.evaluate(() => window.location.hash), await place.innerText()]).toEqual([address, before]);
  });
});
