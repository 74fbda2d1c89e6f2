// Runs and studies as one file, out of one database and into another. An import is all or nothing: everything is read
// and checked first, then stored in one transaction. A run is known by its uid, so importing a file twice changes
// nothing the second time.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { evaluationReport } from '../evaluation/evaluation-report.ts';
import { canonicalJson, parseCanonical, sha256 } from '../canonical.ts';
import { runRow } from '../../preload/contract/runs.ts';
import { writeDurably } from './checkpoints.ts';
import { isDiskFull } from './database.ts';
import { ContainerReader, ContainerWriter, ImportError } from './container.ts';
import { eventKinds, type RunState, runStates, severities } from '../vocabulary.ts';
import type { Run } from './runs.ts';
import type { Store } from './store.ts';
import { decodeTrajectories, encodeTrajectories, type RecordedTrajectory } from './trajectory-codec.ts';

const EPISODES_PER_ENTRY = 200;

const uid = z.uuid();
const number = z.union([z.number(), z.nan(), z.literal(Infinity), z.literal(-Infinity)]);
const time = z.int().nullable();
const index = z.object({
  astrolab: z.literal('export'),
  runs: z.array(uid).min(1).max(10_000),
  study: z.object({ uid, name: z.string().min(1).max(200), notes: z.string(), plan: z.json(), runs: z.array(uid) }).nullable(),
});
const runSchema = z.object({
  uid,
  name: z.string(),
  world: z.string(),
  variant: z.string(),
  preset: z.string().nullable(),
  seed: z.int(),
  device: z.string(),
  config: z.record(z.string(), z.json()),
  versions: z.record(z.string(), z.string()),
  state: z.enum(runStates),
  reason: z.string().nullable(),
  planned: z.int().min(0),
  updates: z.int().min(0),
  episodes: z.int().min(0),
  tokens: z.int().min(0),
  seconds: z.number(),
  spark: z.array(z.tuple([z.int().min(0), runRow.shape.spark.element])),
  notes: z.string(),
  tags: z.array(z.string()),
  createdAt: z.int(),
  startedAt: time,
  finishedAt: time,
});
const metricIndex = z.array(z.object({ name: z.string().max(200), points: z.int().min(0) }));
const distributionList = z.array(z.object({ name: z.string(), update: z.int().min(0), samples: z.array(number) }));
const eventList = z.array(
  z.object({
    update: z.int().min(0),
    time: z.int(),
    kind: z.enum(eventKinds),
    severity: z.enum(severities),
    text: z.string(),
    data: z.json(),
  }),
);
const evaluationList = z.array(
  z.object({ ...evaluationReport.omit({ episodes: true }).shape, episodes: z.array(z.int().min(0).nullable()) }),
);
const vstarList = z.array(z.object({ task: z.string(), update: z.int().min(0), k: z.int(), n: z.int(), value: number }));
const checkpointList = z.array(z.object({ update: z.int().min(0), kept: z.boolean() }));

export interface ExportOptions {
  readonly study?: number;
  /** Checkpoints are most of the size; without them the run can be looked at but not resumed. */
  readonly checkpoints?: boolean;
  /** Leaves episodes and distributions out, run by run; all is exported without it. */
  readonly thin?: (run: Run) => Thinning;
}

interface Thinning {
  readonly episodes: ReadonlySet<number>;
  /** Whether the distributions of an update are kept. */
  readonly distribution: (update: number) => boolean;
}

