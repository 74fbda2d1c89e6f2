// `npm run bench -- window`: the real application on a real display (or a virtual one). How long from the start of the
// process to a list one can use, to open a run with 10,000 points, whether 5,000 runs scroll without a gap, whether the
// page stays smooth while five runs report 50 updates a second each, and what all processes together take of memory
// with 1,000 runs. There is no peer: each row has an absolute bound.

import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { projectFolder } from '../../main/base/paths.ts';
import { Random } from '../../main/base/random.ts';
import { Store } from '../../main/store/store.ts';
import { electronExecutable, freshDataFolder, launch, launchEnvironment, SWITCHES, until, visit } from '../e2e/app.ts';
import type { Lab } from '../e2e/app.ts';
import { newRun } from '../store/samples.ts';
import { median, report } from './report.ts';
import { eventLoopRows, exportRows, fillExport } from './window-export.ts';
import { fillReplay, replayRows, studyRows } from './window-replay.ts';

const POINTS = 10_000;
/** What the Live page draws. */
const METRICS =
  `rollout.success rollout.return rollout.return.std rollout.steps rollout.tokens rollout.valid rollout.entropy loss loss.policy
  entropy logratio kl.k3 gradient.norm advantage.mean advantage.std vstar.unsolved
  system/time.rollout system/time.update system/time.scoring system/speed.tokens system/memory episodes system/time.elapsed`.split(/\s+/);

/** A data folder with so many finished runs; the newest one has 10,000 points of every metric. */
function fill(runs: number): string {
  const folder = freshDataFolder();
  const store = Store.open(folder);
  const random = Random.from('bench-window', 1);
  store.write(() => {
    for (let index = 0; index < runs; index++) {
      const variant = random.pick(['astar-po', 'grpo', 'ppo', 'reinforce']);
      const { id } = store.runs.create(
        newRun({ name: `${variant}, try ${index}`, variant, seed: index % 5, tags: [random.pick(['pilot', 'final'])] }),
      );
      store.runs.change(id, { state: 'done', updates: POINTS, episodes: POINTS * 128, seconds: 3600 * random.next(), position: null });
      for (let point = 0; point < 40; point++) store.runs.addSpark(id, point * 250, Math.min(1, random.next() * 0.2 + point / 60));
      store.runs.setEvaluated(id, {
        test: { k: random.below(200), n: 200, update: 9000, temperature: 0 },
        validation: { k: 160, n: 200, update: 9000 },
        best: { k: 180, n: 200, update: 9000 },
      });
    }
  });
  const updates = Int32Array.from({ length: POINTS }, (_, index) => index + 1);
  for (const name of METRICS) {
    store.metrics.addSeries(
      runs,
      name,
      updates,
      Float64Array.from(updates, (update) => update / POINTS + 0.1 * random.next()),
    );
  }
  store.close();
  return folder;
}

/** From just before the process is started to the list on screen, in ms. Nothing watches the start: the page is asked afterwards. */
async function startup(data: string): Promise<number> {
  const args = [...SWITCHES, '--remote-debugging-port=0', projectFolder()];
  const began = Date.now();
  const child = spawn(electronExecutable(), args, { env: launchEnvironment(data), stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const browser = await chromium.connectOverCDP(await debuggingAddress(child.stderr));
    const page = browser.contexts()[0]?.pages()[0];
    if (!page) throw new Error('the application opened no window');
    const drawn = await until('the list', () =>
      page.evaluate(() => {
        const [mark] = performance.getEntriesByName('runs drawn');
        return mark ? performance.timeOrigin + mark.startTime : 0;
      }),
    );
    await page.evaluate(() => window.close());
    await ended;
    return drawn - began;
  } finally {
    child.kill('SIGKILL');
  }
}

/** Where Chromium says that it can be asked. */
async function debuggingAddress(output: NodeJS.ReadableStream): Promise<string> {
  let heard = '';
  for await (const chunk of output) {
    heard += String(chunk);
    const found = /DevTools listening on (ws:\S+)/.exec(heard)?.[1];
    if (found) return found;
  }
  throw new Error(`The application ended before it could be asked: ${heard.slice(-500)}`);
}

/** From the click on the row to drawn charts with their numbers, in ms. */
async function openRun(lab: Lab, run: number): Promise<number> {
  await visit(lab, '/');
  await lab.page.locator(`tr[data-run="${run}"]`).waitFor();
  return lab.page.evaluate(async (id) => {
    const row = document.querySelector(`tr[data-run="${id}"]`);
    const began = performance.now();
    if (row instanceof HTMLElement) row.click();
    const ready = (): boolean => document.querySelectorAll('main figure canvas').length >= 4;
    while (!ready() && performance.now() - began < 20_000) await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - began;
  }, run);
}

/** Scrolls through the whole list in about two seconds; the longest time between two frames, and how many there were. */
function scroll(lab: Lab): Promise<{ longest: number; frames: number; seconds: number }> {
  return lab.page.evaluate(async () => {
    const box = document.querySelector('[role="grid"]')?.parentElement;
    if (!box) throw new Error('the list is not on the page');
    const began = performance.now();
    let last = began;
    let longest = 0;
    let frames = 0;
    while (last - began < 2000) {
      box.scrollTop = ((last - began) / 2000) * box.scrollHeight;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      frames += 1;
    }
    return { longest, frames, seconds: (last - began) / 1000 };
  });
}

const LIVE_RUNS = 5;
const UPDATES_PER_SECOND = 50;
const LIVE_SECONDS = 8;

/**
 * Five runs report 50 updates a second each while the Live page of one of them is open. The window is notified as the main
 * process does it (main/lab/news.ts: the rows and which runs have stored something, four times a second), from inside that
 * process; the page then asks for what it shows, as it always does. Frames are counted meanwhile.
 */
async function live(lab: Lab, newest: number): Promise<{ longest: number; frames: number; seconds: number; behind: number }> {
  await visit(lab, `/runs/${newest}`);
  await until('the charts', () => lab.page.evaluate(() => document.querySelectorAll('main figure canvas').length >= 4));
  const rows = await lab.page.evaluate(async () => {
    const answer = await window.astrolab.call('runs.list', {});
    return answer.ok ? answer.value.runs.slice(0, 5) : [];
  });
  const telling = lab.app.evaluate(
    async ({ BrowserWindow }, { first, perSecond, seconds, from }) => {
      const page = BrowserWindow.getAllWindows()[0]?.webContents;
      const began = performance.now();
      let last = from;
      while (performance.now() - began < seconds * 1000) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        last = from + Math.floor(((performance.now() - began) / 1000) * perSecond);
        const changed = first.map((row) => ({ ...row, state: 'running', updates: last }));
        page?.send('astrolab:event', 'runs.changed', { rows: changed, gone: [], stored: first.map(({ id }) => id) });
      }
      return last;
    },
    { first: rows, perSecond: UPDATES_PER_SECOND, seconds: LIVE_SECONDS, from: POINTS },
  );
  const seen = await lab.page.evaluate(async (seconds) => {
    const began = performance.now();
    let last = began;
    let longest = 0;
    let frames = 0;
    while (last - began < seconds * 1000) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      frames += 1;
    }
    return { longest, frames, seconds: (last - began) / 1000 };
  }, LIVE_SECONDS);
  // What the page shows the moment the last report is out.
  const last = await telling;
  const shown = Number((await lab.page.getByTestId('updates').innerText()).replace(/\D/g, ''));
  return { ...seen, behind: (last - shown) / UPDATES_PER_SECOND };
}

