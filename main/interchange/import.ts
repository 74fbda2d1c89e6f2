// Runs and studies out of an export file into the database. An import is all or nothing: everything is read and checked,
// then stored in one transaction. A run is identified by its uid, so importing a file twice changes nothing the second time, but the
// file is checked as carefully as the first time. Nothing in the file is trusted: every entry is bounded (container.ts, limits.ts)
// and parsed with the schemas below.

import type { Catalog } from '../config/catalog.ts';
import { rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Json, sha256 } from '../base/canonical.ts';
import { ConfigError, type RunConfig } from '../config/config.ts';
import { upgradeConfig } from '../config/upgrade.ts';
import { evaluationReport } from '../evaluation/evaluation-report.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { eventKinds, type RunState, runStates, severities } from '../base/vocabulary.ts';
import { writeDurably } from '../store/checkpoints.ts';
import { ContainerReader, ImportError } from './container.ts';
import { isDiskFull } from '../store/database.ts';
import { boundedJson, BYTES_PER_NUMBER, listOf, MEGABYTE, numberList } from '../store/limits.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { countSteps, upgradeAlert, upgradeVerdicts } from '../store/upgrade.ts';
import { decodeTrajectories, type RecordedTrajectory } from './trajectory-codec.ts';

/** More than any run of ours has, and few enough to be held in memory. */
const MOST = {
  runs: 10_000,
  metrics: 10_000,
  points: 1_500_000,
  events: 1_000_000,
  evaluations: 1_000_000,
  results: 200_000,
  values: 2_000_000,
  checkpoints: 10_000,
};

