// A run is the same run however its page was reached. One tiny run is watched at five moments: while its reference is cloned, paused
// there, after its first update, in the middle, and done. At each of them the pages that show it are left and come back to in every
// way (tab, page, Back, palette, a second window, reload), and what stands there is held against the database.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { Store } from '../../main/store/store.ts';
import { formatValue } from '../../renderer/format.ts';
import { CHARTS } from '../../renderer/live/charts.ts';
import { launch, readStore, until } from './app.ts';
import type { Lab } from './app.ts';
import { Hold } from './hold.ts';
import { applyOverrides, glossary, loadPreset } from '../catalog.ts';

const UPDATES = 6;
const STEPS = 160;
const SETTINGS = [
  'name=watched',
  'threads=1',
  'reference.demonstrations=64',
  `reference.steps=${STEPS}`,
  `reference.checkEvery=${STEPS}`,
  'reference.checkTasks=4',
  'vstar.samples=1',
  'training.batch=8',
  'training.tasks=8',
  `training.updates=${UPDATES}`,
  'evaluation.every=1',
  'evaluation.tasks=8',
  'evaluation.finalTasks=8',
  'checkpoints.every=1',
];
const RUN = 1;

let lab: Lab;
const gate = new Hold();
let second: Page;
/** The training process while it is held still. */
let held: number | null = null;

const stored = <T>(read: (store: Store) => T): T => readStore(lab.data, read);
const percent = (share: number): string => formatValue(share, 'share');
const whole = new Intl.NumberFormat('en');

beforeAll(async () => {
  lab = await launch(gate.options);
});
afterAll(async () => {
  release();
  await lab.close();
  gate.end();
});
/** Each moment follows from the one before. */
let broken = false;
beforeEach(({ skip, onTestFailed }) => {
  if (broken) skip();
  onTestFailed(() => {
    broken = true;
  });
});
afterEach(() => lab.noComplaints());

/** Holds the training process still, so that nothing changes while the pages are looked at. */
async function hold(): Promise<void> {
  held = stored((store) => store.locks.holder(RUN)?.trainerPid ?? null);
  if (held === null) throw new Error('The lock names no training process');
  process.kill(held, 'SIGSTOP');
  await atRest();
}

/** What it reported before may still be on its way to the database and to the windows. */
async function atRest(): Promise<void> {
  await until('a record at rest', async () => {
    const before = JSON.stringify(record());
    await new Promise((resolve) => setTimeout(resolve, 400));
    return before === JSON.stringify(record());
  });
}

function release(): void {
  if (held !== null) process.kill(held, 'SIGCONT');
  held = null;
}

const steer = (action: 'pause' | 'step' | 'resume'): Promise<unknown> =>
  lab.page.evaluate(([run, what]) => window.astrolab.call('queue.steer', { run, action: what }), [RUN, action] as const);

