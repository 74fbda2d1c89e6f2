// Runs and studies as one file, out of one database and into another: the way out. import.ts is the way in, and has the
// schema of every entry.

import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson } from '../base/canonical.ts';
import { outputTarget, writeOutput } from '../base/output-file.ts';
import { ContainerWriter } from './container.ts';
import { verifyExport } from './import.ts';
import type { EpisodeNote } from '../store/episode-notes.ts';
import type { Run } from '../store/runs.ts';
import { MEGABYTE } from '../store/limits.ts';
import type { Store } from '../store/store.ts';
import { encodeTrajectories, type RecordedTrajectory } from './trajectory-codec.ts';

const EPISODES_PER_ENTRY = 200;
/** A thinned file is made once and handed round: it is packed as small as deflate can. */
const SMALLEST = 9;

export interface ExportOptions {
  readonly study?: number;
  /** Checkpoints are most of the size; without them the run can be looked at but not resumed. */
  readonly checkpoints?: boolean;
  /** Leaves out what cannot be read instead of giving up. */
  readonly tolerant?: boolean;
  /** Leaves episodes and distributions out, run by run; all is exported without it. */
  readonly thin?: (run: Run) => Thinning;
}

interface Thinning {
  readonly episodes: ReadonlySet<number>;
  /** Whether the distributions of an update are kept. */
  readonly distribution: (update: number) => boolean;
}

