// `npm run bench -- estimate [PRESET …]`: how right the times are that the window says. Each preset is measured as "Measure on this machine"
// does and then trained twice: the time named before Start against the time that the run took, from the probe and then from the first run,
// and during training, at a tenth and at half of its updates, the time left against the time that was left. The goal is a factor of two
// either way on a machine that does nothing else. Takes minutes.

import { rmSync } from 'node:fs';
import { trainHere } from '../../main/commands/train.ts';
import type { RunConfig } from '../../main/config/config.ts';
import { rowOf } from '../../main/lab/rows.ts';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import { estimateRun, probeKey } from '../../main/queue/estimate.ts';
import { probe } from '../../main/queue/probe.ts';
import { Store } from '../../main/store/store.ts';
import { secondsLeft } from '../../renderer/state/progress.ts';
import { freshDataFolder } from '../e2e/app.ts';
import { type BenchRow, report } from './report.ts';
import { applyOverrides, loadPreset, newRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const PRESETS = ['shop-tiny', 'shop-demo', 'maths-multiplication'];
const SHARES = [0.1, 0.5];
const EVERY_MS = 50;
/** Within a factor of two either way. */
const GOAL = 2;

interface Look {
  readonly time: number;
  readonly updates: number;
  readonly left: number | null;
}

/** Trains to the end; what the window would have said meanwhile. */
async function watched(store: Store, config: RunConfig, preset: string): Promise<{ seconds: number; looks: readonly Look[]; end: number }> {
  const run = store.runs.create(newRun(config, preset));
  const looks: Look[] = [];
  const began = performance.now();
  const timer = setInterval(() => {
    const now = rowOf(store, store.runs.get(run.id));
    looks.push({ time: performance.now(), updates: now.updates, left: secondsLeft(now) });
  }, EVERY_MS);
  await trainHere(store, run.id);
  clearInterval(timer);
  const end = performance.now();
  const { state, reason } = store.runs.get(run.id);
  if (state !== 'done') throw new Error(`${preset} is ${state}: ${reason}`);
  return { seconds: (end - began) / 1000, looks, end };
}

async function rowsOf(preset: string): Promise<BenchRow[]> {
  const data = freshDataFolder();
  const store = Store.open(data);
  try {
    const { config } = loadPreset(preset);
    store.settings.set(probeKey(config), await probe(BUILT_IN, config, (folder) => launchWith(spawnChild, folder), data));
    const rows: BenchRow[] = [];
    const compare = (name: string, said: number | null | undefined, was: number): void => {
      const shared = { peer: null, better: 'lower', absolute: true } as const;
      const factor = said ? Math.max(said / was, was / said) : Number.NaN;
      const words = `${preset}, ${name}: ${said?.toFixed(1) ?? '–'} s said, ${was.toFixed(1)} s`;
      rows.push({ ...shared, name: words, ours: factor, unit: '×', goal: GOAL });
    };
    for (const [seed, source] of [
      [1, 'a probe'],
      [2, 'the run before'],
    ] as const) {
      const own = applyOverrides(config, [`seed=${seed}`]);
      const before = estimateRun(store, own).seconds;
      const { seconds, looks, end } = await watched(store, own, preset);
      compare(`before Start from ${source}`, before, seconds);
      for (const share of SHARES) {
        const look = looks.find(({ updates }) => updates >= Math.max(1, share * config.training.updates));
        if (look) compare(`at ${100 * share}% of its updates`, look.left, (end - look.time) / 1000);
      }
    }
    return rows;
  } finally {
    store.close();
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
}

const rows: BenchRow[] = [];
const chosen = process.argv.slice(2).filter((word) => !word.startsWith('-'));
for (const preset of chosen.length > 0 ? chosen : PRESETS) rows.push(...(await rowsOf(preset)));
report(rows, 'none: what was said against what it took; other work on the machine counts');
