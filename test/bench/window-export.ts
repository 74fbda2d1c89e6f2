// The third part of the window's benchmark: how long the event loops of shell and lab are held up under load; and while 100 runs are exported (as a report in every format, and as an .astrolab file), and
// while 100,000 episodes are searched, how long does any other call of the page wait? A call that takes 100 ms is felt.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportFormats } from '../../main/base/vocabulary.ts';
import type { Input } from '../../preload/contract.ts';
import { freshDataFolder, launch, type Lab, readStore, until, visit } from '../e2e/app.ts';
import { seed } from '../e2e/seeded.ts';
import type { BenchRow } from './report.ts';
import { applyOverrides, loadPreset } from '../catalog.ts';

const RUNS = 100;
const TASKS = 10;
const VARIANTS = ['grpo', 'reinforce', 'ppo', 'astar-po'];
export const WAIT_GOAL = 100;

export function fillExport(): string {
  const data = freshDataFolder();
  const runs = Array.from({ length: RUNS }, (_, index) => ({
    variant: VARIANTS[index % VARIANTS.length] ?? 'grpo',
    seed: Math.floor(index / VARIANTS.length),
    agent: index % 2 === 0 ? ('heuristic' as const) : ('blind' as const),
  }));
  seed(data, runs, TASKS);
  return data;
}

type Work = { [N in 'report.export' | 'transfer.export' | 'episodes.list']: { name: N; input: Input<N> } }[
  | 'report.export'
  | 'transfer.export'
  | 'episodes.list'];

/** Does the work and meanwhile asks for something small, again and again: the longest answer, and how long it all took, in ms. */
export function waitWhile(lab: Lab, work: Work): Promise<{ longest: number; took: number }> {
  return lab.page.evaluate(async ({ name, input }) => {
    let done = false;
    const began = performance.now();
    const under = window.astrolab.call(name, input).then((answer) => {
      done = true;
      return answer;
    });
    let longest = 0;
    while (!done) {
      const asked = performance.now();
      await window.astrolab.call('system.about', {});
      longest = Math.max(longest, performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const answer = await under;
    if (!answer.ok) throw new Error(answer.error.message);
    return { longest, took: performance.now() - began };
  }, work);
}

/** `data` is what fillExport made; it is removed afterwards. */
export async function exportRows(data: string): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-'));
  const lab = await launch({ data });
  try {
    await lab.app.evaluate(({ dialog }, chosen) => {
      dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [chosen] });
      dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: `${chosen}/runs.astrolab` });
    }, folder);
    const runs = Array.from({ length: RUNS }, (_, index) => index + 1);
    // The first answer of a kind loads its code.
    await lab.page.evaluate(() => window.astrolab.call('system.about', {}));
    const report = await waitWhile(lab, {
      name: 'report.export',
      input: { runs, title: 'bench', formats: [...reportFormats] },
    });
    const file = await waitWhile(lab, { name: 'transfer.export', input: { runs, checkpoints: true } });
    const limit = { peer: null, better: 'lower', absolute: true } as const;
    return [
      { ...limit, name: `a report of ${RUNS} runs is exported: another call waits`, ours: report.longest, unit: 'ms', goal: WAIT_GOAL },
      { ...limit, name: 'that export takes', ours: report.took / 1000, unit: 's', goal: null },
      { ...limit, name: `${RUNS} runs are exported to a file: another call waits`, ours: file.longest, unit: 'ms', goal: WAIT_GOAL },
      { ...limit, name: 'that export takes', ours: file.took / 1000, unit: 's', goal: null },
    ];
  } finally {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const EPISODES = 192;
const WATCHED_SECONDS = 20;

/**
 * How long the event loops of the shell and of the lab are held up while two runs train at 192 episodes an update, 100 runs are exported and
 * Compare is open. `data` is what fillExport made; it is removed afterwards.
 */
export async function eventLoopRows(data: string): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-'));
  const lab = await launch({ data });
  try {
    await lab.app.evaluate(({ dialog }, chosen) => {
      dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: `${chosen}/runs.astrolab` });
    }, folder);
    const config = JSON.parse(
      JSON.stringify(applyOverrides(loadPreset('shop-tiny').config, [`training.batch=${EPISODES}`, 'training.updates=10000', 'threads=1'])),
    );
    await lab.page.evaluate(async (tree) => {
      await window.astrolab.call('preferences.change', { concurrent: 2, retention: null });
      await window.astrolab.call('queue.add', { order: { config: tree, seeds: '1,2', sweep: [] }, preset: 'shop-tiny', tags: [] });
    }, config);
    const trained = (run: number): number => readStore(data, (store) => store.runs.get(run).updates);
    await until('both runs to train', async () => trained(RUNS + 1) > 0 && trained(RUNS + 2) > 0);
    const runs = Array.from({ length: RUNS }, (_, index) => index + 1);
    await visit(lab, '/compare');
    await lab.app.evaluate(() => {
      const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
      const watched = monitorEventLoopDelay({ resolution: 1 });
      watched.enable();
      Reflect.set(globalThis, 'watched', watched);
    });
    const answer = await lab.page.evaluate(
      async ({ ids, seconds }) => {
        await window.astrolab.call('system.eventLoop', {});
        const end = performance.now() + seconds * 1000;
        while (performance.now() < end) {
          const work = await Promise.all([
            window.astrolab.call('transfer.export', { runs: ids, checkpoints: true }),
            window.astrolab.call('compare.open', { runs: ids }),
          ]);
          for (const one of work) if (!one.ok) throw new Error(one.error.message);
        }
        return window.astrolab.call('system.eventLoop', {});
      },
      { ids: runs, seconds: WATCHED_SECONDS },
    );
    if (!answer.ok) throw new Error(answer.error.message);
    const shell = await lab.app.evaluate(() => {
      const watched: { percentile(share: number): number; readonly max: number } = Reflect.get(globalThis, 'watched');
      return { p99: watched.percentile(99) / 1e6 - 1, longest: watched.max / 1e6 - 1 };
    });
    const limit = { peer: null, better: 'lower', absolute: true, unit: 'ms' } as const;
    const meanwhile = 'two runs train, 100 are exported, Compare is open';
    return [
      { ...limit, name: `event loop of the shell, p99: ${meanwhile}`, ours: shell.p99, goal: 8 },
      { ...limit, name: 'the longest of the shell', ours: shell.longest, goal: null },
      { ...limit, name: `event loop of the lab, p99: ${meanwhile}`, ours: answer.value.p99, goal: 50 },
      { ...limit, name: 'the longest of the lab', ours: answer.value.longest, goal: null },
    ];
  } finally {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
