// Evaluations with the outcome of every task, so that two runs can be compared task by task, and the numbers on the
// runs themselves: the test, the latest and the best validation.

import { mean } from '../base/statistics.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { EvaluationReport, EvaluationResult } from '../evaluation/evaluation-report.ts';
import type { Statement } from 'better-sqlite3';
import type { Connection } from './database.ts';
import { type Dictionary, fromColumn, toColumn } from './dictionary.ts';
import type { RunStore, Successes, SuccessesAt } from './runs.ts';
import { readSplit } from './trajectories.ts';

export interface Evaluation {
  readonly id: number;
  readonly run: number | null;
  readonly update: number;
  readonly kind: EvaluationReport['kind'];
  readonly agent: string;
  readonly world: string;
  readonly worldHash: string;
  readonly split: Trajectory['split'];
  readonly temperature: number;
  readonly success: Successes;
  readonly meanReturn: number;
  readonly meanSteps: number;
  readonly seconds: number;
  readonly createdAt: number;
}

export type StoredResult = EvaluationResult & { readonly episode: number | null };

interface Row {
  id: number;
  run_id: number | null;
  update_no: number;
  kind: EvaluationReport['kind'];
  agent: string;
  world: string;
  world_hash: string;
  split: string;
  temperature: number;
  k: number;
  n: number;
  mean_return: number | string;
  mean_steps: number;
  seconds: number;
  created_at: number;
}

interface ResultRow {
  task: number;
  category: number;
  tier: number;
  failure: number | null;
  seed: number;
  success: number;
  return: number | string;
  steps: number;
  episode_id: number | null;
}

export class EvaluationStore {
  readonly #db: Connection;
  readonly #dictionary: Dictionary;
  readonly #runs: RunStore;
  readonly #list: Statement<[number | null], Row>;
  readonly #results: Statement<[number], ResultRow>;
  readonly #failures: Statement<[number], { update_no: number; kind: Evaluation['kind']; failure: number; count: number; n: number }>;