/** Writes runs (or a study with its runs) into one file, which is read back as an import reads it before it counts as written. */
export function exportRuns(
  store: Store,
  runs: readonly number[],
  file: string,
  options: ExportOptions = {},
): { file: string; bytes: number } {
  if (outputTarget(file).kind !== 'file') return exportInto(store, runs, file, options);
  const study = options.study === undefined ? null : store.studies.get(options.study);
  const all = runs.map((id) => store.runs.get(id));
  if (all.length === 0) throw new Error('There is nothing to export: name at least one run');
  const writer = new ContainerWriter(file, options.thin ? SMALLEST : undefined);
  try {
    const members = study && {
      uid: study.uid,
      name: study.name,
      notes: study.notes,
      plan: study.plan,
      runs: study.runs.map((id) => store.runs.get(id).uid),
    };
    writer.add('index', json({ astrolab: 'export', runs: all.map((run) => run.uid), study: members }));
    for (const run of all) exportRun(store, run, writer, options);
    return { file, bytes: writer.finish((written) => verifyExport(store.catalog, written)) };
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/** Into a device or a pipe, which cannot be read back: the verified file is copied into it. */
function exportInto(store: Store, runs: readonly number[], stream: string, options: ExportOptions): { file: string; bytes: number } {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-export-'));
  try {
    const { file } = exportRuns(store, runs, join(folder, 'export'), options);
    return { file: stream, bytes: writeOutput(stream, chunksOf(file)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function* chunksOf(file: string): Iterable<Uint8Array> {
  const handle = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(MEGABYTE);
    for (let read = readSync(handle, chunk); read > 0; read = readSync(handle, chunk)) yield chunk.subarray(0, read);
  } finally {
    closeSync(handle);
  }
}

function exportRun(store: Store, run: Run, writer: ContainerWriter, options: ExportOptions): void {
  const at = (name: string): string => `runs/${run.uid}/${name}`;
  const thin = options.thin?.(run);
  /** What cannot be read ends the export, or is left out of a tolerant one. */
  const part = <T>(otherwise: T, read: () => T): T => {
    if (options.tolerant !== true) return read();
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  writer.add(at('run'), json(run));
  exportMetrics(store, run.id, writer, at, part, thin);
  writer.add(at('events'), json(part([], () => store.events.list(run.id))));
  writer.add(at('vstar'), json(part([], () => store.vstar.allOfRun(run.id))));
  const ordinals = exportEpisodes(store, run.id, writer, at, thin);
  const notes = part(new Map<number, EpisodeNote>(), () => store.notes.ofRun(run.id));
  const noted = [...notes].flatMap(([id, note]) => (ordinals.has(id) ? [{ episode: ordinals.get(id), ...note }] : []));
  writer.add(at('notes'), json(noted));
  const evaluations = part([], () => store.evaluations.list(run.id)).map((evaluation) => {
    const results = part([], () => store.evaluations.results(evaluation.id));
    const episodes = results.map((result) => (result.episode === null ? null : (ordinals.get(result.episode) ?? null)));
    return { ...evaluation, results, episodes };
  });
  writer.add(at('evaluations'), json(evaluations));
  const checkpoints = (options.checkpoints ?? true) ? store.checkpoints.list(run.id) : [];
  const sound = checkpoints.flatMap((checkpoint) => {
    const data = part(null, () => store.checkpoints.readSound(checkpoint));
    if (data === null) return [];
    writer.add(at(`checkpoints/${checkpoint.update}`), data);
    return [checkpoint];
  });
  writer.add(at('checkpoints'), json(sound));
}

type Part = <T>(otherwise: T, read: () => T) => T;

function exportMetrics(
  store: Store,
  run: number,
  writer: ContainerWriter,
  at: (name: string) => string,
  part: Part,
  thin?: Thinning,
): void {
  const names = part([], () => store.metrics.names(run));
  const none = { updates: new Int32Array(), values: new Float64Array() };
  const series = names.map((name) => ({ name, ...part(none, () => store.metrics.series(run, name)) }));
  writer.add(at('metrics'), json(series.map(({ name, updates }) => ({ name, points: updates.length }))));
  const packed = series.map(({ updates, values }) => Buffer.concat([Buffer.from(updates.buffer), Buffer.from(values.buffer)]));
  // In a small file sixty entries a run would weigh more in its manifest than the numbers themselves.
  if (thin) writer.add(at('metrics-together'), Buffer.concat(packed));
  else for (const [position, data] of packed.entries()) writer.add(at(`metrics/${position}`), data);
  exportDistributions(store, run, writer, at, part, thin);
}

/** By name: the updates, the number of samples of each, and the samples one after the other. */
function exportDistributions(
  store: Store,
  run: number,
  writer: ContainerWriter,
  at: (name: string) => string,
  part: Part,
  thin?: Thinning,
): void {
  const series = part([], () => store.metrics.distributed(run)).map((name) => ({
    name,
    points: part([], () => store.metrics.distributions(run, name)).filter(({ update }) => thin?.distribution(update) ?? true),
  }));
  writer.add(at('distribution-series'), json(series.map(({ name, points }) => ({ name, updates: points.length }))));
  for (const [position, { points }] of series.entries()) {
    const updates = Int32Array.from(points, ({ update }) => update);
    const counts = Int32Array.from(points, ({ samples }) => samples.length);
    const samples = points.map(({ samples: own }) => Buffer.from(own.buffer, own.byteOffset, own.byteLength));
    writer.add(at(`distributions/${position}`), Buffer.concat([Buffer.from(updates.buffer), Buffer.from(counts.buffer), ...samples]));
  }
}

/** Returns each exported episode's place among them. */
function exportEpisodes(
  store: Store,
  run: number,
  writer: ContainerWriter,
  at: (name: string) => string,
  thin?: Thinning,
): Map<number, number> {
  const ordinals = new Map<number, number>();
  let batch: RecordedTrajectory[] = [];
  let entry = 0;
  const flush = (): void => {
    if (batch.length > 0) writer.add(at(`episodes/${entry++}`), encodeTrajectories(batch));
    batch = [];
  };
  for (const episode of store.episodes.each(run)) {
    if (thin && !thin.episodes.has(episode.id)) continue;
    ordinals.set(episode.id, ordinals.size);
    batch.push({ update: episode.update, trajectory: store.trajectories.read(episode.id) });
    if (batch.length === EPISODES_PER_ENTRY) flush();
  }
  flush();
  return ordinals;
}

function json(value: unknown): Buffer {
  return Buffer.from(canonicalJson(value));
}
