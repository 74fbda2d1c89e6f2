// Runs and studies as one file, out of one database and into another: the way out. import.ts is the way in, and has the
// schema of every entry.

import { canonicalJson } from '../canonical.ts';
import { ContainerWriter } from './container.ts';
import type { Run } from './runs.ts';
import type { Store } from './store.ts';
import { encodeTrajectories, type RecordedTrajectory } from './trajectory-codec.ts';

const EPISODES_PER_ENTRY = 200;

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

function json(value: unknown): Buffer {
  return Buffer.from(canonicalJson(value));
}