  constructor(db: Connection, dictionary: Dictionary, runs: RunStore) {
    this.#db = db;
    this.#dictionary = dictionary;
    this.#runs = runs;
    this.#list = db.prepare('SELECT * FROM evaluations WHERE run_id IS ? ORDER BY update_no, id');
    this.#results = db.prepare(
      'SELECT task, category, tier, failure, seed, success, return, steps, episode_id FROM evaluation_results WHERE evaluation_id = ? ORDER BY position',
    );
    this.#failures = db.prepare(
      `SELECT e.update_no, e.kind, r.failure, count(*) AS count, e.n FROM evaluations e JOIN evaluation_results r ON r.evaluation_id = e.id
       WHERE e.run_id = ? AND r.failure IS NOT NULL GROUP BY e.id, r.failure ORDER BY e.update_no, e.id`,
    );
  }

  /** `episodes`: the stored episode of each result, or none. Returns the evaluation's id. */
  add(run: number | null, report: Omit<EvaluationReport, 'episodes'>, episodes: readonly (number | null)[]): number {
    return this.#dictionary.write(() => {
      const { results } = report;
      const id = Number(
        this.#db
          .prepare(
            `INSERT INTO evaluations (run_id, update_no, kind, agent, world, world_hash, split, temperature, k, n, mean_return, mean_steps, seconds, created_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(
            run,
            report.update,
            report.kind,
            report.agent,
            report.world,
            report.worldHash,
            report.split,
            report.temperature,
            results.filter((result) => result.success).length,
            results.length,
            toColumn(mean(results.map((result) => result.return))),
            mean(results.map(({ steps }) => steps)),
            report.seconds,
            Date.now(),
          ).lastInsertRowid,
      );
      const add = this.#db.prepare('INSERT INTO evaluation_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
      results.forEach((result, position) => {
        add.run(
          id,
          position,
          this.#dictionary.label(result.task),
          this.#dictionary.label(result.category),
          this.#dictionary.label(result.tier),
          result.failure === null ? null : this.#dictionary.label(result.failure),
          result.seed,
          result.success ? 1 : 0,
          toColumn(result.return),
          result.steps,
          episodes[position] ?? null,
        );
      });
      if (run !== null) this.summarise(run);
      return id;
    });
  }

  /** Oldest first; `null` lists those of agents without a run. */
  list(run: number | null): Evaluation[] {
    return this.#list.all(run).map(fromRow);
  }

  get(id: number): Evaluation {
    const row = this.#db.prepare<[number], Row>('SELECT * FROM evaluations WHERE id = ?').get(id);
    if (row === undefined) throw new Error(`There is no evaluation ${id}`);
    return fromRow(row);
  }

  /** The one that counts for a comparison: the test, else the latest validation, else whatever was asked for last. */
  finalOrLatest(run: number): Evaluation | undefined {
    const own = this.list(run).filter((evaluation) => evaluation.agent === 'policy');
    return testOf(own) ?? own.findLast(({ kind }) => kind === 'periodic') ?? own.at(-1);
  }

  /** Task by task, in the order they were played. */
  results(id: number): StoredResult[] {
    return this.#results.all(id).map((row) => ({
      task: this.#dictionary.labelText(row.task),
      category: this.#dictionary.labelText(row.category),
      tier: this.#dictionary.labelText(row.tier),
      failure: row.failure === null ? null : this.#dictionary.labelText(row.failure),
      seed: row.seed,
      success: row.success === 1,
      return: fromColumn(row.return),
      steps: row.steps,
      episode: row.episode_id,
    }));
  }

  /** Failure classes of every evaluation of a run: their rates over training. */
  failures(run: number): { update: number; kind: Evaluation['kind']; failure: string; count: number; n: number }[] {
    return this.#failures
      .all(run)
      .map(({ update_no: update, kind, failure, count, n }) => ({ update, kind, failure: this.#dictionary.labelText(failure), count, n }));
  }

  truncate(run: number, lastUpdate: number): void {
    this.#db.prepare('DELETE FROM evaluations WHERE run_id = ? AND update_no > ?').run(run, lastUpdate);
    this.summarise(run);
  }

  /** Forgets what training evaluated after an update; evaluations by hand stay. */
  dropTraining(run: number, update: number): void {
    this.#db.prepare(`DELETE FROM evaluations WHERE run_id = ? AND update_no = ? AND kind != 'manual'`).run(run, update);
    this.summarise(run);
  }

  /** Test, latest and best validation of the policy, kept on the run for the list. */
  summarise(run: number): void {
    const own = this.list(run).filter((evaluation) => evaluation.agent === 'policy' && evaluation.success.n > 0);
    const during = own.filter(({ kind }) => kind === 'periodic');
    let best: Evaluation | undefined;
    for (const one of during) {
      if (best === undefined || one.success.k / one.success.n > best.success.k / best.success.n) best = one;
    }
    const at = (one: Evaluation | undefined): SuccessesAt | null => (one ? { ...one.success, update: one.update } : null);
    const final = testOf(own);
    const test = final ? { ...final.success, update: final.update, temperature: final.temperature } : null;
    this.#runs.setEvaluated(run, { test, validation: at(during.at(-1)), best: at(best) });
  }
}

/** The final evaluation; while there is none, the latest greedy one on test tasks that was requested. */
function testOf(own: readonly Evaluation[]): Evaluation | undefined {
  const byHand = own.findLast(({ kind, split, temperature }) => kind === 'manual' && split === 'test' && temperature === 0);
  return own.findLast(({ kind }) => kind === 'final') ?? byHand;
}

function fromRow(row: Row): Evaluation {
  return {
    id: row.id,
    run: row.run_id,
    update: row.update_no,
    kind: row.kind,
    agent: row.agent,
    world: row.world,
    worldHash: row.world_hash,
    split: readSplit(row.split),
    temperature: row.temperature,
    success: { k: row.k, n: row.n },
    meanReturn: fromColumn(row.mean_return),
    meanSteps: row.mean_steps,
    seconds: row.seconds,
    createdAt: row.created_at,
  };
}