/** Waits until the page has settled on what is expected. */
const same = async (where: string, read: () => Promise<unknown>, expected: unknown): Promise<void> => {
  try {
    await expect.poll(read, { interval: 50 }).toEqual(expected);
  } catch (error) {
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

/** What the database has, as the pages would write it. */
function record() {
  return stored((store) => {
    const run = store.runs.get(RUN);
    const evaluations = store.evaluations.list(RUN);
    const rateOf = (one: { k: number; n: number } | null): string => (one ? percent(one.k / one.n) : '–');
    const lines = CHARTS.filter(({ onDevice }) => onDevice !== true).map(({ title, unit, metrics }) => {
      const own = metrics.flatMap((name) => {
        const { values } = store.metrics.series(RUN, name);
        return values.length === 0
          ? []
          : [[glossary.get(name)?.name ?? name, values.length, formatValue(values.at(-1) ?? Number.NaN, unit)]];
      });
      const validation = evaluations.filter(({ kind }) => kind === 'periodic');
      const latest = validation.at(-1)?.success;
      if (title === 'Success' && latest) own.push([`Validation, n = ${latest.n}`, validation.length, rateOf(latest)]);
      return [title, own] as const;
    });
    return {
      run,
      charts: new Map(lines.map(([title, own]) => [title, own.length > 0 || run.updates === 0 ? own : 'Not used by this algorithm'])),
      begun: run.updates > 0 || evaluations.length > 0,
      test: rateOf(run.test),
      validation: rateOf(run.validation),
      best: rateOf(run.best),
      events: store.events.list(RUN).length,
      trained: store.episodes.page(RUN, { purpose: 'train' }, 'time', true, 1).total,
      episodes: store.episodes.count(RUN),
      newest: store.episodes.page(RUN, {}, 'time', true, 1).episodes[0]?.task ?? null,
      checkpoints: store.checkpoints.list(RUN).map(({ update }) => update),
      final: evaluations.findLast(({ kind }) => kind === 'final')?.success ?? null,
    };
  });
}
type Known = ReturnType<typeof record>;

/** The lines of the charts on the page: name, number of points, latest value; or what stands in place of the chart. */
const drawnCharts = (page: Page): Promise<[string, unknown][]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main figure:has(figcaption)')].flatMap((figure): [string, unknown][] => {
      const title = figure.getAttribute('aria-label') ?? '';
      if (title.startsWith('Distribution')) return [];
      const picture = figure.querySelector('canvas')?.getAttribute('aria-label');
      if (!picture) return [[title, figure.lastElementChild?.textContent ?? '']];
      const points = [...picture.matchAll(/\((\d+) points?\)/g)].map((found) => Number(found[1]));
      const entries = [...figure.querySelectorAll('li button')].map((entry, index) => {
        const [name, value] = [...entry.querySelectorAll('span:not(:empty)')].map((part) => part.textContent);
        return [name, points[index], value];
      });
      return [[title, entries]];
    }),
  );

const text = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate((query) => [...document.querySelectorAll(query)].map((element) => element.textContent ?? ''), selector);
const stats = async (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('section[aria-label="Run status"] dl > div')].map((stat) => [
        stat.querySelector('dt')?.textContent?.trim() ?? '',
        stat.querySelector('dd')?.textContent ?? '',
      ]),
    ),
  );

/** Live, on its charts. */
async function checkLive(page: Page, known: Known, where: string): Promise<void> {
  const { run } = known;
  await same(`${where}: updates`, () => text(page, '[data-testid="updates"]'), [whole.format(run.updates)]);
  await same(
    `${where}: numbers`,
    async () => {
      const shown = await stats(page);
      return [shown['Test success'], shown['Validation success'], shown['Best validation'], shown.Episodes];
    },
    [known.test, known.validation, known.best, whole.format(run.episodes)].map((value) => expect.stringMatching(new RegExp(`^${value}`))),
  );
  await checkCharts(page, known, where);
  await same(`${where}: entries of the log`, () => text(page, '[role="tab"]'), ['Charts', 'Episodes', `Log${known.events}`, 'Config']);
  const branch = known.checkpoints.find((update) => update === run.best?.update) ?? known.checkpoints.at(-1);
  await same(
    `${where}: checkpoint to branch from`,
    async () => [...new Set((await text(page, 'main a')).filter((words) => words.startsWith('Branch from')))],
    branch === undefined ? [] : [`Branch from update ${branch}…`],
  );
}

async function checkCharts(page: Page, known: Known, where: string): Promise<void> {
  if (!known.begun) {
    await same(`${where}: in place of the charts`, () => text(page, 'main h2'), ['Curves begin with the first update']);
    return;
  }
  // Charts out of sight are drawn when they come into it.
  const drawn = async () => {
    const charts = await drawnCharts(page);
    return charts.length < 4
      ? charts
      : charts
          .map(([title, lines]) => [title, lines, known.charts.get(title)])
          .filter(([, lines, own]) => JSON.stringify(lines) !== JSON.stringify(own));
  };
  await same(`${where}: curves [chart, on screen, in the database]`, drawn, []);
}

