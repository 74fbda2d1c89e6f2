// The second half of the window's benchmark: a step in replay, the filter of a list of 100,000 episodes, and opening a
// comparison of 20 runs and a study of 100, each as the user waits for it in the real window: from the key, the choice or the address to the
// finished page (laid out, ready to paint). The frame that shows it comes at the next tick of the screen.

import { Random } from '../../main/base/random.ts';
import { sampleStudyFile } from '../../main/base/paths.ts';
import { importFile } from '../../main/interchange/import.ts';
import { Store } from '../../main/store/store.ts';
import { launch, freshDataFolder, visit, type Lab } from '../e2e/app.ts';
import { seed } from '../e2e/seeded.ts';
import { type BenchRow, median } from './report.ts';
import { benchTrajectory } from './store-data.ts';
import { WAIT_GOAL, waitWhile } from './window-export.ts';
import { loadPreset, newRun } from '../catalog.ts';

const EPISODES = 100_000;
const BATCH = 1000;
const RUNS = 20;
const TASKS = 100;
const ROUNDS = 20;

/** Twenty runs with four evaluations each, and after them one run with 100,000 episodes. */
export function fillReplay(): string {
  const data = freshDataFolder();
  const runs = Array.from({ length: RUNS }, (_, index) => ({
    variant: index % 2 === 0 ? 'grpo' : 'reinforce',
    seed: index,
    agent: index % 2 === 0 ? ('heuristic' as const) : ('blind' as const),
  }));
  seed(data, runs, TASKS);
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
  return data;
}

/** `data` is what fillReplay made; it is removed afterwards. */
export async function replayRows(data: string): Promise<BenchRow[]> {
  const lab = await launch({ data });
  try {
    const limit = { peer: null, unit: 'ms', better: 'lower', absolute: true } as const;
    const compared = await compareTimes(lab);
    const steps = await stepTimes(lab);
    const filter = await filterTimes(lab, RUNS + 1);
    const search = {
      run: RUNS + 1,
      filter: { text: 'zanzibar', deep: true },
      order: 'time',
      descending: true,
      offset: 0,
      limit: 100,
    } as const;
    const searched = await waitWhile(lab, { name: 'episodes.list', input: search });
    return [
      { name: 'a step in replay', ours: median(steps), goal: 16, ...limit },
      { name: `a filter over ${EPISODES.toLocaleString('en')} episodes`, ours: median(filter), goal: 100, ...limit },
      { name: 'the slowest of ten such filters', ours: Math.max(...filter), goal: null, ...limit },
      { name: 'a search in all their observations', ours: searched.took, goal: null, ...limit },
      { name: 'that search: another call waits', ours: searched.longest, goal: WAIT_GOAL, ...limit },
      { name: `comparing ${RUNS} runs opens`, ours: median(compared.slice(1)), goal: 500, ...limit },
      { name: 'it opens for the first time', ours: compared[0] ?? Number.NaN, goal: 600, ...limit },
    ];
  } finally {
    await lab.close();
  }
}

/** From the key to the step on the page. */
async function stepTimes(lab: Lab): Promise<number[]> {
  await visit(lab, '/replay/1');
  await lab.page.getByRole('article').waitFor();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    times.push(
      await lab.page.evaluate(
        async (key) => {
          const text = (): string => document.querySelector('output')?.textContent ?? '';
          const before = text();
          await new Promise((resolve) => requestAnimationFrame(resolve));
          const begin = performance.now();
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code: key, bubbles: true }));
          const channel = new MessageChannel();
          while (text() === before && performance.now() - begin < 1000) {
            await new Promise((resolve) => {
              channel.port1.addEventListener('message', resolve, { once: true });
              channel.port1.start();
              channel.port2.postMessage(null);
            });
          }
          document.querySelector('article')?.getBoundingClientRect();
          return performance.now() - begin;
        },
        round % 2 === 0 ? 'ArrowRight' : 'ArrowLeft',
      ),
    );
  }
  return times;
}

