// `lab doctor`: what is installed, which devices really compute, where the data lies, and what will not work together
// with how to fix it. Every line is the outcome of a check made now, not of what should be there.

import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, release, type } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { type Device, listDevices } from '../engine/gpu/device.ts';
import { bytes as size } from '../base/format.ts';
import { projectFolder } from '../base/paths.ts';
import { answer, dataFolder } from './shared/output.ts';

interface Problem {
  /** `error`: the lab can't work; `warning`: one part of it can't. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: string;
}

interface Diagnosis {
  readonly ok: boolean;
  readonly versions: Readonly<Record<string, string>>;
  readonly dataFolder: string;
  readonly freeDisk: number; // bytes; −1 where it cannot be determined
  readonly devices: readonly Device[];
  readonly problems: readonly Problem[];
}

const GIGABYTE = 1e9;

export function register(program: Command): void {
  program
    .command('doctor')
    .description('versions, devices with self-test, data folder, and problems with their fix')
    .action(async () => {
      const diagnosis = await diagnose(dataFolder());
      answer(diagnosis, describe(diagnosis));
      if (!diagnosis.ok) process.exitCode = 1;
    });
}

async function diagnose(folder: string): Promise<Diagnosis> {
  const problems: Problem[] = [];
  const database = await checkDatabase(problems);
  const devices = await checkDevices(problems);
  checkFolder(folder, problems);
  const freeDisk = freeBytes(folder);
  if (freeDisk >= 0 && freeDisk < 2 * GIGABYTE) {
    const message = `Only ${size(freeDisk)} are free where ${folder} lies; a long run with checkpoints can need more.`;
    problems.push({ severity: 'warning', message, fix: 'Free some space, or choose another folder with --data DIR or ASTROLAB_DATA.' });
  }
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    const message = 'No display: the window can not open here. The command line works.';
    problems.push({ severity: 'warning', message, fix: 'Start from a desktop session, or use ssh -X; on a server use npm run lab.' });
  }
  const versions = {
    astrolab: packageVersion(join(projectFolder(), 'package.json')),
    electron: process.versions.electron ?? 'not running in Electron',
    chromium: process.versions.chrome ?? 'unknown',
    node: process.versions.node,
    onnxruntime: packageVersion(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')),
    sqlite: database,
    os: `${type()} ${release()} ${arch()}`,
  };
  return { ok: problems.every(({ severity }) => severity !== 'error'), versions, dataFolder: folder, freeDisk, devices, problems };
}

async function checkDevices(problems: Problem[]): Promise<Device[]> {
  const devices = await listDevices();
  const cpu = devices.find(({ id }) => id === 'cpu');
  if (!cpu?.ok) {
    const fix = 'Install the dependencies anew (delete node_modules, then npm start). On a bare Linux also: apt-get install libstdc++6.';
    problems.push({ severity: 'error', message: `onnxruntime does not work on the CPU: ${cpu?.reason ?? 'it has no CPU backend'}`, fix });
  }
  return devices;
}

async function checkDatabase(problems: Problem[]): Promise<string> {
  try {
    // oxlint-disable-next-line no-restricted-imports -- whether it loads at all is the question here
    const { default: Database } = await import('better-sqlite3');
    const database = new Database(':memory:');
    const version = String(database.prepare('select sqlite_version()').pluck().get());
    database.close();
    return version;
  } catch (error) {
    const fix = 'Run through npm run lab (it uses Electron’s Node), or install the dependencies anew: delete node_modules, then npm start.';
    problems.push({ severity: 'error', message: `SQLite does not load: ${reasonOf(error)}`, fix });
    return 'not working';
  }
}

function checkFolder(folder: string, problems: Problem[]): void {
  try {
    const place = nearestExisting(folder);
    if (!statSync(place).isDirectory()) throw new Error(`${place} is a file`);
    accessSync(place, constants.R_OK | constants.W_OK);
  } catch (error) {
    const fix = 'Choose a folder you may write to with --data DIR or ASTROLAB_DATA, or change its owner.';
    problems.push({ severity: 'error', message: `The data folder ${folder} can not be used: ${reasonOf(error)}`, fix });
  }
}

/** The folder itself, or the part of its path that exists already: looking must not create anything. */
function nearestExisting(folder: string): string {
  let place = resolve(folder);
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(nearestExisting(folder));
    return bavail * bsize;
  } catch {
    return -1; // some network file systems do not say
  }
}

function packageVersion(file: string): string {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof content === 'object' && content !== null && 'version' in content ? String(content.version) : 'unknown';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe({ ok, versions, dataFolder, freeDisk, devices, problems }: Diagnosis): string {
  const lines = ['Versions'];
  for (const [name, version] of Object.entries(versions)) lines.push(`  ${name.padEnd(12)} ${version}`);
  lines.push('Data', `  folder       ${dataFolder}`, `  free disk    ${freeDisk < 0 ? 'unknown' : size(freeDisk)}`);
  lines.push('Devices');
  const width = Math.max(0, ...devices.map(({ id }) => id.length));
  for (const { ok: works, id, name, reason } of devices)
    lines.push(`  ${works ? 'ok   ' : 'fails'} ${id.padEnd(width)} ${name}: ${reason}`);
  lines.push(problems.length === 0 ? 'No problems found' : 'Problems');
  for (const { severity, message, fix } of problems) lines.push(`  ${severity}: ${message}`, `    ${fix}`);
  lines.push(ok ? 'The lab is ready.' : 'The lab can not work until the errors above are fixed.');
  return lines.join('\n');
}