/** Writes runs (or a study with its runs) into one file. */
export function exportRuns(
  store: Store,
  runs: readonly number[],
  file: string,
  options: ExportOptions = {},
): { file: string; bytes: number } {
  const study = options.study === undefined ? null : store.studies.get(options.study);
  const all = runs.map((id) => store.runs.get(id));
  if (all.length === 0) throw new Error('There is nothing to export: name at least one run');
  const writer = new ContainerWriter(file);
  try {
    const members = study && {
      uid: study.uid,
      name: study.name,
      notes: study.notes,
      plan: study.plan,
      runs: study.runs.map((id) => store.runs.get(id).uid),
    };
    writer.add('index', json({ astrolab: 'export', runs: all.map((run) => run.uid), study: members }));
    for (const run of all) exportRun(store, run, writer, options.checkpoints ?? true, options.thin?.(run));
    return { file, bytes: writer.finish() };
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

function exportRun(store: Store, run: Run, writer: ContainerWriter, withCheckpoints: boolean, thin: Thinning | undefined): void {
  const at = (name: string): string => `runs/${run.uid}/${name}`;
  writer.add(at('run'), json(run));
  const names = store.metrics.names(run.id);
  const series = store.metrics.many(run.id, names);
  writer.add(at('metrics'), json(names.map((name) => ({ name, points: series[name]?.updates.length ?? 0 }))));
  names.forEach((name, position) => {
    const { updates = new Int32Array(), values = new Float64Array() } = series[name] ?? {};
    writer.add(at(`metrics/${position}`), Buffer.concat([Buffer.from(updates.buffer), Buffer.from(values.buffer)]));
  });
  const distributed = store.metrics.distributed(run.id);
  writer.add(
    at('distributions'),
    json(
      distributed.flatMap((name) =>
        store.metrics
          .distributions(run.id, name)
          .filter(({ update }) => thin?.distribution(update) ?? true)
          .map(({ update, samples }) => ({ name, update, samples: [...samples] })),
      ),
    ),
  );
  writer.add(at('events'), json(store.events.list(run.id)));
  writer.add(at('vstar'), json(store.vstar.ofRun(run.id)));

  const ordinals = new Map<number, number>();
  let batch: RecordedTrajectory[] = [];
  let entry = 0;
  const flush = (): void => {
    if (batch.length > 0) writer.add(at(`episodes/${entry++}`), encodeTrajectories(batch));
    batch = [];
  };
  for (const episode of store.episodes.each(run.id)) {
    if (thin && !thin.episodes.has(episode.id)) continue;
    ordinals.set(episode.id, ordinals.size);
    batch.push({ update: episode.update, trajectory: store.trajectories.read(episode.id) });
    if (batch.length === EPISODES_PER_ENTRY) flush();
  }
  flush();
  const evaluations = store.evaluations.list(run.id).map((evaluation) => {
    const results = store.evaluations.results(evaluation.id);
    return {
      ...evaluation,
      results,
      episodes: results.map((result) => (result.episode === null ? null : (ordinals.get(result.episode) ?? null))),
    };
  });
  writer.add(at('evaluations'), json(evaluations));

  const checkpoints = withCheckpoints ? store.checkpoints.list(run.id) : [];
  writer.add(at('checkpoints'), json(checkpoints));
  for (const checkpoint of checkpoints) writer.add(at(`checkpoints/${checkpoint.update}`), store.checkpoints.readSound(checkpoint));
}

export interface ImportResult {
  readonly runs: readonly { readonly run: number; readonly uid: string; readonly name: string; readonly added: boolean }[];
  readonly study: string | null;
}

/**
 * Adds the runs of a file. What is there already stays as it is (and comes back from the trash if it lay there). `progress`
 * hears how many runs of how many are through.
 */
export function importFile(store: Store, file: string, progress: (done: number, total: number) => void = () => {}): ImportResult {
  const reader = new ContainerReader(file);
  const written: string[] = [];
  try {
    const parse = <T>(name: string, schema: z.ZodType<T>): T => {
      const parsed = schema.safeParse(parseText(reader.read(name)));
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      throw new ImportError(
        `${file} was refused: ${name} does not fit at ${issue?.path.join('.') || 'its top'} (${issue?.message ?? 'no JSON'}). Nothing was changed.`,
      );
    };
    const contents = parse('index', index);
    return store.write(() => {
      const runs = contents.runs.map((id, done) => {
        progress(done, contents.runs.length);
        const known = store.runs.findByUid(id);
        if (known !== undefined) {
          if (known.deletedAt !== null) store.runs.restore([known.id]);
          return { run: known.id, uid: id, name: known.name, added: false };
        }
        const run = importRun(store, id, reader, parse, written);
        return { run: run.id, uid: id, name: run.name, added: true };
      });
      return { runs, study: contents.study === null ? null : importStudy(store, contents.study) };
    });
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    throw refusal(file, error);
  } finally {
    reader.close();
  }
}

/** A fault of the file, whatever it was found by; only a full disk and a busy or damaged database are faults of this side. */
function refusal(file: string, error: unknown): unknown {
  if (error instanceof ImportError || isDiskFull(error) || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (
    code.startsWith('SQLITE_') &&
    !code.startsWith('SQLITE_CONSTRAINT') &&
    !code.startsWith('SQLITE_MISMATCH') &&
    code !== 'SQLITE_TOOBIG'
  )
    return error;
  const what =
    error instanceof z.ZodError
      ? `a value does not fit at ${error.issues[0]?.path.join('.') || 'its top'} (${error.issues[0]?.message})`
      : error.message;
  return new ImportError(`${file} was refused: ${what}. Nothing was changed.`, { cause: error });
}

function importRun(
  store: Store,
  id: string,
  reader: ContainerReader,
  parse: <T>(name: string, schema: z.ZodType<T>) => T,
  written: string[],
): Run {
  const at = (name: string): string => `runs/${id}/${name}`;
  const source = parse(at('run'), runSchema);
  if (source.uid !== id) throw new RangeError(`run ${id} calls itself ${source.uid}`);
  const run = store.runs.create(source);
  const unfinished: readonly RunState[] = ['queued', 'running', 'stopping'];
  const { updates, episodes, tokens, seconds, createdAt, startedAt, finishedAt } = source;
  const state = unfinished.includes(source.state)
    ? ({ state: 'interrupted', reason: 'Was not finished when it was exported' } as const)
    : { state: source.state, reason: source.reason };
  store.runs.change(run.id, { ...state, position: null, updates, episodes, tokens, seconds, createdAt, startedAt, finishedAt });
  for (const [update, success] of source.spark) store.runs.addSpark(run.id, update, success);

  parse(at('metrics'), metricIndex).forEach(({ name, points }, position) => {
    const data = reader.read(at(`metrics/${position}`));
    if (data.length !== points * 12) throw new RangeError(`metric ${name} has ${data.length} bytes, ${points * 12} expected`);
    const bytes = Uint8Array.from(data).buffer;
    store.metrics.addSeries(run.id, name, new Int32Array(bytes.slice(0, points * 4)), new Float64Array(bytes.slice(points * 4)));
  });
  for (const { name, update, samples } of parse(at('distributions'), distributionList)) {
    store.metrics.addDistribution(run.id, update, name, Float32Array.from(samples));
  }
  for (const event of parse(at('events'), eventList)) store.events.add(run.id, event, event.time);
  store.vstar.addToRun(run.id, parse(at('vstar'), vstarList));

  const stored: number[] = [];
  for (let entry = 0; reader.has(at(`episodes/${entry}`)); entry++) {
    for (const { update, trajectory } of decodeTrajectories(reader.read(at(`episodes/${entry}`)))) {
      stored.push(...store.trajectories.add(run.id, update, [trajectory]));
    }
  }
  for (const { episodes: ordinals, ...evaluation } of parse(at('evaluations'), evaluationList)) {
    store.evaluations.add(
      run.id,
      evaluation,
      ordinals.map((ordinal) => (ordinal === null ? null : (stored[ordinal] ?? null))),
    );
  }
  for (const { update, kept } of parse(at('checkpoints'), checkpointList)) {
    const data = reader.read(at(`checkpoints/${update}`));
    const name = `checkpoints/${id}/${String(update).padStart(8, '0')}.safetensors`;
    const path = join(store.dataFolder, ...name.split('/'));
    written.push(path);
    writeDurably(path, data);
    store.checkpoints.add(run.id, { update, file: name, sha256: sha256(data), bytes: data.length }, kept);
  }
  return store.runs.get(run.id);
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
  const created = store.studies.create(name, runs, study.plan, study.uid);
  store.studies.change(created.id, { notes: study.notes });
  return name;
}

function json(value: unknown): Buffer {
  return Buffer.from(canonicalJson(value));
}

function parseText(data: Buffer): unknown {
  try {
    return parseCanonical(data.toString('utf8'));
  } catch {
    return undefined;
  }
}