/** From a word in the search field to the number of what it found and the first rows. */
async function filterTimes(lab: Lab, run: number): Promise<number[]> {
  await visit(lab, `/replay/${run}`);
  await lab.page.getByRole('article').waitFor();
  const texts = ['red blue', 'slim', 'p42', 'office travel', 'soft', 'steel', 'p7', 'classic', 'daily', 'heavy'];
  const times: number[] = [];
  for (const text of texts) {
    times.push(
      await lab.page.evaluate(async (words) => {
        const field = document.querySelector('input[aria-label="Text in the task, the actions or the comment"]');
        const total = (): string => document.querySelector('aside [role="status"]')?.textContent ?? '';
        if (!(field instanceof HTMLInputElement)) throw new Error('the filter is not on the page');
        const before = total();
        const begin = performance.now();
        // As React hears it from a keyboard: the browser's setter, then the event.
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, words);
        field.dispatchEvent(new Event('input', { bubbles: true }));
        const loaded = (): boolean => total() !== before && (document.querySelector('[role="option"]')?.textContent ?? '…') !== '…';
        while (!loaded() && performance.now() - begin < 5000) await new Promise((resolve) => setTimeout(resolve, 1));
        document.querySelector('[role="listbox"]')?.getBoundingClientRect();
        return performance.now() - begin;
      }, text),
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return times;
}

/** From the address to the table with all runs and the drawn curves. */
async function compareTimes(lab: Lab): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    // In another order each time, so that no answer of before is at hand.
    const runs = Array.from({ length: RUNS }, (_, index) => ((index + round) % RUNS) + 1);
    times.push(await openComparison(lab, `/compare/${runs.join(',')}`, RUNS, 2));
  }
  return times;
}

/** From the address to the drawn curves, the table with all arms and, where `runs` are given, the one with all runs. */
async function openComparison(lab: Lab, address: string, runs: number | null, arms: number): Promise<number> {
  await visit(lab, '/settings');
  return lab.page.evaluate(
    async ([hash, rows, groups]) => {
      const count = (table: string): number => document.querySelectorAll(`table[aria-label="${table}"] > tbody > tr`).length;
      const ready = (): boolean =>
        (rows === null || count('Final results') === rows) &&
        count('Arms') === groups &&
        document.querySelector('main figure canvas') !== null;
      const begin = performance.now();
      window.location.hash = hash;
      while (!ready()) {
        if (performance.now() - begin > 20_000) throw new Error(`${hash} is not complete after 20 s`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      document.querySelector('main')?.getBoundingClientRect();
      return performance.now() - begin;
    },
    [address, runs, arms] as const,
  );
}

const STUDY = { runs: 100, arms: 28 };

/** The sample study, and the same with so many of its runs and arms: how long until the curves and arms can be read, first and again. */
export async function studyRows(): Promise<BenchRow[]> {
  const limit = { peer: null, unit: 'ms', better: 'lower', absolute: true } as const;
  const part = await studyTimes((store, study) => keepOnly(store, study, STUDY));
  const whole = await studyTimes(() => undefined);
  const name = `a study of ${part.runs} runs with ${part.arms} arms opens`;
  return [
    { name: `${name} for the first time`, ours: part.times[0] ?? Number.NaN, goal: 700, ...limit },
    { name: `${name} again`, ours: median(part.times.slice(1)), goal: null, ...limit },
    { name: `the sample study (${whole.runs} runs) opens for the first time`, ours: whole.times[0] ?? Number.NaN, goal: null, ...limit },
  ];
}

/** The first arms of a study, and of each the first seeds, until there are so many runs. */
function keepOnly(store: Store, id: number, wanted: { readonly runs: number; readonly arms: number }): void {
  const { runs } = store.studies.get(id);
  const arms = Object.values(Object.groupBy(runs, (run) => store.runs.get(run).name)).slice(0, wanted.arms);
  const least = Math.floor(wanted.runs / arms.length);
  const kept = new Set(arms.flatMap((arm, index) => arm?.slice(0, index < wanted.runs % arms.length ? least + 1 : least) ?? []));
  store.studies.removeRuns(
    id,
    runs.filter((run) => !kept.has(run)),
  );
}

async function studyTimes(
  prepare: (store: Store, study: number) => void,
): Promise<{ readonly runs: number; readonly arms: number; readonly times: readonly number[] }> {
  const data = freshDataFolder();
  const store = Store.open(data);
  importFile(store, sampleStudyFile());
  const id = store.studies.list()[0]?.id ?? Number.NaN;
  prepare(store, id);
  const { runs } = store.studies.get(id);
  const arms = new Set(runs.map((run) => store.runs.get(run).name)).size;
  store.close();
  const lab = await launch({ data });
  try {
    const times: number[] = [];
    for (let round = 0; round < 4; round++) {
      // As a new window has it: nothing asked before.
      if (round > 0) await lab.page.reload();
      await lab.page.getByRole('navigation', { name: 'Main' }).waitFor();
      times.push(await openComparison(lab, `/compare/study-${id}`, null, arms));
    }
    return { runs: runs.length, arms, times };
  } finally {
    await lab.close();
  }
}
