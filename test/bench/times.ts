// How long a person waits: for the command line to answer, for the demo, for the flagship in an empty data folder. Everything is started as a
// user starts it, in a process of its own. `--only commands|demo|flagship` takes a part; the flagship takes minutes.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FLAGSHIP } from '../../main/config/presets.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { Store } from '../../main/store/store.ts';
import { type BenchRow, median, report } from './report.ts';

const ROUNDS = 7;
const only = process.argv[process.argv.indexOf('--only') + 1];
const wanted = (part: string): boolean => !process.argv.includes('--only') || only === part;

/** Seconds from the call until it has ended; what this process is (Electron as Node) must not show in the child. */
function seconds(command: string, args: readonly string[], data: string): number {
  const { ELECTRON_RUN_AS_NODE: _electron, NODE_COMPILE_CACHE: _cache, ...env } = process.env;
  const begin = performance.now();
  const { status, stderr } = spawnSync(command, args, {
    cwd: projectFolder(),
    env: { ...env, ASTROLAB_DATA: data },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr.slice(-500)}`);
  return (performance.now() - begin) / 1000;
}

/** In an empty data folder, which is removed. */
function inEmptyFolder(measure: (data: string) => number): number {
  const data = mkdtempSync(join(tmpdir(), 'astrolab-times-'));
  try {
    return measure(data);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

const rows: BenchRow[] = [];
const add = (name: string, ours: number, goal: number | null): void => {
  rows.push({ name, ours, peer: null, unit: 's', better: 'lower', goal, absolute: true });
};

if (wanted('commands')) {
  const often = (command: string, args: readonly string[]): number =>
    inEmptyFolder((data) => {
      Store.open(data).close();
      return median(Array.from({ length: ROUNDS }, () => seconds(command, args, data)));
    });
  const lab = join('scripts', 'lab.mjs');
  add('lab --help', often('node', [lab, '--help']), 0.3);
  add('lab runs', often('node', [lab, 'runs']), 0.6);
  add('npm run lab -- --help (npm included)', often('npm', ['run', '--silent', 'lab', '--', '--help']), null);
}
if (wanted('demo'))
  add(
    'npm run demo, after set-up',
    inEmptyFolder((data) => seconds('npm', ['run', '--silent', 'demo'], data)),
    60,
  );
if (wanted('flagship')) {
  const args = ['run', '--silent', 'lab', '--', 'train', '--preset', FLAGSHIP, '--seed', '1', '--json'];
  add(
    'flagship from an empty data folder',
    inEmptyFolder((data) => seconds('npm', args, data)),
    240,
  );
}
report(rows, 'none: seconds of waiting');
