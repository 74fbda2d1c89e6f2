// Exact resume of real training, as a user meets it: `lab train`, kill -9 of the training process or of the whole lab at a
// random moment (while the reference is made, while V* is sampled, in an update, a checkpoint, a database write or an
// evaluation), `lab resume`, and again. In the end `lab metrics` and the weights equal those of an undisturbed run, bit for bit.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCheckpoint } from '../../main/engine/checkpoint.ts';
import { projectFolder } from '../../main/paths.ts';
import { Random } from '../../main/random.ts';
import { Store } from '../../main/store/store.ts';
import { temporaryFolder } from './helpers.ts';

/** Fewer for a quick look: KILLS=3. A few in the first stages (reference, V*), the others in the updates. */
const KILLS = Number(process.env.KILLS ?? 16);
const EARLY_KILLS = Number(process.env.EARLY_KILLS ?? 4);
const SETTINGS = ['training.updates=12', 'checkpoints.every=2', 'evaluation.every=3'];
const TRAIN = ['train', '--preset', 'shop-tiny', '--seed', '3', ...SETTINGS.flatMap((setting) => ['--set', setting])];

interface Lab {
  readonly pid: number | undefined;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

function lab(folder: string, args: readonly string[]): Lab {
  const child = spawn(process.execPath, [join(projectFolder(), 'main', 'cli.ts'), '--data', folder, '--json', ...args], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  return { pid: child.pid, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, output }))) };
}

/** Who trains a run now, and how far it is; undefined before the run is there. */
function look(folder: string, id: number): { trainer: number | null; updates: number; locked: boolean } | undefined {
  try {
    const store = Store.read(folder);
    const run = store.runs.find(id);
    const holder = run === undefined ? undefined : store.locks.holder(id);
    store.close();
    return run && { trainer: holder?.trainerPid ?? null, updates: run.updates, locked: holder !== undefined };
  } catch (error) {
    if (error instanceof Error && error.name === 'DatabaseError') return undefined;
    throw error;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Trains run `id` through `kills` kills, each within `patienceMs` after its process is there or after it has stored an update. */
async function trainUnderFire(folder: string, id: number, kills: number, after: 'start' | 'update', patienceMs: number): Promise<string[]> {
  const random = Random.from('kill-train', id, kills);
  const log: string[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    const current = lab(folder, look(folder, id) === undefined ? TRAIN : ['resume', String(id)]);
    let ended = false;
    void current.ended.then(() => (ended = true));
    while (!ended && (look(folder, id)?.trainer ?? null) === null) await sleep(20);
    const before = look(folder, id)?.updates ?? 0;
    while (!ended && after === 'update' && (look(folder, id)?.updates ?? 0) <= before) await sleep(20);
    await Promise.race([current.ended, sleep(random.next() * patienceMs)]);
    if (ended) break;
    const { trainer = null, updates = 0 } = look(folder, id) ?? {};
    const target = kill % 2 === 0 ? trainer : current.pid;
    if (target !== null && target !== undefined) process.kill(target, 'SIGKILL');
    log.push(`${kill}. killed ${target === trainer ? 'the training process' : 'the whole lab'} at update ${updates}`);
    await current.ended;
    while (look(folder, id)?.locked === true) await sleep(20);
  }
  const store = Store.open(folder);
  const state = store.runs.find(id)?.state;
  store.close();
  if (state !== 'done') await lab(folder, state === undefined ? TRAIN : ['resume', String(id)]).ended;
  return log;
}

/** All that must be the same: `lab metrics`, what was evaluated, the weights. */
async function outcome(folder: string, id: number): Promise<unknown> {
  const { output } = await lab(folder, ['metrics', String(id)]).ended;
  const store = Store.read(folder);
  const { state, updates } = store.runs.get(id);
  const weights = store.checkpoints
    .list(id)
    .map((checkpoint) => [checkpoint.update, [...readCheckpoint(store.checkpoints.path(checkpoint)).tensors]]);
  const results = store.evaluations
    .list(id)
    .map((one) => [one.update, one.kind, store.evaluations.results(one.id).map((result) => ({ ...result, episode: null }))]);
  store.close();
  return { state, updates, metrics: JSON.parse(output), weights, results };
}

it('training that was killed again and again ends with the metrics and weights of an undisturbed run', async () => {
  const folder = temporaryFolder();
  const start = performance.now();
  expect((await lab(folder, TRAIN).ended).code).toBe(0);
  const duration = performance.now() - start;
  const undisturbed = await outcome(folder, 1);
  expect(undisturbed).toMatchObject({ state: 'done', updates: 12 });

  const log = await trainUnderFire(folder, 2, KILLS, 'update', duration / 20);
  console.log(log.join('\n'));
  expect(await outcome(folder, 2)).toEqual(undisturbed);

  const fresh = temporaryFolder();
  const early = await trainUnderFire(fresh, 1, EARLY_KILLS, 'start', duration);
  console.log(early.join('\n'));
  expect(await outcome(fresh, 1)).toEqual(undisturbed);
});
