// Looks for damage: the database's pages and keys, every packed blob, every checkpoint and reference file against its hash. Names what
// is damaged and what of it is lost, and copies everything that can still be read into a new folder. Reads only; what is
// damaged stays as it is, for someone who can make more of it.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../base/canonical.ts';
import { checkIntegrity } from '../store/database.ts';
import { importFile } from './import.ts';
import type { Store } from '../store/store.ts';
import { exportRuns } from './transfer.ts';

export interface Damage {
  /** What it is: database, run, metric, episode, evaluation, checkpoint, reference. */
  readonly kind: string;
  readonly run: number | null;
  /** Which one: a file, a metric's name, an episode's number. */
  readonly where: string;
  readonly problem: string;
}

/** Everything that is damaged; empty when all is well. Reads the whole data folder. */
export function checkStore(store: Store): Damage[] {
  const damaged: Damage[] = checkIntegrity(store.db).map((problem) => ({ kind: 'database', run: null, where: 'astrolab.db', problem }));
  const look = (kind: string, run: number | null, where: string, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      damaged.push({ kind, run, where, problem: error instanceof Error ? error.message : String(error) });
    }
  };
  for (const policy of store.references.list()) {
    look('reference', null, policy.file, () => sound(store.references.path(policy), policy.sha256));
  }
  for (const { id, damaged: row } of [...store.runs.list(), ...store.runs.list({ deleted: true })]) {
    if (row !== null) damaged.push({ kind: 'run', run: id, where: `run ${id}`, problem: row });
    look('run', id, `run ${id}`, () => store.runs.get(id));
    checkMetrics(store, id, look);
    look('events', id, `events of run ${id}`, () => store.events.list(id));
    for (const episode of episodesOf(store, id)) look('episode', id, `episode ${episode}`, () => store.trajectories.read(episode));
    look('evaluation', id, `evaluations of run ${id}`, () => {
      for (const evaluation of store.evaluations.list(id)) store.evaluations.results(evaluation.id);
    });
    for (const checkpoint of store.checkpoints.list(id)) {
      look('checkpoint', id, checkpoint.file, () => sound(store.checkpoints.path(checkpoint), checkpoint.sha256));
    }
  }
  return damaged;
}

type Look = (kind: string, run: number | null, where: string, read: () => unknown) => void;

function checkMetrics(store: Store, run: number, look: Look): void {
  let names: string[] = [];
  look('metric', run, `metrics of run ${run}`, () => (names = store.metrics.names(run)));
  for (const name of names) look('metric', run, name, () => store.metrics.series(run, name));
  for (const name of store.metrics.distributed(run))
    look('metric', run, `distribution ${name}`, () => store.metrics.distributions(run, name));
}

function sound(path: string, expected: string): void {
  if (!existsSync(path)) throw new Error('the file is missing');
  const found = sha256(readFileSync(path));
  if (found !== expected)
    throw new Error(`the file was changed or damaged: sha256 ${expected.slice(0, 12)}… expected, ${found.slice(0, 12)}… found`);
}

/** The numbers alone, which need nothing of the episodes to be readable. */
function episodesOf(store: Store, run: number): number[] {
  return store.db
    .prepare<[number], { id: number }>('SELECT id FROM episodes WHERE run_id = ? ORDER BY id')
    .all(run)
    .map(({ id }) => id);
}

export interface Salvaged {
  readonly runs: readonly number[];
  /** Runs of which nothing could be copied, with the reason. */
  readonly lost: readonly { readonly run: number; readonly problem: string }[];
}

/** Copies every run into a new, empty store, leaving out what is damaged of it. */
export function salvage(store: Store, target: Store, damaged: readonly Damage[]): Salvaged {
  if (target.runs.list().length > 0 || readdirSync(target.dataFolder).includes('checkpoints'))
    throw new Error(`${target.dataFolder} holds runs already; an empty folder is expected for what is saved`);
  const runs: number[] = [];
  const lost: { run: number; problem: string }[] = [];
  for (const { id } of store.runs.list().toReversed()) {
    const file = join(target.dataFolder, 'salvage.astrolab');
    const bad = new Set(
      damaged.filter(({ kind, run }) => kind === 'episode' && run === id).map(({ where }) => Number(where.replace('episode ', ''))),
    );
    const episodes = new Set(episodesOf(store, id).filter((episode) => !bad.has(episode)));
    try {
      exportRuns(store, [id], file, { tolerant: true, thin: () => ({ episodes, distribution: () => true }) });
      importFile(target, file);
      runs.push(id);
    } catch (error) {
      lost.push({ run: id, problem: error instanceof Error ? error.message : String(error) });
    } finally {
      rmSync(file, { force: true });
    }
  }
  return { runs, lost };
}
