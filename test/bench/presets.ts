// `npm run bench -- presets [PRESET …]`: measures how fast each preset trains, as "Measure on this machine" does but with one thread, and
// writes resources/preset-speeds.json, from which New run names a time before anything was trained. A machine that does something else
// as well is noticed where the system tells it (Linux), and nothing is written. With presets named, only those are measured again.

import { cpus } from 'node:os';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import type { WorkerProcess } from '../../main/process/supervisor.ts';
import { probe } from '../../main/queue/probe.ts';
import { type Measurement, shippedSpeeds, speedKey, speedsFile } from '../../main/queue/speeds.ts';
import { type BenchRow, report } from './report.ts';
import { allPresets, applyOverrides } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const EVERY_MS = 50;
const TICKS_PER_SECOND = 100;
/** Of its time that a training process has a processor while nothing else computes, and a little less. */
const LEAST_SHARE = 0.7;

/** Seconds that a process has computed; undefined where the system does not tell. */
function processorSeconds(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  // After the name, which may hold anything: state, …, user and system time as the 12th and 13th.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** A training process, and which share of its time it had a processor. */
function spawnWatched(): { readonly process: WorkerProcess; share(): number } {
  const child = spawnChild();
  const began = performance.now();
  let share = 1;
  const timer = setInterval(() => {
    const computed = child.pid === undefined ? undefined : processorSeconds(child.pid);
    if (computed !== undefined) share = Math.min(1, computed / ((performance.now() - began) / 1000));
  }, EVERY_MS);
  child.onExit(() => clearInterval(timer));
  return { process: child, share: () => share };
}

async function measure(config: Parameters<typeof probe>[1]): Promise<Measurement> {
  let share = (): number => 1;
  const measured = await probe(BUILT_IN, applyOverrides(config, ['threads=1']), (folder) =>
    launchWith(() => {
      const watched = spawnWatched();
      share = watched.share;
      return watched.process;
    }, folder),
  );
  if (share() < LEAST_SHARE) {
    throw new Error(
      `The machine is busy: the training process had a processor for ${(100 * share()).toFixed(0)}% of its time. Try again later.`,
    );
  }
  const { secondsPerEpisode, secondsPerUpdateEpisode, secondsPerCloningStep, memoryBytes, stepsPerEpisode } = measured;
  return {
    secondsPerEpisode: rounded(secondsPerEpisode),
    secondsPerUpdateEpisode: rounded(secondsPerUpdateEpisode),
    secondsPerCloningStep: secondsPerCloningStep === null ? null : rounded(secondsPerCloningStep),
    memoryBytes: Math.round(memoryBytes / 1e6) * 1e6,
    stepsPerEpisode: rounded(stepsPerEpisode),
  };
}

const rounded = (value: number): number => Number(value.toPrecision(3));

const chosen = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const machine = cpus()[0]?.model.trim() ?? 'unknown processor';
const presets = allPresets();
const keys = new Set(presets.map(({ config }) => speedKey(config)));
const before = existsSync(speedsFile()) ? shippedSpeeds.parse(JSON.parse(readFileSync(speedsFile(), 'utf8'))).speeds : {};
// What no preset has any more goes.
const speeds = Object.fromEntries(Object.entries(before).filter(([key]) => keys.has(key)));
const rows: BenchRow[] = [];
const measuredNow = new Set<string>();
for (const { id, config } of presets) {
  const key = speedKey(config);
  // Presets that differ in other settings only are equally fast.
  if (measuredNow.has(key) || (chosen.length > 0 && !chosen.includes(id))) continue;
  const measured = await measure(config);
  measuredNow.add(key);
  speeds[key] = { preset: id, ...measured };
  // After each, so that an interrupted call keeps what it measured.
  writeFileSync(speedsFile(), `${JSON.stringify({ machine, speeds }, null, 2)}\n`);
  const row = { peer: null, better: 'lower', absolute: true, goal: null } as const;
  rows.push({ ...row, name: `${id}: an update`, ours: measured.secondsPerUpdateEpisode * config.training.batch, unit: 's' });
}
report(rows, 'none: times with one thread, kept in resources/preset-speeds.json');
