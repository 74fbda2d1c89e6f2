// The lab as a user starts it from a shell, for the tests of what happens to it from outside: signals, a closed terminal, a data
// folder that goes away. Trains a run as small as can be.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { projectFolder } from '../../main/base/paths.ts';

/** Never ends by itself within a test; an update takes a fraction of a second. */
const TINY = [
  'threads=1',
  'algorithm=grpo',
  'policy.width=16',
  'policy.layers=1',
  'reference.demonstrations=8',
  'reference.steps=1',
  'reference.checkTasks=1',
  'training.updates=5000',
  'training.batch=4',
  'training.tasks=2',
  'evaluation.every=0',
  'evaluation.tasks=2',
  'evaluation.finalTasks=2',
  'checkpoints.every=0',
];

export const tinyRun = (...changes: readonly string[]): string[] => [
  'train',
  '--preset',
  'shop-tiny',
  ...[...TINY, ...changes].flatMap((setting) => ['--set', setting]),
];

export interface StartedLab {
  readonly pid: number;
  /** Nobody reads its standard error any more. */
  closeTerminal(): void;
  /** Nobody waits for its answer any more. */
  closeOutput(): void;
  /** Resolves when standard error has said it. */
  hears(text: string): Promise<void>;
  /** Resolves when standard error has told of that many updates or more. */
  reachesUpdate(update: number): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string }>;
}

/** A separate group, as a terminal's foreground job is. */
export function startLab(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, clock = false): StartedLab {
  const jumping = clock ? ['--import', join(import.meta.dirname, 'clock.mjs')] : [];
  const child = spawn(process.execPath, [...jumping, join(projectFolder(), 'main', 'commands', 'cli.ts'), '--data', folder, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => (out += String(text)));
  child.stderr.on('data', (text) => (err += String(text)));
  const ended = new Promise<Awaited<StartedLab['ended']>>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  const until = async (said: () => boolean, what: string): Promise<void> => {
    let over = false;
    void ended.then(() => (over = true));
    while (!said()) {
      if (over) throw new Error(`The lab ended without having said ${what}; it said ${err}${out}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    pid: child.pid ?? 0,
    closeOutput: () => {
      child.stdout.destroy();
    },
    closeTerminal: () => {
      child.stderr.destroy();
    },
    hears: async (text) => until(() => err.includes(text), text),
    reachesUpdate: async (update) =>
      until(() => [...err.matchAll(/^training: (\d+) of/gm)].some(([, done]) => Number(done) >= update), `update ${update}`),
    ended,
  };
}
