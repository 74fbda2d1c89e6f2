// One run that was really trained, in the real window. "What if": another checkpoint continues from a step of a recorded episode,
// checked against the same job done here. Live: alerts and log as the database has them.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { episodeCredit } from '../../main/replay/credit.ts';
import { readReplay } from '../../main/replay/replay.ts';
import { runResample } from '../../main/replay/resample.ts';
import type { Step } from '../../main/rollout/trajectory.ts';
import { Store } from '../../main/store/store.ts';
import { formatValue } from '../../renderer/format.ts';
import {
  accessibilityProblems,
  dismissMessages,
  freshDataFolder,
  gone,
  launch,
  pressTogether,
  resize,
  shown,
  stickingOut,
  until,
  visit,
} from './app.ts';
import type { Lab } from './app.ts';
import { trainSmall } from './seeded.ts';
import { walkByTab } from './tab-order.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const UPDATES = 2;
let lab: Lab;
let store: Store;
let run: number;
/** A greedily played episode of the last evaluation with more than one step. */
let episode: number;

const probability = ({ tokens }: Step): string => {
  const sum = tokens.logProbs.reduce((all, one) => all + one, 0);
  return `p = ${formatValue(Math.exp(sum), 'share')}`;
};

/** An alert that cleared, one that holds, and a line that was written last about the beginning. */
function addEvents(data: string): void {
  const own = Store.open(data);
  const trap = { id: 'echo-trap', title: 'Echo trap', metrics: ['rollout.entropy', 'entropy'] };
  const fell = { id: 'collapse', title: 'Validation success fell', metrics: ['evaluation.success'] };
  const alert = { kind: 'alert', severity: 'warning' } as const;
  own.events.add(run, { ...alert, update: 1, text: 'Entropy halved.', data: { ...trap, state: 'active' } }, 1e12);
  own.events.add(run, { ...alert, update: 2, severity: 'info', text: 'Cleared: Echo trap', data: { ...trap, state: 'cleared' } }, 2e12);
  own.events.add(run, { ...alert, update: 2, text: 'It was better.', data: { ...fell, state: 'active' } }, 3e12);
  own.events.add(run, { update: 0, kind: 'state', severity: 'info', text: 'Resumed from the start', data: {} }, 4e12);
  own.close();
}

