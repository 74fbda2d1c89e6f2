// The third part of the window's benchmark: while 100 runs are exported (as a report in every format, and as an .astrolab file), and
// while 100,000 episodes are searched, how long does any other call of the page wait? A call that takes 100 ms is felt.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportFormats } from '../../main/base/vocabulary.ts';
import type { Input } from '../../preload/contract.ts';
import { freshDataFolder, launch, type Lab } from '../e2e/app.ts';
import { seed } from '../e2e/seeded.ts';
import type { BenchRow } from './report.ts';

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
