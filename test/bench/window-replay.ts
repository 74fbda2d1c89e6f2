// The second half of the window's benchmark: a step in replay, the filter of a list of 100,000 episodes, and opening a
// comparison of 20 runs, each as the user waits for it: from the action to the painted frame, in the real window.

import { newRun } from '../../main/training/new-run.ts';
import { loadPreset } from '../../main/training/presets.ts';
import { Random } from '../../main/random.ts';
import { Store } from '../../main/store/store.ts';
import { launch, freshDataFolder, visit, type Lab } from '../e2e/app.ts';
import { seed } from '../e2e/seeded.ts';
import { type BenchRow, median } from './report.ts';
import { benchTrajectory } from './store-data.ts';

const EPISODES = 100_000;
const BATCH = 1000;
const RUNS = 20;
const TASKS = 40;
const ROUNDS = 10;

export async function replayRows(): Promise<BenchRow[]> {
  const data = freshDataFolder();
  const runs = Array.from({ length: RUNS }, (_, index) => ({
    variant: index % 2 === 0 ? 'grpo' : 'reinforce',
    seed: index,
    agent: index % 2 === 0 ? ('heuristic' as const) : ('blind' as const),
  }));
  seed(data, runs, TASKS);
  const long = fillEpisodes(data);
  const lab = await launch({ data });
  try {
    const limit = { peer: null, unit: 'ms', better: 'lower', absolute: true } as const;
    return [
      { name: 'a step in replay', ours: await stepTime(lab), goal: 16, ...limit },
      { name: `a filter over ${EPISODES.toLocaleString('en')} episodes`, ours: await filterTime(lab, long), goal: 100, ...limit },
      { name: `comparing ${RUNS} runs opens`, ours: await compareTime(lab), goal: 500, ...limit },
    ];
  } finally {
    await lab.close();
  }
}

function fillEpisodes(data: string): number {
  const store = Store.open(data);
  const run = store.runs.create(newRun(loadPreset('shop-tiny').config, 'shop-tiny'));
  const random = Random.from('window-bench');
  for (let update = 0; update < EPISODES / BATCH; update++) {
    store.trajectories.add(
      run.id,
      update,
      Array.from({ length: BATCH }, () => benchTrajectory(random, update)),
    );
  }
  store.runs.change(run.id, { state: 'done', episodes: EPISODES, position: null });
  store.close();
  return run.id;
}

/** From the key to the next frame. */
async function stepTime(lab: Lab): Promise<number> {
  await visit(lab, '/replay/1');
  await lab.page.getByRole('article').waitFor();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const key = round % 2 === 0 ? 'ArrowRight' : 'ArrowLeft';
    times.push(
      await lab.page.evaluate(async (name) => {
        const begin = performance.now();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: name, code: name, bubbles: true }));
        const text = (): string => document.querySelector('output')?.textContent ?? '';
        const before = text();
        while (text() === before && performance.now() - begin < 1000) await new Promise((resolve) => queueMicrotask(() => resolve(null)));
        return performance.now() - begin;
      }, key),
    );
  }
  return median(times);
}

/** The answer to a filter that matches few, asked for as the list does. */
async function filterTime(lab: Lab, run: number): Promise<number> {
  const texts = ['red blue', 'slim', 'p42', 'office travel', 'soft', 'steel', 'p7', 'classic', 'daily', 'heavy'];
  const times: number[] = [];
  for (const text of texts) {
    times.push(
      await lab.page.evaluate(
        async ([id, words]) => {
          const begin = performance.now();
          const input = { run: id, filter: { text: words }, order: 'time', descending: true, offset: 0, limit: 100 } as const;
          const outcome = await window.astrolab.call('episodes.list', input);
          if (!outcome.ok) throw new Error(outcome.error.message);
          return performance.now() - begin;
        },
        [run, text] as const,
      ),
    );
  }
  return median(times);
}

/** From the address to the table with all runs. */
async function compareTime(lab: Lab): Promise<number> {
  const address = `/compare/${Array.from({ length: RUNS }, (_, index) => index + 1).join(',')}`;
  await visit(lab, '/settings');
  const begin = performance.now();
  await visit(lab, address);
  await lab.page.getByRole('table', { name: 'Final results' }).waitFor();
  return performance.now() - begin;
}
