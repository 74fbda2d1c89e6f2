// The torture test: real training is killed, stopped, cut off from its terminal, its disk and its folder, given wrong times, joined by
// a second lab and fed hostile files, at random, for as long as asked. After every fault: nothing recorded is lost, what is
// recorded equals an undisturbed run, no process is left over, the list opens. Everything follows from the seed but the moments.
//
//   npm run test:slow -- torture                       ten minutes
//   TORTURE_MINUTES=60 TORTURE_SEED=7 npm run test:slow -- torture
//   cat /tmp/astrolab-torture-7.log                    its counts

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../../main/base/random.ts';
import { exportRuns } from '../../main/interchange/transfer.ts';
import { Store } from '../../main/store/store.ts';
import { Fort, type Record, short } from './fort.ts';
import { HostileFiles } from './hostile.ts';
import { type StartedLab, startLab, tinyRun } from './lab.ts';

const MINUTES = Number(process.env.TORTURE_MINUTES ?? 10);
const SEED = Number(process.env.TORTURE_SEED ?? 17);
const UPDATES = 40;
const SEEDS = [1, 2] as const;
const DISK_MEGABYTES = 96;
const mark = `torture-${process.pid}-${SEED}`;

const training = (seed: number): string[] => [
  ...tinyRun(
    `training.updates=${UPDATES}`,
    'checkpoints.every=3',
    'evaluation.every=5',
    'evaluation.tasks=2',
    'training.batch=8',
    'world.settings.reward=slides',
  ),
  '--seed',
  String(seed),
];

/** Also into a file: a test that passes shows no output. */
const LOG = join(tmpdir(), `astrolab-torture-${SEED}.log`);
function tell(text: string): void {
  console.log(text);
  appendFileSync(LOG, `${text}\n`);
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A separate file system, so that it can run full without harm; elsewhere a plain folder, and no full disk. */
function makePlace(): { readonly folder: string; readonly limited: boolean; remove(): void } {
  const base = process.env.TORTURE_FOLDER ?? tmpdir();
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(join(base, 'astrolab-torture-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MEGABYTES}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return { folder, limited: false, remove: () => rmSync(folder, { recursive: true, force: true }) };
  }
  const remove = (): void => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, limited: true, remove };
}

/** What a fault needs: the running lab and everything that can be done to it. */
interface Scene {
  readonly lab: StartedLab;
  readonly fort: Fort;
  readonly random: Random;
  readonly place: string;
  readonly hostile: HostileFiles;
  readonly run: number;
}

interface Fault {
  readonly name: string;
  readonly weight: number;
  /** Whether the lab is expected to be gone afterwards. */
  readonly ends: boolean;
  act(scene: Scene): Promise<void> | void;
}

const signal = (pid: number | null, name: NodeJS.Signals): void => {
  if (pid === null || pid === 0) return;
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself in this very moment.
  }
};

const FAULTS: readonly Fault[] = [
  { name: 'lab killed', weight: 3, ends: true, act: ({ lab }) => signal(lab.pid, 'SIGKILL') },
  { name: 'training process killed', weight: 3, ends: true, act: ({ fort, run }) => signal(fort.trainer(run), 'SIGKILL') },
  { name: 'both killed', weight: 2, ends: true, act: ({ lab }) => signal(-lab.pid, 'SIGKILL') },
  { name: 'training process aborted', weight: 1, ends: true, act: ({ fort, run }) => signal(fort.trainer(run), 'SIGABRT') },
  { name: 'Ctrl-C', weight: 1, ends: true, act: ({ lab }) => signal(-lab.pid, 'SIGINT') },
  { name: 'terminated', weight: 1, ends: true, act: ({ lab }) => signal(-lab.pid, 'SIGTERM') },
  { name: 'terminal hung up', weight: 2, ends: true, act: ({ lab }) => signal(-lab.pid, 'SIGHUP') },
  { name: 'terminal closed', weight: 4, ends: false, act: ({ lab }) => lab.closeTerminal() },
  {
    name: 'processes stopped for a while',
    weight: 6,
    ends: false,
    act: async ({ lab, fort, random, run }) => {
      const target = random.next() < 0.5 ? lab.pid : fort.trainer(run);
      signal(target, 'SIGSTOP');
      await sleep(random.next() * 400);
      signal(target, 'SIGCONT');
    },
  },
  {
    name: 'clock jump',
    weight: 6,
    ends: false,
    act: ({ place, random }) => writeFileSync(join(place, 'clock'), String(Math.round((random.next() - 0.5) * 2 * 400 * 86_400_000))),
  },
  {
    name: 'data folder away',
    weight: 2,
    ends: true,
    act: async ({ lab, fort, place }) => {
      renameSync(fort.folder, join(place, 'away'));
      await Promise.race([lab.ended, sleep(30_000)]);
      renameSync(join(place, 'away'), fort.folder);
    },
  },
  {
    name: 'data folder away for a moment',
    weight: 3,
    ends: false,
    act: async ({ fort, place, random }) => {
      renameSync(fort.folder, join(place, 'away'));
      await sleep(random.next() * 300);
      renameSync(join(place, 'away'), fort.folder);
    },
  },
  {
    name: 'disk full',
    weight: 2,
    ends: true,
    act: async ({ lab, place }) => {
      const filler = join(place, 'filler');
      try {
        for (let size = DISK_MEGABYTES; size > 0; size = Math.floor(size / 2)) fill(filler, size);
        await Promise.race([lab.ended, sleep(20_000)]);
      } finally {
        rmSync(filler, { recursive: true, force: true });
      }
    },
  },
  {
    name: 'second lab',
    weight: 1,
    ends: false,
    act: async ({ fort, run, lab }) => {
      let over = false;
      void lab.ended.then(() => (over = true));
      const { code, err } = await startLab(fort.folder, ['--json', 'resume', String(run)], { TORTURE: mark }).ended;
      // The first one may have ended meanwhile: then the second is free to train, and has.
      if (!over && fort.trainer(run) !== null && code !== 2) throw new Error(`A second lab was let in: exit code ${code}, ${err}`);
    },
  },
  { name: 'hostile import', weight: 9, ends: false, act: ({ hostile, fort }) => hostile.attack(fort) },
];

