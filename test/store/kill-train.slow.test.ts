// Exact resume of real training, as a user meets it: `lab train`, kill -9 of the training process or of the whole lab at a
// random moment, or aimed at an evaluation, at a checkpoint's file or at a write of the database, `lab resume`, and again. In
// the end `lab metrics`, the evaluations and the weights equal those of an undisturbed run, bit for bit.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { Random } from '../../main/base/random.ts';
import { Store } from '../../main/store/store.ts';
import { temporaryFolder } from './helpers.ts';

/** Fewer for a quick look: KILLS=3. A few in the first stages (reference, V*), the others in the updates. */
const KILLS = Number(process.env.KILLS ?? 16);
const EARLY_KILLS = Number(process.env.EARLY_KILLS ?? 4);
const UPDATES = 64;
const EVALUATED_EVERY = 3;
/** A reward and a reference with which even so small a policy learns something that could be lost. */
const SETTINGS = [
  `training.updates=${UPDATES}`,
  'checkpoints.every=2',
  `evaluation.every=${EVALUATED_EVERY}`,
  'world.settings.reward=slides',
  'reference.steps=200',
];
const TRAIN = ['train', '--preset', 'shop-tiny', '--seed', '3', ...SETTINGS.flatMap((setting) => ['--set', setting])];

/** What a kill waits for once enough updates are stored. Only the lab writes the database, only the training process checkpoints. */
const AIMS = ['any moment', 'checkpoint', 'evaluation', 'database write'] as const;
type Aim = (typeof AIMS)[number];

interface Lab {
  readonly pid: number | undefined;
  readonly ended: Promise<{ code: number | null; output: string }>;
  /** What it last said it was doing. */
  phase(): string;
}

function lab(folder: string, args: readonly string[]): Lab {
  const child = spawn(process.execPath, [join(projectFolder(), 'main', 'commands', 'cli.ts'), '--data', folder, '--json', ...args], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let phase = 'starting';
  child.stdout.on('data', (data) => (output += String(data)));
  child.stderr.on('data', (data) => (phase = /^([a-z][^:\d]+): \d+ of \d+/m.exec(String(data))?.[1] ?? phase));
  return {
    pid: child.pid,
    ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, output }))),
    phase: () => phase,
  };
}

interface Look {
  readonly uid: string;
  readonly trainer: number | null;
  readonly updates: number;
  /** The newest update that has a checkpoint. */
  readonly saved: number | undefined;
  readonly locked: boolean;
}

/** Who trains a run now, and how far it is; undefined before the run is there. */
function look(folder: string, id: number): Look | undefined {
  try {
    const store = Store.read(folder);
    const run = store.runs.find(id);
    const holder = run === undefined ? undefined : store.locks.holder(id);
    const saved = store.checkpoints.list(id).at(-1)?.update;
    store.close();
    return run && { uid: run.uid, trainer: holder?.trainerPid ?? null, updates: run.updates, saved, locked: holder !== undefined };
  } catch (error) {
    if (error instanceof Error && error.name === 'DatabaseError') return undefined;
    throw error;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls `then` at the next change of a file whose name contains `part`. */
function atNextChange(folder: string, part: string, then: () => void): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_event, name) => {
      if (name?.includes(part) !== true) return;
      watcher.close();
      then();
      resolve();
    });
  });
}

/** Trains run `id` through `kills` kills: each within `patienceMs` after its process is there (`early`), or after a few more updates. */
async function trainUnderFire(folder: string, id: number, kills: number, early: boolean, patienceMs: number): Promise<string[]> {
  const random = Random.from('kill-train', id, kills);
  const log: string[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    const current = lab(folder, look(folder, id) === undefined ? TRAIN : ['resume', String(id)]);
    let ended = false;
    void current.ended.then(() => (ended = true));
    while (!ended && (look(folder, id)?.trainer ?? null) === null) await sleep(20);
    const { uid = '', trainer = null, saved = 0 } = look(folder, id) ?? {};

    const aim: Aim = early ? 'any moment' : (AIMS[kill % AIMS.length] ?? 'any moment');
    const wanted = early ? 0 : saved + 1 + random.below(3);
    while (!ended && (look(folder, id)?.updates ?? 0) < wanted) await sleep(10);
    const lonely = aim === 'checkpoint' || (aim !== 'database write' && random.next() < 0.5);
    const strike = (): void => {
      const target = lonely ? trainer : current.pid;
      if (!ended && target !== null && target !== undefined) process.kill(target, 'SIGKILL');
    };
    if (aim === 'checkpoint') await Promise.race([current.ended, atNextChange(join(folder, 'checkpoints', uid), '.partial', strike)]);
    else if (aim === 'database write') await Promise.race([current.ended, atNextChange(folder, 'astrolab.db-wal', strike)]);
    else {
      while (!ended && aim === 'evaluation' && current.phase() !== 'evaluating') await sleep(1);
      await Promise.race([current.ended, sleep(random.next() * (aim === 'evaluation' ? 30 : patienceMs))]);
      strike();
    }
    if (ended) break;
    const phase = current.phase();
    await current.ended;
    while (look(folder, id)?.locked === true) await sleep(20);

    const { updates = 0, saved: newest } = look(folder, id) ?? {};
    const files = existsSync(join(folder, 'checkpoints', uid)) ? readdirSync(join(folder, 'checkpoints', uid)) : [];
    const half = files.some((name) => name.endsWith('.partial')) ? ', half a checkpoint left behind' : '';
    const places = {
      'any moment': `while ${phase}`,
      checkpoint: 'in a checkpoint',
      evaluation: 'in an evaluation',
      'database write': 'in a database write',
    };
    const where = places[aim];
    const goesOn = newest === undefined ? 'starts again' : `resumed from update ${newest}`;
    log.push(`${kill}. ${lonely ? 'training process' : 'whole lab'} killed ${where}${half}; update ${updates} was stored, ${goesOn}`);
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
  expect(undisturbed).toMatchObject({ state: 'done', updates: UPDATES });

  const log = await trainUnderFire(folder, 2, KILLS, false, 500);
  console.log(log.join('\n'));
  expect(log).toHaveLength(KILLS);
  expect(await outcome(folder, 2)).toEqual(undisturbed);

  const fresh = temporaryFolder();
  const early = await trainUnderFire(fresh, 1, EARLY_KILLS, true, duration / 2);
  console.log(early.join('\n'));
  expect(await outcome(fresh, 1)).toEqual(undisturbed);
});
