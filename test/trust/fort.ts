// The data folder under attack, seen from outside: what it records, who works in it, and whether all that was promised holds.
// Looks through separate readers, as another program would.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { calls } from '../../main/lab/features/runs.ts';
import { rowOf } from '../../main/lab/rows.ts';
import { checkIntegrity } from '../../main/store/database.ts';
import { Store } from '../../main/store/store.ts';

/** All of a run that must not depend on what happened to it: `lab metrics` in the order of its names, evaluations, the final weights. */
export interface Record {
  readonly metrics: string;
  readonly evaluations: string;
  readonly weights: string;
}

const NOT_REPEATABLE = 'system/';

export class Fort {
  readonly folder: string;
  readonly #mark: string;
  /** Digests of the runs that are done: nothing may change them any more. */
  readonly #done = new Map<number, string>();

  constructor(folder: string, mark: string) {
    this.folder = folder;
    this.#mark = mark;
  }

  #read<T>(look: (store: Store) => T, otherwise: T): T {
    let store: Store;
    try {
      store = Store.read(this.folder);
    } catch (error) {
      // Not there yet, or being made.
      if (error instanceof Error && error.name === 'DatabaseError' && /no database|schema version \d/.test(error.message)) return otherwise;
      throw error;
    }
    try {
      return look(store);
    } finally {
      store.close();
    }
  }

  /** The run with this tag; 0 when there is none yet. */
  find(tag: string): number {
    return this.#read((store) => store.runs.list({ tag })[0]?.id ?? 0, 0);
  }

  state(run: number): string | undefined {
    return this.#read((store) => store.runs.find(run)?.state, undefined);
  }

  /** The process that trains the run now. */
  trainer(run: number): number | null {
    return this.#read((store) => (store.runs.find(run) ? (store.locks.holder(run)?.trainerPid ?? null) : null), null);
  }

  /** How many updates are stored. */
  recorded(run: number): number {
    return this.#read((store) => store.runs.find(run)?.updates ?? 0, 0);
  }

  /** The update a resumed run starts from. */
  saved(run: number): number {
    return this.#read((store) => (store.runs.find(run) ? (store.checkpoints.newestSound(run)?.update ?? 0) : 0), 0);
  }

  record(run: number): Record {
    const empty = { metrics: '', evaluations: '', weights: '' };
    return this.#read((store) => recordOf(store, run), empty);
  }

  /** A finished run is from now on looked at after every fault. */
  remember(run: number): void {
    this.#done.set(run, digest(this.record(run)));
  }

  /** Throws when anything recorded is lost or wrong, or the list does not open. `before`: the updates stored before the fault. */
  check(run: number, before: number, calm: Record, fault: string): void {
    this.#read((store) => {
      const fail = (what: string): never => {
        throw new Error(`After "${fault}" in run ${run}: ${what}`);
      };
      const problems = checkIntegrity(store.db);
      if (problems.length > 0) fail(`the database is damaged: ${problems.join('; ')}`);
      const list = calls['runs.list'].answer.parse({ runs: store.runs.list().map((one) => rowOf(store, one)) });
      const bad = list.runs.find(({ damaged }) => damaged !== null);
      if (bad) fail(`run ${bad.id} is damaged: ${bad.damaged}`);
      const known = store.runs.find(run);
      if (known) {
        // A resumed run goes back to a checkpoint; until someone resumes it, what is stored stays.
        if (store.locks.holder(run) === undefined && known.updates < before) fail(`update ${before} was stored, now ${known.updates}`);
        const prefix = metricsOf(store, run, known.updates);
        // The evaluation of the latest update comes after its other metrics.
        const expected = [prefixOf(calm.metrics, known.updates), prefixOf(calm.metrics, known.updates, known.updates - 1)];
        if (!expected.includes(prefix)) fail(`its metrics up to update ${known.updates} are not those of an undisturbed run`);
        if (known.updates > 0 && store.checkpoints.newestSound(run) === undefined) fail('it has no sound checkpoint');
      }
      for (const [done, expected] of this.#done) {
        if (digest(recordOf(store, done)) !== expected) fail(`the finished run ${done} has changed`);
      }
    }, undefined);
  }

  /** Waits until no process of the torture is left; throws when one stays. */
  async deserted(): Promise<void> {
    for (let waited = 0; ; waited += 100) {
      const left = marked(this.#mark);
      if (left.length === 0) return;
      if (waited > 30_000) throw new Error(`Processes are left over: ${left.join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function metricsOf(store: Store, run: number, upTo: number): string {
  const names = store.metrics.names(run).filter((name) => !name.startsWith(NOT_REPEATABLE));
  const series = store.metrics.many(run, names, { to: upTo });
  return JSON.stringify(
    names.flatMap((name) => {
      const { updates = new Int32Array(), values = new Float64Array() } = series[name] ?? {};
      return updates.length === 0 ? [] : [[name, [...updates].map((update, i) => [update, String(values[i])])]];
    }),
  );
}

/** The metrics of the undisturbed run as they were after an update, those of evaluations after another one. */
function prefixOf(metrics: string, upTo: number, evaluatedUpTo = upTo): string {
  const all: [string, [number, string][]][] = JSON.parse(metrics);
  return JSON.stringify(
    all.flatMap(([name, points]) => {
      const last = name.startsWith('evaluation.') ? evaluatedUpTo : upTo;
      const kept = points.filter(([update]) => update <= last);
      return kept.length === 0 ? [] : [[name, kept]];
    }),
  );
}

export function recordOf(store: Store, run: number): Record {
  const evaluations = store.evaluations.list(run).map(({ id, update, kind, success }) => {
    return [update, kind, success, store.evaluations.results(id).map((result) => ({ ...result, episode: null }))];
  });
  const last = store.checkpoints.newestSound(run);
  return {
    metrics: metricsOf(store, run, Number.MAX_SAFE_INTEGER),
    evaluations: JSON.stringify(evaluations),
    // The tensors: the file also notes how long it took.
    weights: last === undefined ? '' : `${last.update} ${weightsOf(store.checkpoints.path(last))}`,
  };
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const digest = (record: Record): string => sha(JSON.stringify(record));

function weightsOf(file: string): string {
  const hash = createHash('sha256');
  for (const [name, { data }] of readCheckpoint(file).tensors) {
    hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return hash.digest('hex');
}

/** Short enough to be read in a failure. */
export const short = ({ metrics, evaluations, weights }: Record): Record => ({
  metrics: sha(metrics),
  evaluations: sha(evaluations),
  weights,
});

/** Living processes whose environment carries the mark (Linux; elsewhere none are seen). */
function marked(mark: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return false;
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`TORTURE=${mark}`);
      } catch {
        return false;
      }
    });
}
