// Exact resume of real training, as a user meets it: `lab train`, kill -9 of the training process or of the whole lab at a
// random moment (while the reference is made, while V* is sampled, in an update, a checkpoint, a database write or an
// evaluation), `lab resume`, and again. In the end `lab metrics` and the weights equal those of an undisturbed run, bit for bit.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder } from '../../main/paths.ts';
import { Random } from '../../main/random.ts';
import { Store } from '../../main/store/store.ts';
import { temporaryFolder } from './helpers.ts';

/** Fewer for a quick look: KILLS=3. */
const KILLS = Number(process.env.KILLS ?? 20);
const TRAIN = [
  'train',
  '--preset',
  'shop-tiny',
  '--seed',
  '3',
  '--set',
  'training.updates=12',
  '--set',
  'checkpoints.every=2',
  '--set',
  'evaluation.every=3',
];

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

/** Who trains run 1 now, and how far it is. */
function look(folder: string): { trainer: number | null; updates: number; locked: boolean } | undefined {
  try {
    const store = Store.read(folder);
    const run = store.runs.find(1);
    const holder = run === undefined ? undefined : store.locks.holder(1);
    store.close();
    return run && { trainer: holder?.trainerPid ?? null, updates: run.updates, locked: holder !== undefined };
  } catch {
    return undefined;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it(`gives the metrics and weights of an undisturbed run after ${KILLS} kills at random moments`, async () => {
  const calm = temporaryFolder();
  const start = performance.now();
  expect((await lab(calm, TRAIN).ended).code).toBe(0);
  const duration = performance.now() - start;

  const folder = temporaryFolder();
  const random = Random.from('kill-train', 1);
  const log: string[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const current = lab(folder, look(folder) === undefined ? TRAIN : ['resume', '1']);
    let ended = false;
    void current.ended.then(() => (ended = true));
    while (!ended && look(folder)?.trainer === undefined) await sleep(20);
    while (!ended && look(folder)?.locked !== true) await sleep(20);
    await Promise.race([current.ended, sleep(random.next() * Math.min(duration * 0.6, 60_000))]);
    if (ended) break;
    const { trainer = null, updates = 0 } = look(folder) ?? {};
    const target = kill % 2 === 0 ? trainer : current.pid;
    if (target !== null && target !== undefined) process.kill(target, 'SIGKILL');
    log.push(`${kill}. killed ${target === trainer ? 'the training process' : 'the whole lab'} at update ${updates}`);
    await current.ended;
    while (look(folder)?.locked === true) await sleep(20);
  }
  console.log(log.join('\n'));
  const last = Store.open(folder);
  const finished = last.runs.get(1).state === 'done';
  last.close();
  if (!finished) expect((await lab(folder, ['resume', '1']).ended).code).toBe(0);

  const [expected, found] = await Promise.all([lab(calm, ['metrics', '1']).ended, lab(folder, ['metrics', '1']).ended]);
  expect(JSON.parse(found.output)).toEqual(JSON.parse(expected.output));
  expect(found.output.length).toBeGreaterThan(1000);
  const weights = (where: string): unknown => {
    const store = Store.read(where);
    const checkpoints = store.checkpoints.list(1).map(({ update, sha256 }) => [update, sha256]);
    const results = store.evaluations
      .list(1)
      .map(({ id, update, kind }) => [update, kind, store.evaluations.results(id).map((result) => ({ ...result, episode: null }))]);
    store.close();
    return { checkpoints, results };
  };
  expect(weights(folder)).toEqual(weights(calm));
});
