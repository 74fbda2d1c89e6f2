// Replay, compare and report in the real window, with runs whose numbers are read from the database: a failure is
// replayed, two policies part on one task, two algorithms are compared, and the report is written and read back.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { comparedArms, openComparison, taskMatrix } from '../../main/report/side-by-side.ts';
import { readReplay } from '../../main/replay/replay.ts';
import { Store } from '../../main/store/store.ts';
import { formatValue } from '../../renderer/format.ts';
import { accessibilityProblems, freshDataFolder, launch, openPalette, setTheme, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { seed } from './seeded.ts';

const TASKS = 12;
const FEWER_TASKS = 5;
let lab: Lab;
let store: Store;

describe('replay, compare and report', () => {
  beforeAll(async () => {
    const data = freshDataFolder();
    const runs = [
      { variant: 'grpo', seed: 1, agent: 'oracle' },
      { variant: 'reinforce', seed: 1, agent: 'blind' },
    ] as const;
    seed(data, runs, TASKS);
    seed(data, [{ variant: 'grpo', seed: 2, agent: 'oracle' }], FEWER_TASKS);
    store = Store.read(data);
    lab = await launch({ data });
  });
  afterAll(async () => {
    store.close();
    await lab.close();
  });
  afterEach(() => lab.noComplaints());

  test('a failure is found by its filter and replayed to its end, with the numbers of the database', async () => {
    const { total, episodes } = store.episodes.page(2, { success: false }, 'time', true, 1);
    const first = episodes[0];
    if (!first) throw new Error('The blind agent failed nowhere');
    const replay = readReplay(store, first.id);
    await visit(lab, '/replay/2');
    await lab.page.getByRole('combobox', { name: 'Outcome' }).selectOption('false');
    await lab.page
      .getByRole('status')
      .filter({ hasText: `${total} of ` })
      .waitFor();
    await lab.page.getByRole('listbox', { name: 'Episodes' }).getByRole('option').first().click();
    await lab.page.getByRole('article', { name: replay.instruction }).waitFor();
    expect(await shown(lab.page.getByText(replay.diagnosis?.evidence ?? 'no diagnosis'))).toBe(true);
    expect(await shown(lab.page.getByText(`Step 1 of ${replay.steps.length}`))).toBe(true);
    await lab.page.locator('main h1').first().click();
    for (let step = 0; step < replay.steps.length; step++) await lab.page.keyboard.press('ArrowRight');
    expect(await shown(lab.page.getByRole('heading', { name: 'Outcome' }))).toBe(true);
  });

  test('j and k go from episode to episode, a link opens a step, and an episode leaves as one HTML file', async () => {
    await visit(lab, '/replay/1');
    await lab.page.getByRole('article').waitFor();
    const address = () => lab.page.evaluate(() => window.location.hash);
    await until('the first episode in the address', async () => /\/replay\/1\/\d+$/.test(await address()));
    const first = await address();
    await lab.page.locator('main h1').first().click();
    await lab.page.keyboard.press('j');
    await until('the next episode', async () => (await address()) !== first);
    await lab.page.keyboard.press('k');
    await until('the first episode again', async () => (await address()) === first);
    const episode = Number(first.split('/').at(-1));
    const replay = readReplay(store, episode);

    const file = join(mkdtempSync(join(tmpdir(), 'astrolab-episode-')), 'episode.html');
    await lab.app.evaluate(({ dialog }, path) => {
      dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: path });
    }, file);
    await lab.page.getByRole('button', { name: 'Export HTML…' }).click();
    await lab.page.getByText('Episode exported', { exact: true }).waitFor();
    const text = readFileSync(file, 'utf8');
    expect(text.match(/<h2>Step \d+<\/h2>/g)).toHaveLength(replay.steps.length);
    expect(text).toContain(`task ${replay.task}`);
    expect(text).not.toMatch(/src=|href=|<script/);

    await lab.app.evaluate(
      ({ app }, link) => app.emit('second-instance', {}, ['astrolab', link]),
      `astrolab://run/1/episode/${episode}/step/2`,
    );
    await until('the step of the link', async () => (await address()).endsWith(`/replay/1/${episode}/2`));
  });

  test('two algorithms are compared as arms and as runs: success, interval and words as the database says', async () => {
    const { runs } = openComparison(store, [1, 2]);
    const groups = runs.map(({ run, variant }) => ({ key: variant, runs: [run] }));
    const { pairs } = comparedArms(store, groups, 'grpo');
    await visit(lab, '/compare/1,2');
    const table = lab.page.getByRole('table', { name: 'Final results' });
    for (const { success } of runs) {
      if (!success) throw new Error('A run was not evaluated');
      expect(await shown(table.getByText(`${success.k} of ${success.n}`, { exact: true }).first())).toBe(true);
      expect(await shown(table.getByText(`${(success.rate * 100).toFixed(1)}%`, { exact: true }).first())).toBe(true);
    }
    expect(await shown(lab.page.getByText(pairs[0]?.words ?? 'nothing was said'))).toBe(true);
    // Another baseline turns the difference round.
    await lab.page.getByRole('combobox', { name: 'Baseline' }).selectOption('reinforce');
    const turned = comparedArms(store, groups, 'reinforce').pairs[0]?.words ?? 'nothing was said';
    expect(await shown(lab.page.getByText(turned))).toBe(true);
  });

  test('seeds form an arm with its runs below it, and curves can be seen along episodes', async () => {
    await visit(lab, '/compare/1,2,3');
    const arms = lab.page.getByRole('table', { name: 'Arms' });
    await arms.locator('tr[data-arm="grpo"]').waitFor();
    await expect.poll(() => arms.locator('tr[data-arm]').count()).toBe(2);
    await arms.getByRole('button', { name: 'Runs of grpo' }).click();
    await arms.locator('tr[data-member="3"]').waitFor();
    await expect.poll(() => arms.locator('tr[data-member]').count()).toBe(2);
    await lab.page.getByRole('combobox', { name: 'X axis' }).selectOption('episodes');
    expect(await shown(lab.page.getByRole('group', { name: /move along episode,/ }))).toBe(true);
    await lab.page.getByRole('combobox', { name: 'X axis' }).selectOption('update');
    const names = lab.page.locator('main figure').first();
    await names.getByRole('button', { name: 'Hide all' }).click();
    expect(await shown(names.getByText('0 of 2 shown'))).toBe(true);
    await names.getByRole('button', { name: 'Show all' }).click();
  });

  test('the planner says how many seeds and tasks find a difference, and all settings can be shown', async () => {
    await visit(lab, '/compare/1,2,3');
    await lab.page.getByText('Seeds × tasks for a difference').click();
    const plan = lab.page.getByRole('table', { name: 'Power by seeds and tasks' });
    await plan.getByText('Needed for 80.0%').waitFor();
    await lab.page.getByRole('textbox', { name: 'Difference' }).fill('20');
    expect(await shown(lab.page.getByText('A true difference of 20.0 points is found'))).toBe(true);
    await lab.page.getByRole('switch', { name: 'Only differences' }).click();
    const all = lab.page.getByRole('table', { name: 'All settings' });
    expect(await shown(all.getByText('training.learningRate', { exact: true }))).toBe(true);
    await lab.page.getByRole('switch', { name: 'Only differences' }).click();
    await lab.page.getByRole('table', { name: 'Settings that differ' }).waitFor();
  });

  test('the parameter view shows every run at its value of a setting, and a mark leads to its run', async () => {
    const { runs } = openComparison(store, [1, 2, 3]);
    await visit(lab, '/compare/1,2,3');
    await lab.page.getByRole('combobox', { name: 'Setting', exact: true }).selectOption('algorithm.id');
    const figure = lab.page.getByRole('figure', { name: 'Success by algorithm.id', exact: true });
    const marks = figure.getByRole('link');
    await until('a mark for every run', async () => (await marks.count()) === runs.length);
    for (const { run, variant, success } of runs) {
      const name = `Run ${run}, algorithm.id ${variant}: ${formatValue(success?.rate ?? Number.NaN, 'share')}`;
      expect(await shown(figure.getByRole('link', { name, exact: true }))).toBe(true);
    }
    await figure.getByRole('link', { name: /^Run 2,/ }).focus();
    await lab.page.keyboard.press('Enter');
    expect(await shown(lab.page.getByRole('region', { name: 'Run status' }))).toBe(true);
    await expect.poll(() => lab.page.evaluate(() => window.location.hash)).toBe('#/runs/2');
  });

  test('the palette leads to a metric, which Compare then draws, and does what a page offers', async () => {
    await visit(lab, '/compare/1,2');
    await lab.page.getByRole('combobox', { name: 'Metric' }).waitFor();
    await openPalette(lab);
    await lab.page.keyboard.type('rollout.success');
    await lab.page.getByRole('dialog').getByRole('option', { name: 'Training success', exact: true }).waitFor();
    await lab.page.keyboard.press('Enter');
    await lab.page.getByRole('dialog').waitFor({ state: 'detached' });
    await until(
      'the metric in Compare',
      async () => (await lab.page.getByRole('combobox', { name: 'Metric' }).inputValue()) === 'rollout.success',
    );
    await openPalette(lab);
    await lab.page.keyboard.type('Theme: dark');
    await lab.page.getByRole('option', { name: 'Theme: dark', exact: true }).waitFor();
    await lab.page.keyboard.press('Enter');
    await until('the dark theme', () => lab.page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches));
    expect(await shown(lab.page.getByRole('heading', { level: 1, name: 'Compare' }))).toBe(true);
    await setTheme(lab, 'light');
    await lab.page.getByRole('combobox', { name: 'Metric' }).selectOption('evaluation.success');
  });

  test('New run says with what probability its seeds and test tasks find a difference', async () => {
    await visit(lab, '/new/preset-shop-tiny');
    await lab.page.getByText('Seeds × tasks for a difference').click();
    const plan = lab.page.getByRole('table', { name: 'Power by seeds and tasks' });
    await plan.getByText('Needed for 80.0%').waitFor();
    // Only grpo has two seeds here, so there is no spread to measure.
    expect(await shown(lab.page.getByText(/^Assumed spread \(no two settings with two seeds were tested in the world shop yet\)/))).toBe(
      true,
    );
    const answer = lab.page.getByRole('complementary', { name: 'Summary' }).getByRole('status');
    await answer.filter({ hasText: 'One seed says nothing about other seeds' }).waitFor();
    await lab.page.getByRole('textbox', { name: 'Seeds', exact: true }).fill('1-5');
    await answer.filter({ hasText: /^These 5 seeds × 20 test tasks, against as many of another setting: \d+\.\d%\.$/ }).waitFor();
    await visit(lab, '/new/preset-shop-demo');
    await lab.page.getByText('Seeds × tasks for a difference').click();
    await answer.filter({ hasText: 'These runs play no test tasks at their end' }).waitFor();
  });

  test('runs on other numbers of tasks have a banner, no bold best, and pairs that say on how many tasks they rest', async () => {
    await visit(lab, '/compare/1,2,3');
    const banner = lab.page.getByRole('status').filter({ hasText: 'Not directly comparable' });
    expect(await shown(banner.getByText(`number of tasks: ${TASKS} (runs 1, 2); ${FEWER_TASKS} (run 3)`))).toBe(true);
    const table = lab.page.getByRole('table', { name: 'Final results' });
    await table.waitFor();
    expect(await table.locator('strong').count()).toBe(0);
    const arms = lab.page.getByRole('table', { name: 'Arms' });
    expect(await shown(arms.getByText(/× 1$/))).toBe(true);
    expect(await arms.locator('strong').count()).toBe(0);
    await visit(lab, '/compare/1,2');
    await banner.waitFor({ state: 'detached' });
    await until('one bold best', async () => (await table.locator('strong').count()) === 1);
    // Alone, the run with fewer tasks is paired on those that both played.
    await visit(lab, '/compare/1,3');
    await lab.page.locator('#compare-group').selectOption('run');
    expect(await shown(table.getByText(`on ${FEWER_TASKS}`, { exact: true }))).toBe(true);
    await lab.page.locator('#compare-group').selectOption('variant');
  });

  test('the first divergence of two policies on one task is marked at the right step', async () => {
    const matrix = taskMatrix(store, [1, 2]);
    const row = matrix.tasks.findIndex((_, index) => matrix.columns[0]?.outcome[index] !== matrix.columns[1]?.outcome[index]);
    const [a, b] = matrix.columns.map(({ episode }) => readReplay(store, episode[row] ?? 0));
    const parting = a?.steps.findIndex((step, index) => step.action !== b?.steps[index]?.action) ?? -1;
    await visit(lab, '/compare/1,2');
    expect(await shown(lab.page.getByText(`First divergence, step ${parting + 1}`))).toBe(true);
  });

  test('the chosen formats are exported with the numbers of the database, complete, and nothing is overwritten unasked', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-report-'));
    await lab.app.evaluate(({ dialog, shell }, chosen) => {
      dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [chosen] });
      dialog.showMessageBox = () => Promise.resolve({ response: 0, checkboxChecked: false }); // Keep both
      shell.openPath = (path) => {
        Reflect.set(globalThis, 'opened', path);
        return Promise.resolve('');
      };
    }, folder);
    await visit(lab, '/compare/1,2');
    await lab.page.getByRole('button', { name: 'Export report' }).click();
    const choice = lab.page.getByRole('dialog', { name: 'Export report' });
    for (const box of await choice.getByRole('checkbox').all()) if (!(await box.isChecked())) await box.click();
    await choice.getByRole('button', { name: 'Choose a folder…' }).click();
    await lab.page.getByText('Report exported: 14 files', { exact: true }).waitFor();
    const written = join(folder, 'astrolab-report-runs-1-2');
    const { runs } = openComparison(store, [1, 2]);
    const markdown = readFileSync(join(written, 'report.md'), 'utf8');
    for (const { success } of runs) expect(markdown).toContain(`${success?.k} of ${success?.n}`);
    expect(readFileSync(join(written, 'audit.jsonl'), 'utf8').trim().split('\n')).toHaveLength(
      store.episodes.count(1) + store.episodes.count(2),
    );
    for (const name of ['slides.pdf', 'report.pdf']) expect(readFileSync(join(written, name)).subarray(0, 5).toString()).toBe('%PDF-');
    // A picture is as large as its figure, twice over: nothing is cut off.
    const svg = readFileSync(join(written, 'learning.svg'), 'utf8');
    const png = readFileSync(join(written, 'learning.png'));
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1440, 2 * Number(/ height="(\d+)"/.exec(svg)?.[1])]);
    // The window's colours: the first two runs of this lab.
    expect(svg).toContain('stroke="#0072b2"');
    await lab.page.getByRole('button', { name: 'Open', exact: true }).click();
    await expect.poll(() => lab.app.evaluate(() => Reflect.get(globalThis, 'opened'))).toBe(written);

    await lab.page.getByRole('button', { name: 'Export report' }).click();
    for (const box of await choice.getByRole('checkbox').all()) if (await box.isChecked()) await box.click();
    await choice.getByRole('checkbox', { name: 'Tables, CSV' }).click();
    await choice.getByRole('button', { name: 'Choose a folder…' }).click();
    await lab.page.getByText('Report exported: 3 files', { exact: true }).waitFor();
    expect(readdirSync(folder).sort()).toEqual(['astrolab-report-runs-1-2', 'astrolab-report-runs-1-2-2']);
    expect(readdirSync(join(folder, 'astrolab-report-runs-1-2-2'))).toEqual(['arms.csv', 'paired.csv', 'results.csv']);

    // The HTML opens in a browser by itself, complete: nothing is wider than the page, and the figures are drawn.
    const opened = await lab.app.evaluate(
      async ({ BrowserWindow }, file) => {
        const window = new BrowserWindow({ show: false, width: 1100, height: 800, webPreferences: { partition: 'reader' } });
        await window.loadFile(file);
        const facts: unknown = await window.webContents.executeJavaScript(
          '({ wide: document.documentElement.scrollWidth, title: document.title, figures: document.querySelectorAll("svg polyline, svg rect").length, tables: document.querySelectorAll("table").length })',
        );
        window.destroy();
        return facts;
      },
      join(written, 'report.html'),
    );
    expect(opened).toMatchObject({ title: 'Runs 1, 2' });
    const { wide, figures, tables } = z.object({ wide: z.number(), figures: z.number(), tables: z.number() }).parse(opened);
    expect(wide).toBeLessThanOrEqual(1100);
    expect(figures).toBeGreaterThan(4);
    expect(tables).toBeGreaterThanOrEqual(4);
    rmSync(folder, { recursive: true, force: true });
  });

  test.skipIf(process.platform === 'win32')('an export can be cancelled and leaves nothing behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-report-'));
    await lab.app.evaluate(({ dialog }, chosen) => {
      dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [chosen] });
    }, folder);
    // Where one of its files belongs lies a pipe that nobody reads: whoever writes it waits until the export is cancelled.
    const unfinished = join(folder, `astrolab-report-runs-1-2.${await lab.app.evaluate(() => process.pid)}.part`);
    mkdirSync(unfinished);
    execFileSync('mkfifo', [join(unfinished, 'results.csv')]);
    await lab.page.getByRole('button', { name: 'Export report' }).click();
    const choice = lab.page.getByRole('dialog', { name: 'Export report' });
    await choice.getByRole('checkbox', { name: 'Tables, CSV' }).setChecked(true);
    await choice.getByRole('button', { name: 'Choose a folder…' }).click();
    await lab.page.getByRole('button', { name: 'Cancel export' }).click();
    await lab.page.getByText('Export cancelled', { exact: true }).waitFor();
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(['light', 'dark'] as const)('both pages are accessible in the %s theme', async (theme) => {
    await setTheme(lab, theme);
    await visit(lab, '/replay/1');
    await lab.page.getByRole('article').waitFor();
    expect(await until('axe on Replay', async () => ({ problems: await accessibilityProblems(lab, theme) }))).toEqual({ problems: [] });
    await visit(lab, '/compare/1,2');
    await lab.page.getByRole('table', { name: 'Final results' }).waitFor();
    expect(await accessibilityProblems(lab, theme)).toEqual([]);
  });
});