const tab = async (page: Page, name: RegExp): Promise<void> => page.getByRole('tab', { name }).click();
const link = async (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

async function checkTabs(page: Page, known: Known, where: string): Promise<void> {
  await tab(page, /^Log/);
  await same(`${where}: log`, async () => (await text(page, 'main ol[aria-label="Run log"] > li')).length, known.events);
  await tab(page, /^Episodes/);
  const { trained } = known;
  const caption =
    trained === 0
      ? 'No training episodes stored yet.'
      : `The latest ${Math.min(40, trained)} of ${whole.format(trained)} training episodes, newest first`;
  await same(`${where}: latest episodes`, async () => (await text(page, '[role="tabpanel"] p'))[0], caption);
  await tab(page, /^Charts/);
  await checkLive(page, known, `${where}, back from the other tabs`);
}

async function checkRuns(page: Page, { run, test: success, validation }: Known, where: string): Promise<void> {
  const cells = async (): Promise<string[]> => (await text(page, `tr[data-run="${RUN}"] td`)).map((words) => words.split(' ')[0] ?? '');
  await same(
    `${where}: row of Runs`,
    async () => {
      const row = await cells();
      return [run.state, success, validation, String(run.updates)].filter((value) => !row.includes(value));
    },
    [],
  );
}

async function checkReplay(page: Page, { episodes, newest }: Known, where: string): Promise<void> {
  await same(
    `${where}: number of episodes`,
    async () => (await text(page, 'aside[aria-label="Episodes of the run"] [role="status"]'))[0],
    `${whole.format(episodes)} ${episodes === 1 ? 'episode' : 'episodes'}`,
  );
  await same(
    `${where}: newest episode`,
    async () => (await text(page, '[role="option"]'))[0] ?? null,
    newest === null ? null : expect.stringContaining(newest),
  );
}

async function checkCompare(page: Page, { run, final }: Known, where: string): Promise<void> {
  const evaluated = final ?? run.validation;
  const expected = [
    run.updates < run.planned ? `${run.updates}/${run.planned}` : `${run.updates}`,
    evaluated ? percent(evaluated.k / evaluated.n) : '–',
    evaluated ? `${evaluated.k} of ${evaluated.n}` : '–',
    run.best ? `${percent(run.best.k / run.best.n)} at ${run.best.update}` : '–',
  ];
  await same(
    `${where}: row of Compare`,
    async () => {
      const row = await text(page, 'table[aria-label="Final results"] tbody td');
      return [row[3], row[4], row[6], row[8]];
    },
    expected,
  );
}

async function checkQueue(page: Page, { run }: Known, where: string): Promise<void> {
  const listed = run.state === 'running' || run.state === 'paused';
  await same(
    `${where}: row of Queue`,
    async () => (await text(page, 'main ul[aria-label] > li > span')).flatMap((words) => /^\d+ of \d+ updates/.exec(words)?.[0] ?? []),
    listed ? [`${run.updates} of ${run.planned} updates`] : [],
  );
}

const opened = async (page: Page): Promise<void> => {
  await page.locator('main section[aria-label="Run status"]').waitFor();
};

/** Every page, left and come back to in every way. */
async function look(moment: string): Promise<void> {
  const { page } = lab;
  const known = record();
  await checkLive(page, known, `${moment}, where it was open`);
  await checkTabs(page, known, moment);
  await link(page, 'Runs');
  await checkRuns(page, known, moment);
  await page.locator(`tr[data-run="${RUN}"]`).click();
  await opened(page);
  await checkLive(page, known, `${moment}, back from Runs`);
  await link(page, 'Replay');
  await checkReplay(page, known, moment);
  await until('Live by Back', async () => {
    if (page.url().endsWith('#/runs/1')) return true;
    await page.goBack();
    return false;
  });
  await opened(page);
  await checkLive(page, known, `${moment}, by Back`);
  await page.evaluate(() => (window.location.hash = '/compare/1'));
  await checkCompare(page, known, moment);
  await link(page, 'Queue');
  await checkQueue(page, known, moment);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search everything' }).fill('#1 watched');
  await page
    .getByRole('option', { name: /^#1 watched/ })
    .first()
    .click();
  await opened(page);
  await checkLive(page, known, `${moment}, by the palette`);
  await page.reload();
  await opened(page);
  await checkLive(page, known, `${moment}, after Reload`);
  await second.evaluate(() => (window.location.hash = '/runs/1'));
  await opened(second);
  await checkLive(second, known, `${moment}, in the second window`);
  await second.evaluate(() => (window.location.hash = '/compare/1'));
  await checkCompare(second, known, `${moment}, in the second window`);
}

test('while its reference is cloned, every page and the sidebar say how far that is', async () => {
  const config = JSON.stringify(applyOverrides(loadPreset('shop-tiny').config, SETTINGS));
  const opening = lab.app.waitForEvent('window');
  await lab.page.evaluate(() => window.astrolab.call('system.openWindow', { address: '/compare/1' }));
  second = await opening;
  await lab.page.evaluate(
    (text) =>
      window.astrolab.call('queue.add', { order: { config: JSON.parse(text), seeds: '1', sweep: [] }, preset: 'shop-tiny', tags: [] }),
    config,
  );
  await lab.page.evaluate(() => (window.location.hash = '/runs/1'));
  const status = lab.page.locator('section[aria-label="Run status"]');
  await status.getByText(/cloning the reference \(loss .* at most /).waitFor();
  await hold();
  const doing = /, (\d+) of 160 · at most .+ left/;
  const step = await until('cloning held still', async () => {
    const before = await status.innerText();
    await new Promise((resolve) => setTimeout(resolve, 400));
    return before === (await status.innerText()) ? doing.exec(before)?.[1] : undefined;
  });
  const words = `cloning ${Math.floor((100 * Number(step)) / STEPS)}%, `;
  await look('cloning');
  for (const page of [lab.page, second]) {
    expect(await page.getByRole('region', { name: 'Training now' }).innerText()).toContain(words);
    await page.evaluate(() => (window.location.hash = '/runs/1'));
    await opened(page);
    expect(await page.locator('section[aria-label="Run status"]').innerText()).toContain(`, ${step} of ${STEPS} · `);
    await page.evaluate(() => (window.location.hash = '/queue'));
    await page.getByText(`0 of ${UPDATES} updates, ${words}`).waitFor();
    await page.evaluate(() => (window.location.hash = '/runs/1'));
    await opened(page);
  }
});

test('paused there, it still says how far cloning is', async () => {
  await steer('pause');
  release();
  await until('the pause', async () => record().run.state === 'paused');
  await look('paused in cloning');
  await expect
    .poll(() => lab.page.locator('section[aria-label="Run status"]').innerText())
    .toMatch(/Paused after update 0 · cloning the reference/);
  const bar = lab.page.getByRole('progressbar', { name: 'Reference' });
  expect(Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0);
});

test('after its first update', async () => {
  await steer('step');
  await until('the first update', async () => record().run.state === 'paused' && record().run.updates === 1);
  expect(record().run.updates).toBe(1);
  await look('after the first update');
});

test('in the middle, while it trains', async () => {
  await lab.page.evaluate(() => (window.location.hash = '/'));
  gate.at('"type":"update","update":3');
  await steer('resume');
  await gate.during(async () => {
    await atRest();
    await lab.page.evaluate(() => (window.location.hash = '/runs/1'));
    await opened(lab.page);
    expect(record().run.state).toBe('running');
    await look('in the middle');
  });
});

test('done, and the page was left while it trained', async () => {
  await tab(lab.page, /^Log/);
  await until('the end', async () => record().run.state === 'done');
  await tab(lab.page, /^Charts/);
  const known = record();
  expect([known.run.updates, known.charts.get('Success')]).toEqual([UPDATES, expect.arrayContaining([expect.arrayContaining([UPDATES])])]);
  await look('done');
});

test('a study that another process or another window saves is in every list of studies, also of a page that was read before', async () => {
  const { page } = lab;
  const listed = (): Promise<string[]> => text(page, 'table[aria-label="Saved studies"] tbody td:first-child');
  await link(page, 'Studies');
  await page.getByRole('button', { name: 'Run on this machine' }).waitFor();
  expect(await listed()).toEqual([]);
  await link(page, 'Runs');
  const elsewhere = Store.open(lab.data);
  elsewhere.studies.create('from a terminal', [RUN]);
  elsewhere.close();
  await second.evaluate((run) => window.astrolab.call('studies.save', { id: null, name: 'from a window', runs: [run] }), RUN);
  await link(page, 'Studies');
  await expect.poll(async () => (await listed()).toSorted()).toEqual(['from a terminal', 'from a window']);
});