/** As many files of a megabyte as fit. */
function fill(folder: string, megabytes: number): void {
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < megabytes; i++) {
    try {
      writeFileSync(join(folder, `${megabytes}-${i}`), Buffer.alloc(1_000_000, 1));
    } catch {
      return;
    }
  }
}

function choose(random: Random, faults: readonly Fault[]): Fault {
  let at = random.next() * faults.reduce((sum, { weight }) => sum + weight, 0);
  for (const fault of faults) if ((at -= fault.weight) < 0) return fault;
  throw new Error('There are no faults to choose from');
}

test(
  'torture: nothing recorded is lost, and what was disturbed ends as if it had not been',
  { timeout: (MINUTES + 20) * 60_000 },
  async () => {
    const place = makePlace();
    const random = Random.from('torture', SEED);
    const counts = new Map<string, number>();
    let finished = 0;
    try {
      const calm = new Map<number, Record>();
      const quiet = new Fort(join(place.folder, 'calm'), mark);
      for (const [index, seed] of SEEDS.entries()) {
        expect((await startLab(quiet.folder, ['--json', ...training(seed)]).ended).code).toBe(0);
        calm.set(seed, quiet.record(index + 1));
      }
      const sample = join(place.folder, 'sample.astrolab');
      const store = Store.read(quiet.folder);
      exportRuns(store, [1], sample, { checkpoints: false });
      store.close();
      rmSync(quiet.folder, { recursive: true });
      const hostile = new HostileFiles(sample, join(place.folder, 'hostile.astrolab'), random);
      const faults = FAULTS.filter(({ name }) => place.limited || name !== 'disk full');

      const fort = new Fort(join(place.folder, 'data'), mark);
      const end = performance.now() + MINUTES * 60_000;
      const total = (): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
      for (let turn = 1; performance.now() < end; turn++) {
        // Hostile files take numbers too, so a run is found by its tag.
        const tag = `turn-${turn}`;
        const seed = SEEDS[(turn - 1) % SEEDS.length] ?? 1;
        let run = 0;
        const expected = calm.get(seed);
        if (!expected) throw new Error(`There is no undisturbed run of seed ${seed}`);
        const env = { TORTURE: mark, TORTURE_CLOCK: join(place.folder, 'clock') };
        for (;;) {
          run = fort.find(tag);
          const known = fort.state(run);
          if (known === 'done') break;
          // Time is up: the last run is left to end in peace.
          const calmDown = performance.now() > end;
          const lab = startLab(
            fort.folder,
            ['--json', ...(known === undefined ? [...training(seed), '--tag', tag] : ['resume', String(run)])],
            env,
            true,
          );
          let over = false;
          void lab.ended.then(() => (over = true));
          while (!over && fort.trainer((run = fort.find(tag))) === null) await sleep(30);
          const begun = fort.saved(run);
          while (!over && !calmDown) {
            await Promise.race([lab.ended, sleep(60 + random.next() * 900)]);
            if (over) break;
            const before = fort.recorded(run);
            // Mostly an end comes only when the run has come further, or it would never get anywhere.
            const gentle = before <= begun + 4 && random.next() < 0.85;
            const fault = choose(random, gentle ? faults.filter(({ ends }) => !ends) : faults);
            await fault.act({ lab, fort, random, place: place.folder, hostile, run });
            counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
            if (fault.ends) await lab.ended;
            fort.check(run, before, expected, fault.name);
            if (total() % 20 === 0) tell(`${total()} faults, ${finished} runs finished`);
          }
          const { code, out, err } = await lab.ended;
          await fort.deserted();
          if (code === 2) throw new Error(`The lab took the call for a wrong one: ${err}${out}`);
        }
        expect(short(fort.record(run)), `run ${run}, seed ${seed}`).toEqual(short(expected));
        fort.remember(run);
        finished++;
      }
      tell(`${[...counts].map(([name, count]) => `${name}: ${count}`).join('\n')}`);
      tell(`torture: seed ${SEED}, ${MINUTES} minutes, ${total()} faults, ${finished} runs finished equal to an undisturbed one, 0 losses`);
      expect(finished).toBeGreaterThan(0);
    } finally {
      place.remove();
    }
  },
);