const uid = z.uuid();
const update = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const word = z.string().max(1000);
const prose = z.string().max(200_000);
const number = z.union([z.number(), z.nan(), z.literal(Infinity), z.literal(-Infinity)]);
const time = z.int().nullable();
const index = z.object({
  astrolab: z.literal('export'),
  runs: listOf(uid, MOST.runs).refine((list) => list.length > 0, 'at least one run expected'),
  study: z.object({ uid, name: z.string().min(1).max(200), notes: prose, plan: z.json(), runs: listOf(uid, MOST.runs) }).nullable(),
});
/** As the migration of a database does it. */
function upgraded(catalog: Catalog, config: Record<string, Json>, context: z.RefinementCtx): RunConfig {
  try {
    return upgradeConfig(catalog, config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.addIssue({ code: 'custom', message: `the config does not fit this version of Astrolab: ${error.message}` });
    return z.NEVER;
  }
}

const runSchema = (catalog: Catalog) =>
  z.object({
    uid,
    name: z.string().min(1).max(500),
    world: word,
    variant: word,
    preset: word.nullable(),
    seed: z.int(),
    device: word,
    config: z.record(z.string(), z.json()).transform((config, context) => upgraded(catalog, config, context)),
    versions: z.record(word, word),
    state: z.enum(runStates),
    reason: prose.nullable(),
    planned: z.int().min(0),
    updates: update,
    episodes: z.int().min(0),
    tokens: z.int().min(0),
    seconds: z.number().min(0),
    spark: listOf(z.tuple([update, z.number()]), 1000),
    notes: prose,
    tags: listOf(word, 1000),
    createdAt: z.int(),
    startedAt: time,
    finishedAt: time,
  });
const metricIndex = listOf(z.object({ name: z.string().max(200), points: z.int().min(0).max(MOST.points) }), MOST.metrics);
const distributionIndex = listOf(z.object({ name: z.string().max(200), updates: z.int().min(0).max(MOST.points) }), MOST.metrics);
/** Of version 0.1.0. */
const distributionList = listOf(z.object({ name: z.string().max(200), update, samples: numberList }), MOST.values);
const eventList = listOf(
  z.object({ update, time: z.int(), kind: z.enum(eventKinds), severity: z.enum(severities), text: prose, data: z.json() }),
  MOST.events,
);
const evaluationList = listOf(
  z.object({
    ...evaluationReport.omit({ episodes: true }).shape,
    results: listOf(evaluationReport.shape.results.element, MOST.results),
    episodes: listOf(z.int().min(0).nullable(), MOST.results),
  }),
  MOST.evaluations,
);
const vstarList = listOf(z.object({ task: word, update, k: z.int(), n: z.int(), value: number }), MOST.values);
const noteList = listOf(z.object({ episode: z.int().min(0), starred: z.boolean(), comment: z.string().max(20_000) }), MOST.values);
const checkpointList = listOf(z.object({ update, kept: z.boolean() }), MOST.checkpoints);

export interface ImportResult {
  readonly runs: readonly { readonly run: number; readonly uid: string; readonly name: string; readonly added: boolean }[];
  readonly study: string | null;
}

export interface ImportOptions {
  /** Hears how many runs of how many are through. */
  readonly progress?: (done: number, total: number) => void;
  /** More memory than this (resident, of the whole process) and the file is refused. */
  readonly ceiling?: number;
  /** The uid of the one run that the file may hold. */
  readonly only?: string;
}

/** Adds the runs of a file. What is there already stays as it is, and comes back from the trash if it lay there. */
export function importFile(store: Store, file: string, options: ImportOptions = {}): ImportResult {
  const written: string[] = [];
  let contents: Contents | undefined;
  try {
    contents = new Contents(file, options.ceiling);
    const all = contents;
    const { runs: ids, study } = all.parse('index', index);
    if (options.only !== undefined && (study !== null || ids.length > 1 || ids[0] !== options.only))
      throw new RangeError(`it holds another run than ${options.only}`);
    return store.write(() => {
      const runs = ids.map((id, done) => {
        options.progress?.(done, ids.length);
        const known = store.runs.findByUid(id);
        if (known === undefined) {
          const run = importRun(store, new RunContents(all, id, store.catalog), written);
          return { run: run.id, uid: id, name: run.name, added: true };
        }
        new RunContents(all, id, store.catalog).verify();
        if (known.deletedAt !== null) store.runs.restore([known.id]);
        return { run: known.id, uid: id, name: known.name, added: false };
      });
      return { runs, study: study === null ? null : importStudy(store, study) };
    });
  } catch (error) {
    for (const path of written) remove(path);
    throw refusal(file, error);
  } finally {
    contents?.close();
  }
}

/** Reads a file that was just written as an import would; throws when an import would refuse it. */
export function verifyExport(catalog: Catalog, file: string): void {
  let contents: Contents | undefined;
  try {
    contents = new Contents(file);
    const all = contents;
    for (const id of all.parse('index', index).runs) new RunContents(all, id, catalog).verify();
  } catch (error) {
    const reason = refusal(file, error);
    const why = reason instanceof Error ? reason.message : String(reason);
    throw new Error(`The export could not be read back, so it was not kept: ${why}`, { cause: error });
  } finally {
    contents?.close();
  }
}

/** A file that a refused import wrote, and the run's folder if nothing else is in it. */
function remove(path: string): void {
  rmSync(path, { force: true });
  try {
    rmdirSync(dirname(path));
  } catch {
    // Not empty, or gone already.
  }
}

/** A fault of the file, whatever it was found by; only a full disk and a busy or damaged database are faults of this side. */
export function refusal(file: string, error: unknown): unknown {
  if (error instanceof ImportError || isDiskFull(error) || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'EISDIR')
    return new ImportError(`${file} is a folder; the file of an export was expected (it ends with .astrolab). Nothing was changed.`);
  if (code === 'ENOENT') return new ImportError(`There is no file ${file}. Nothing was changed.`);
  if (code === 'EACCES' || code === 'EPERM') return new ImportError(`${file} may not be read (${code}). Nothing was changed.`);
  const ours = code.startsWith('SQLITE_') && !/^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(code);
  if (ours) return error;
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  const what = issue ? `a value does not fit at ${issue.path.join('.') || 'its top'} (${issue.message})` : error.message;
  return new ImportError(`${file} was refused: ${what}. Nothing was changed. Export it again where it came from.`, { cause: error });
}

/** The file's entries, parsed; watches the memory on the way. */
class Contents {
  readonly #file: string;
  readonly #reader: ContainerReader;
  readonly #ceiling: number;

  constructor(file: string, ceiling = Infinity) {
    this.#file = file;
    this.#ceiling = ceiling;
    this.#reader = new ContainerReader(file);
  }

  has(name: string): boolean {
    return this.#reader.has(name);
  }

  read(name: string): Buffer {
    if (process.memoryUsage.rss() > this.#ceiling)
      throw new RangeError(`it takes more than ${Math.round(this.#ceiling / MEGABYTE)} MB of memory, given up at ${name}`);
    return this.#reader.read(name);
  }

  parse<T>(name: string, schema: z.ZodType<T>, bytesPerElement?: number): T {
    let value: unknown;
    try {
      value = boundedJson(this.read(name), bytesPerElement);
    } catch (error) {
      if (error instanceof ImportError) throw error;
      const what = error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : String(error);
      throw new ImportError(`${this.#file} was refused: ${name} cannot be read: ${what}. Nothing was changed.`, { cause: error });
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new ImportError(
      `${this.#file} was refused: ${name} does not fit at ${issue?.path.join('.') || 'its top'} (${issue?.message ?? ''}). Nothing was changed.`,
    );
  }

  close(): void {
    this.#reader.close();
  }
}

/** One run of the file, part by part. */
class RunContents {
  readonly #all: Contents;
  readonly id: string;
  readonly #catalog: Catalog;

  constructor(all: Contents, id: string, catalog: Catalog) {
    this.#catalog = catalog;
    this.#all = all;
    this.id = id;
  }

  #at(name: string): string {
    return `runs/${this.id}/${name}`;
  }

  run(): z.infer<ReturnType<typeof runSchema>> {
    const run = this.#all.parse(this.#at('run'), runSchema(this.#catalog));
    if (run.uid !== this.id) throw new RangeError(`run ${this.id} calls itself ${run.uid}`);
    return run;
  }

  *metrics(): Generator<{ name: string; updates: Int32Array; values: Float64Array }> {
    const together = this.#all.has(this.#at('metrics-together')) ? this.#all.read(this.#at('metrics-together')) : undefined;
    let begin = 0;
    for (const [position, { name, points }] of this.#all.parse(this.#at('metrics'), metricIndex).entries()) {
      const data = together ? together.subarray(begin, begin + points * 12) : this.#all.read(this.#at(`metrics/${position}`));
      begin += data.length;
      if (data.length !== points * 12) throw new RangeError(`metric ${name} has ${data.length} bytes, ${points * 12} expected`);
      const bytes = Uint8Array.from(data).buffer;
      const updates = new Int32Array(bytes.slice(0, points * 4));
      let last = -1;
      for (const next of updates) {
        if (next <= last) throw new RangeError(`metric ${name} has update ${next} after ${last}; ascending ones are expected`);
        last = next;
      }
      yield { name, updates, values: new Float64Array(bytes.slice(points * 4)) };
    }
    if (together && begin !== together.length) throw new RangeError(`metrics have ${together.length} bytes, ${begin} expected`);
  }

  *distributions(): Generator<{ name: string; update: number; samples: Float32Array }> {
    if (this.#all.has(this.#at('distributions'))) {
      for (const { name, update: at, samples } of this.#all.parse(this.#at('distributions'), distributionList, BYTES_PER_NUMBER))
        yield { name, update: at, samples: Float32Array.from(samples) };
      return;
    }
    for (const [position, { name, updates }] of this.#all.parse(this.#at('distribution-series'), distributionIndex).entries()) {
      const data = this.#all.read(this.#at(`distributions/${position}`));
      const bytes = Uint8Array.from(data).buffer;
      const heads = 8 * updates;
      if (data.length < heads || data.length % 4 !== 0)
        throw new RangeError(`distribution ${name} has ${data.length} bytes for ${updates} updates`);
      const [at, counts] = [new Int32Array(bytes, 0, updates), new Int32Array(bytes, 4 * updates, updates)];
      let begin = heads;
      for (const [index, count] of counts.entries()) {
        if (count < 0 || begin + 4 * count > data.length)
          throw new RangeError(`distribution ${name} has ${data.length} bytes, too few for the ${count} samples of its part ${index + 1}`);
        yield { name, update: update.parse(at[index]), samples: new Float32Array(bytes.slice(begin, begin + 4 * count)) };
        begin += 4 * count;
      }
      if (begin !== data.length) throw new RangeError(`distribution ${name} has ${data.length} bytes, ${begin} expected`);
    }
  }

  events(): z.infer<typeof eventList> {
    return this.#all.parse(this.#at('events'), eventList);
  }

  vstar(): z.infer<typeof vstarList> {
    return this.#all.parse(this.#at('vstar'), vstarList);
  }

  *episodes(): Generator<RecordedTrajectory> {
    for (let entry = 0; this.#all.has(this.#at(`episodes/${entry}`)); entry++) {
      yield* decodeTrajectories(this.#all.read(this.#at(`episodes/${entry}`)));
    }
  }

  /** Stars and comments, by the episode's place; the first files had none. */
  notes(): z.infer<typeof noteList> {
    return this.#all.has(this.#at('notes')) ? this.#all.parse(this.#at('notes'), noteList) : [];
  }

  evaluations(): z.infer<typeof evaluationList> {
    return this.#all.parse(this.#at('evaluations'), evaluationList);
  }

  *checkpoints(): Generator<{ update: number; kept: boolean; data: Buffer }> {
    for (const { update: saved, kept } of this.#all.parse(this.#at('checkpoints'), checkpointList)) {
      yield { update: saved, kept, data: this.#all.read(this.#at(`checkpoints/${saved}`)) };
    }
  }

  /** Reads everything and keeps nothing. */
  verify(): void {
    this.run();
    for (const parts of [this.metrics(), this.distributions(), this.episodes(), this.checkpoints()]) while (parts.next().done !== true);
    this.events();
    this.vstar();
    this.notes();
    this.evaluations();
  }
}

function importRun(store: Store, contents: RunContents, written: string[]): Run {
  const source = contents.run();
  const run = store.runs.create(source);
  const unfinished: readonly RunState[] = ['queued', 'running', 'stopping'];
  const { updates, episodes, tokens, seconds, createdAt, startedAt, finishedAt } = source;
  const state = unfinished.includes(source.state)
    ? ({ state: 'interrupted', reason: 'Was not finished when it was exported' } as const)
    : { state: source.state, reason: source.reason };
  store.runs.change(run.id, { ...state, position: null, updates, episodes, tokens, seconds, createdAt, startedAt, finishedAt });
  for (const [at, success] of source.spark) store.runs.addSpark(run.id, at, success);
  for (const { name, updates: at, values } of contents.metrics()) store.metrics.addSeries(run.id, name, at, values);
  for (const { name, update: at, samples } of contents.distributions()) store.metrics.addDistribution(run.id, at, name, samples);
  countSteps(store.catalog, store.metrics, run.id, run.config);
  for (const { time: at, data, ...event } of contents.events())
    store.events.add(run.id, { ...event, data: event.kind === 'alert' ? upgradeAlert(data) : data }, at);
  store.vstar.addToRun(run.id, contents.vstar());
  const stored: number[] = [];
  for (const { update: at, trajectories } of byUpdate(contents.episodes()))
    stored.push(...store.trajectories.add(run.id, at, trajectories));
  for (const { episode, ...note } of contents.notes()) {
    const id = stored[episode];
    if (id === undefined) throw new RangeError(`a note is about episode ${episode}, but there are only ${stored.length}`);
    store.notes.set(id, note);
  }
  for (const { episodes: ordinals, ...evaluation } of contents.evaluations()) {
    store.evaluations.add(
      run.id,
      evaluation,
      ordinals.map((ordinal) => (ordinal === null ? null : (stored[ordinal] ?? null))),
    );
  }
  for (const { update: at, kept, data } of contents.checkpoints()) {
    const name = `checkpoints/${contents.id}/${String(at).padStart(8, '0')}.safetensors`;
    const path = join(store.dataFolder, ...name.split('/'));
    written.push(path);
    writeDurably(path, data);
    store.checkpoints.add(run.id, { update: at, file: name, sha256: sha256(data), bytes: data.length }, kept);
  }
  return store.runs.get(run.id);
}

/** Episodes of the same update together, as they were recorded; few at a time. */
function* byUpdate(episodes: Iterable<RecordedTrajectory>): Generator<{ update: number; trajectories: Trajectory[] }> {
  let group: { update: number; trajectories: Trajectory[] } | undefined;
  for (const { update: at, trajectory } of episodes) {
    if (group && (group.update !== at || group.trajectories.length >= 128)) {
      yield group;
      group = undefined;
    }
    group ??= { update: at, trajectories: [] };
    group.trajectories.push(trajectory);
  }
  if (group) yield group;
}

function importStudy(store: Store, study: NonNullable<z.infer<typeof index>['study']>): string {
  const runs = study.runs.flatMap((id) => store.runs.findByUid(id)?.id ?? []);
  const known = store.studies.findByUid(study.uid);
  if (known !== undefined) {
    store.studies.addRuns(known.id, runs);
    return known.name;
  }
  // Another study may have the name already.
  let name = study.name;
  for (let copy = 2; store.studies.find(name) !== undefined; copy++) name = `${study.name} (${copy})`;
  const created = store.studies.create(name, runs, upgradeVerdicts(study.plan), study.uid);
  store.studies.change(created.id, { notes: study.notes });
  return name;
}