/** Proportional set size on Linux (shared pages counted once); the working sets elsewhere. MB. */
async function memory(lab: Lab): Promise<number> {
  const metrics = await lab.app.evaluate(({ app }) =>
    app.getAppMetrics().map(({ pid, memory: used }) => ({ pid, kilobytes: used.workingSetSize })),
  );
  const kilobytes = metrics.map(({ pid, kilobytes: all }) => {
    if (process.platform !== 'linux') return all;
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? all);
  });
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1000;
}

const large = fill(5000);
const small = fill(1000);
try {
  const cold = await launch({ data: large });
  await visit(cold, '/');
  const opened: number[] = [];
  for (let time = 0; time < 5; time++) opened.push(await openRun(cold, 5000));
  await visit(cold, '/');
  await cold.page.locator('tr[data-run="5000"]').waitFor();
  const scrolled = await scroll(cold);
  const told = await live(cold, 5000);
  await cold.close({ keep: true });

  const warm = await launch({ data: small });
  await visit(warm, '/');
  await warm.page.locator('tr[data-run="1000"]').waitFor();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const used = await memory(warm);
  await warm.close({ keep: true });
  const starts: number[] = [];
  for (let time = 0; time < 5; time++) starts.push(await startup(small));
  const bound = { peer: null, better: 'lower', absolute: true } as const;
  report(
    [
      { ...bound, name: 'start to usable, 1,000 runs', ours: median(starts) / 1000, unit: 's', goal: 1.5 },
      { ...bound, name: 'open a run with 10,000 points', ours: median(opened.slice(1)), unit: 'ms', goal: 200 },
      { ...bound, name: 'open it for the first time', ours: opened[0] ?? Number.NaN, unit: 'ms', goal: null },
      { ...bound, name: 'scroll 5,000 runs, longest gap', ours: scrolled.longest, unit: 'ms', goal: 1000 },
      { ...bound, name: 'scroll 5,000 runs, frames', ours: scrolled.frames / scrolled.seconds, unit: '1/s', better: 'higher', goal: null },
      { ...bound, name: `${LIVE_RUNS} runs at ${UPDATES_PER_SECOND} updates/s, longest gap`, ours: told.longest, unit: 'ms', goal: 250 },
      {
        ...bound,
        name: `${LIVE_RUNS} runs at ${UPDATES_PER_SECOND} updates/s, frames`,
        ours: told.frames / told.seconds,
        unit: '1/s',
        better: 'higher',
        goal: 30,
      },
      {
        ...bound,
        name: `${LIVE_RUNS} runs at ${UPDATES_PER_SECOND} updates/s, page behind at the end`,
        ours: told.behind,
        unit: 's',
        goal: 1,
      },
      { ...bound, name: 'memory, all processes, 1,000 runs', ours: used, unit: 'MB', goal: 400 },
      ...(await replayRows(fillReplay())),
      ...(await exportRows(fillExport())),
      ...(await eventLoopRows(fillExport())),
      ...(await studyRows()),
    ],
    `none: bounds in absolute numbers; drawn in software (--disable-gpu)`,
  );
} finally {
  for (const folder of [large, small]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