describe('one trained run', () => {
  beforeAll(async () => {
    const data = freshDataFolder();
    run = await trainSmall(data, UPDATES);
    addEvents(data);
    store = Store.read(data);
    const { episodes } = store.episodes.page(run, { purpose: 'evaluation', fromUpdate: UPDATES }, 'steps', true, 1);
    const longest = episodes[0];
    if (!longest || longest.steps < 2) throw new Error('The evaluation left no episode of two steps');
    episode = longest.id;
    lab = await launch({ data });
  });
  afterAll(async () => {
    store.close();
    await lab.close();
  });
  afterEach(() => lab.noComplaints());

  test('the same checkpoint, most probable words: does again what was recorded, word for word and number for number', async () => {
    const { steps } = store.trajectories.read(episode);
    await visit(lab, `/replay/${run}/${episode}`);
    await lab.page.getByText(`Step 1 of ${steps.length}`).waitFor();
    await lab.page.locator('main h1').first().click();
    await lab.page.keyboard.press('ArrowRight');
    await lab.page.keyboard.press('r');
    const panel = lab.page.getByRole('region', { name: 'What if' });
    await panel.getByText('Replay step 1, then continue with').waitFor();
    await panel.getByRole('combobox', { name: 'Temperature' }).selectOption('0');
    await panel.getByRole('button', { name: 'Sample' }).click();
    const branch = panel.getByRole('group', { name: `#${run} at update ${UPDATES}` });
    await branch.waitFor();
    const lines = (await branch.getByRole('listitem').allTextContents()).map((line) => line.replace(/, reward.*$/, ''));
    expect(lines).toEqual(steps.slice(1).map((step, index) => `${index + 2} ${step.action} ${probability(step)}`));
  });

  test('another checkpoint: rollouts, words and probabilities are those of the same job without the window', async () => {
    const job = { dataFolder: lab.data, episode, step: 1, run, update: 1, temperature: 1, attempt: 0, rollouts: 20 };
    const expected = await runResample(BUILT_IN, job);
    const before = store.episodes.count(run);
    await visit(lab, '/runs');
    await visit(lab, `/replay/${run}/${episode}`);
    await lab.page.getByRole('button', { name: 'Next step' }).click();
    await lab.page.getByRole('button', { name: 'What if…' }).click();
    const panel = lab.page.getByRole('region', { name: 'What if' });
    await panel.getByRole('combobox', { name: 'Checkpoint' }).selectOption('1');
    await panel.getByRole('button', { name: 'Sample' }).click();
    await panel.getByText(`${expected.solved} of 20 rollouts of #${run} at update 1 solve the task from here`).waitFor();
    const branch = panel.getByRole('group', { name: `#${run} at update 1` });
    const lines = (await branch.getByRole('listitem').allTextContents()).map((line) => line.replace(/, reward.*$/, ''));
    expect(lines).toEqual(expected.trajectory.steps.slice(1).map((step, index) => `${index + 2} ${step.action} ${probability(step)}`));
    expect(await shown(branch.getByText(`return ${formatValue(expected.trajectory.return)}`))).toBe(true);
    expect(await accessibilityProblems(lab)).toEqual([]);

    await branch.getByRole('button', { name: 'Step through' }).click();
    expect(await shown(lab.page.getByText(`Step 2 of ${expected.trajectory.steps.length}`))).toBe(true);
    await lab.page.getByRole('button', { name: 'Back to the recorded episode' }).click();
    expect(await shown(lab.page.getByText(`Step 1 of ${readReplay(store, episode).steps.length}`))).toBe(true);
    expect(store.episodes.count(run), 'nothing is stored').toBe(before);
  });

  test('credit: the numbers of the command line, kept when one leaves and comes back', async () => {
    const expected = await episodeCredit(BUILT_IN, { dataFolder: lab.data, episode, group: 8, branches: 4, temperature: 1 });
    await visit(lab, `/replay/${run}/${episode}`);
    await lab.page.getByRole('button', { name: 'Credit' }).click();
    const panel = lab.page.getByRole('region', { name: 'Credit' });
    await panel.getByRole('combobox', { name: 'Continuations' }).selectOption('4');
    await panel.getByRole('button', { name: 'Show credit' }).click();
    const table = panel.getByRole('table', { name: 'Credit of each step' });
    await table.waitFor();
    const rows = await table.getByRole('row').allTextContents();
    expect(rows).toHaveLength(expected.steps.length + 1);
    for (const [index, { exact, action }] of expected.steps.entries()) {
      expect(rows[index + 1]).toContain(action);
      expect(rows[index + 1]).toContain(`${exact.k} of ${exact.n}`);
    }
    expect(await panel.getByText('lost here').count()).toBe(expected.lostAt === null ? 0 : 1);
    expect(await accessibilityProblems(lab)).toEqual([]);
    await visit(lab, '/runs');
    await visit(lab, `/replay/${run}/${episode}`);
    expect(await panel.getByRole('table', { name: 'Credit of each step' }).getByRole('row').allTextContents()).toEqual(rows);
    await lab.page.getByRole('button', { name: 'Credit', exact: true }).click();
  });

  test('an episode that was learned from has its advantage, and only one that was not says so', async () => {
    const [learned] = store.episodes.page(run, { purpose: 'train' }, 'time', true, 1).episodes;
    if (!learned || learned.advantage === null) throw new Error('Training stored no advantage');
    await visit(lab, `/replay/${run}/${learned.id}`);
    await lab.page.getByRole('radio', { name: 'Advantage' }).click();
    const value = formatValue(learned.advantage);
    expect(await shown(lab.page.getByText(`One advantage for the whole episode: ${value}.`))).toBe(true);
    expect(await lab.page.getByText('not used for training').count()).toBe(0);
    await visit(lab, `/replay/${run}/${episode}`);
    expect(await shown(lab.page.getByText('No advantage: this episode was not used for training.'))).toBe(true);
    await lab.page.getByRole('radio', { name: 'Probability' }).click();
  });

  test('a star and a comment stay with the episode, are found, and leave in its HTML file', async () => {
    await visit(lab, `/replay/${run}/${episode}`);
    await lab.page.getByRole('article').waitFor();
    await lab.page.locator('main h1').first().click();
    await lab.page.keyboard.press('s');
    await lab.page.getByRole('button', { name: 'Remove star' }).waitFor();
    await lab.page.keyboard.press('c');
    await lab.page.getByRole('textbox', { name: 'Comment on this episode' }).fill('Buys <the> first one & stops');
    await lab.page.getByRole('button', { name: 'Save comment' }).click();
    await lab.page.getByRole('button', { name: 'Edit comment' }).waitFor();
    expect(store.notes.get(episode)).toEqual({ starred: true, comment: 'Buys <the> first one & stops' });

    await lab.page.getByRole('checkbox', { name: 'Starred' }).click();
    await lab.page
      .getByRole('complementary')
      .getByRole('status')
      .filter({ hasText: /^1 of / })
      .waitFor();
    await lab.page.getByRole('button', { name: 'Clear filters' }).click();
    const observed =
      store.trajectories
        .read(episode)
        .steps[1]?.observation.split(/\s+/)
        .find((word) => /^[a-z]{5,}$/i.test(word)) ?? '';
    const texts = [...store.episodes.textsOf(run)].flat().filter((text) => store.episodes.textHas(text, observed));
    const { total } = store.episodes.page(run, { text: observed, observations: texts });
    await lab.page.getByLabel('Text in the task, the actions or the comment').fill(observed);
    await lab.page.getByRole('checkbox', { name: 'Search observations too' }).click();
    await until(`${total} episodes`, async () =>
      (await lab.page.getByRole('complementary').getByRole('status').innerText()).startsWith(`${total.toLocaleString('en')} `),
    );
    await lab.page.getByRole('button', { name: 'Clear filters' }).click();

    const file = join(mkdtempSync(join(tmpdir(), 'astrolab-episode-')), 'episode.html');
    await lab.app.evaluate(({ dialog }, path) => {
      dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: path });
    }, file);
    await lab.page.getByRole('button', { name: 'Export HTML…' }).click();
    await until('the file', async () => existsSync(file));
    const html = readFileSync(file, 'utf8');
    expect(html).toContain('Buys &#60;the&#62; first one &#38; stops');
    expect(html).not.toMatch(/(src|href)=|url\(|@import/);
    // "g s" goes to Settings and stars nothing.
    await pressTogether(lab, 'g', 's');
    await lab.page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    expect(store.notes.get(episode).starred).toBe(true);
  });

  test('Live has the alert that holds, the one that cleared as cleared, and the log in order of time', async () => {
    await visit(lab, `/runs/${run}`);
    const active = lab.page.getByRole('list', { name: 'Active alerts' });
    await expect.poll(() => active.getByRole('listitem').allInnerTexts()).toEqual([expect.stringContaining('It was better.')]);
    await lab.page.getByText('1 cleared alert', { exact: true }).click();
    expect(await lab.page.getByRole('list', { name: 'Cleared alerts' }).innerText()).toContain(
      'Echo trap: raised at update 1, cleared at update 2',
    );
    for (const [chart, words] of [
      ['Success', 'update 2 · test · alert: Validation success fell'],
      ['Entropy', 'update 1 · alert: Echo trap (cleared at update 2)'],
      ['Loss', 'update 2 · test'],
    ] as const) {
      const figure = lab.page.getByRole('figure', { name: chart, exact: true });
      await until(`the chart ${chart}, which is drawn once it is in sight`, async () => {
        if ((await figure.getByRole('group').count()) > 0) return true;
        await lab.page.evaluate(() => {
          for (const box of document.querySelectorAll('main div')) box.scrollTop += 100;
        });
        return false;
      });
      await figure.getByRole('group').focus();
      await lab.page.keyboard.press(chart === 'Entropy' ? 'ArrowRight' : 'ArrowLeft');
      expect((await figure.locator('output').innerText()).replace(' · checkpoint', '')).toBe(words);
      await lab.page.keyboard.press('Escape');
    }
    // A chart that is pinned is the first, here and next time, until it is let go.
    const first = lab.page.getByRole('figure').first();
    for (const [item, name] of [
      ['Pin to the top', 'Loss'],
      ['Unpin', 'Success'],
    ] as const) {
      await lab.page.getByRole('button', { name: 'Menu of Loss', exact: true }).click();
      await lab.page.getByRole('menuitem', { name: item }).click();
      await until(`${name} at the top`, async () => (await first.getAttribute('aria-label')) === name);
    }
    const histogram = lab.page.getByRole('figure', { name: 'Distribution of advantages' });
    // Charts out of sight are not drawn.
    await lab.page.evaluate(() => {
      for (const box of document.querySelectorAll('main div')) box.scrollTop = box.scrollHeight;
    });
    await histogram.waitFor();
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-histogram-'));
    await lab.app.evaluate(({ dialog }, chosen) => {
      dialog.showSaveDialog = ((options: { defaultPath: string }) =>
        Promise.resolve({ canceled: false, filePath: `${chosen}/${options.defaultPath}` })) as typeof dialog.showSaveDialog;
    }, folder);
    for (const [item, name] of [
      ['Save as PNG…', 'distribution-of-advantages.png'],
      ['Save as SVG…', 'distribution-of-advantages.svg'],
      ['Save data as CSV…', 'distribution-of-advantages.csv'],
    ] as const) {
      await histogram.getByRole('button', { name: 'Menu of Distribution of advantages' }).click();
      await lab.page.getByRole('menuitem', { name: item }).click();
      await until(name, async () => existsSync(join(folder, name)) && statSync(join(folder, name)).size > 0); // it exists before it is written
    }
    const counts = readFileSync(join(folder, 'distribution-of-advantages.csv'), 'utf8').trim().split('\r\n').slice(1);
    const total = counts.reduce((sum, line) => sum + Number(line.split(',')[2]), 0);
    expect([counts.length, total]).toEqual([32, store.metrics.distributions(run, 'advantage').at(-1)?.samples.length]);
    await lab.page.getByRole('tab', { name: /^Log/ }).click();
    const times = await lab.page.getByRole('list', { name: 'Run log' }).locator('time').all();
    const shownTimes = await Promise.all(times.map(async (time) => Date.parse((await time.getAttribute('datetime')) ?? '')));
    expect(shownTimes).toEqual(
      store.events
        .list(run)
        .map(({ time }) => time)
        .toSorted((a, b) => b - a),
    );
    expect(await accessibilityProblems(lab)).toEqual([]);
    await lab.page.getByRole('tab', { name: 'Charts' }).click();
  });

  test('a run is branched from a checkpoint: New run is prefilled, says what must stay, and the lineage is shown on both pages', async () => {
    await visit(lab, `/runs/${run}`);
    const branch = { name: /^Branch from update \d+…$/ };
    expect(await lab.page.getByRole('link', branch).count(), 'at the head of the page and in the alert').toBe(2);
    await lab.page.getByRole('list', { name: 'Active alerts' }).getByRole('link', branch).click();
    const checkpoint = lab.page.getByRole('combobox', { name: `Branch from run ${run}` });
    await checkpoint.selectOption('1');
    await lab.page.getByText(`from run ${run} at update 1`, { exact: true }).waitFor();
    await lab.page.getByText('--from 1@1').waitFor();
    const find = lab.page.getByRole('textbox', { name: 'Find a setting' });
    await find.fill('training.updates');
    await lab.page
      .locator('[data-key="training.updates"]')
      .getByRole('textbox')
      .or(lab.page.locator('input[data-key="training.updates"]'))
      .first()
      .fill('1');
    await lab.page.getByText('--set training.updates=1').waitFor();
    await lab.page.getByRole('button', { name: 'Start', exact: true }).click();
    const lineage = lab.page.getByRole('note', { name: 'Lineage' });
    await lineage.getByText(`at update 1`).waitFor();
    await lineage.getByRole('link', { name: `run ${run}` }).click();
    await lineage.getByRole('link', { name: `run ${run + 1}` }).waitFor();
    await expect.poll(() => lineage.textContent()).toBe(`Branches: run ${run + 1} (from update 1)`);
    await lineage.getByRole('link', { name: `run ${run + 1}` }).click();
    await lab.page.getByText('done', { exact: true }).first().waitFor();
    expect(store.runs.get(run + 1)).toMatchObject({ state: 'done', updates: 1, origin: { run, update: 1 } });

    // The parent laid under the charts of its branch.
    await lab.page.getByRole('combobox', { name: 'Baseline run' }).selectOption(String(run));
    const last = (name: string): number => store.metrics.series(run, name).values.at(-1) ?? Number.NaN;
    for (const [chart, value] of [
      ['Success', formatValue(last('rollout.success'), 'share')],
      ['Return', formatValue(last('rollout.return'))],
    ] as const) {
      const entry = lab.page.getByRole('figure', { name: chart, exact: true }).getByRole('button', { name: `Baseline #${run}` });
      await entry.waitFor();
      expect([chart, await entry.innerText()]).toEqual([chart, expect.stringContaining(value)]);
    }
    await lab.page.getByRole('combobox', { name: 'Baseline run' }).selectOption('');
    await gone(lab.page.getByRole('button', { name: `Baseline #${run}` }));
  });

  test('a name of 120 characters, from right to left and with emoji, fits on every page, also at 200% zoom', async () => {
    const name = `\u05e0\u05d9\u05e1\u05d5\u05d9 \u{1f9ea}\u{1f600} ${'unbroken'.repeat(14)}`.slice(0, 120);
    await lab.page.evaluate((text) => window.astrolab.call('runs.change', { run: 1, name: text }), name);
    const saved = await lab.page.evaluate((text) => window.astrolab.call('studies.save', { id: null, name: text, runs: [1, 2] }), name);
    if (!saved.ok) throw new Error(saved.error.message);
    // A study's definition with long words everywhere.
    mkdirSync(join(lab.data, 'studies'), { recursive: true });
    const definition: object = JSON.parse(readFileSync(join(projectFolder(), 'resources/studies/aids.json'), 'utf8'));
    writeFileSync(join(lab.data, 'studies/long.json'), JSON.stringify({ ...definition, title: name, question: name }));
    for (const [width, height] of [
      [1024, 700],
      [640, 400],
    ] as const) {
      await resize(lab, width, height);
      const study = `/compare/study-${saved.value.study.id}`;
      for (const address of ['/', '/runs/1', '/replay/1', study, '/new/run-1', '/queue', '/studies', '/play', '/settings', '/clusters']) {
        await visit(lab, address);
        await gone(lab.page.getByRole('status', { name: /^Loading(?! an example)/ })); // the gallery shows one that stays
        if (address === '/studies') await lab.page.getByRole('combobox', { name: 'Study' }).selectOption('long');
        expect([width, address, await stickingOut(lab)]).toEqual([width, address, []]);
      }
    }
    await resize(lab, 1024, 700);
    await visit(lab, '/');
    const list = lab.page.getByRole('grid', { name: 'Runs' }).locator('..');
    await list.waitFor();
    await until('a list that fits', () => list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
    await resize(lab, 1280, 800);
    expect(store.runs.get(1).name).toBe(name);
  });

  test.each(['/', '/new', '/queue', `/runs/1`, `/replay/1`, '/compare/1', '/studies', '/clusters', '/play', '/settings', '/gallery'])(
    '%s is usable by keyboard alone: Tab reaches everything, shows where it is, and comes around',
    async (address) => {
      await visit(lab, address);
      await gone(lab.page.getByRole('status', { name: /^Loading(?! an example)/ })); // the gallery shows one that stays
      await dismissMessages(lab);
      const { stops, missed, invisible } = await walkByTab(lab);
      expect({ missed, invisible }).toEqual({ missed: [], invisible: [] });
      expect(stops).toBeGreaterThan(12);
    },
  );
});
