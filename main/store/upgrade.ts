// Records of earlier versions as this one writes them: configs with every setting, claims in today's words, alerts with their titles,
// budgets counted. The migration of a database and the import of a file both come here, so nothing that reads records asks how old they are.

import type { Statement } from 'better-sqlite3';
import { z } from 'zod';
import { type Algorithms, algorithmOf, hasAlgorithm } from '../algorithm/registry.ts';
import { canonicalJson, type Json, parseCanonical } from '../base/canonical.ts';
import type { Verdict } from '../base/vocabulary.ts';
import type { Catalog } from '../config/catalog.ts';
import { parseConfig, type RunConfig } from '../config/config.ts';
import { armIdentity, runIdentity } from '../config/identity.ts';
import { upgradeConfig } from '../config/upgrade.ts';
import { alertById } from '../metrics/alerts.ts';
import type { Connection } from './database.ts';
import { Dictionary } from './dictionary.ts';
import { MetricStore } from './metrics.ts';

/** Part of a migration's transaction. */
export function upgradeRecords(db: Connection, catalog: Catalog): void {
  upgradeRuns(db, catalog);
  upgradeRows(db, 'studies', 'id', 'plan', upgradeVerdicts);
  upgradeRows(db, 'events', 'id', 'data', upgradeAlert, `WHERE kind = 'alert'`);
  upgradeReferences(db, catalog);
}

interface RunRow {
  readonly id: number;
  readonly config: string;
}

/** A config that does not fit stays as it is; its run is listed with the reason and cannot be opened. */
function upgradeRuns(db: Connection, catalog: Catalog): void {
  const set = db.prepare('UPDATE runs SET config = ?, config_hash = ?, group_hash = ?, config_fault = NULL WHERE id = ?');
  const refuse = db.prepare('UPDATE runs SET config_fault = ? WHERE id = ?');
  const metrics = new MetricStore(db, new Dictionary(db));
  for (const { id, config: stored } of db.prepare<[], RunRow>('SELECT id, config FROM runs').all()) {
    let config: RunConfig;
    try {
      config = upgradeConfig(catalog, parseCanonical(stored));
    } catch (error) {
      refuse.run(error instanceof Error ? error.message : String(error), id);
      continue;
    }
    set.run(canonicalJson(config), runIdentity(config), armIdentity(config), id);
    unlessDamaged(() => countSteps(catalog, metrics, id, config));
  }
}

/**
 * Version 0.1.0 did not record optimizer steps. They follow from the episodes of each update: one whose episodes were all filtered out
 * takes no step, and one with few episodes is not cut into more parts than it has.
 */
export function countSteps(catalog: Algorithms, metrics: MetricStore, run: number, config: RunConfig): void {
  if (metrics.series(run, 'optimizerSteps').values.length > 0) return;
  const { updates, values } = metrics.series(run, 'update.episodes');
  if (updates.length === 0 || !hasAlgorithm(catalog, config.algorithm.id)) return;
  const { epochs, minibatches } = algorithmOf(catalog, config.algorithm).needs;
  let steps = 0;
  const counted = values.map((episodes) => (steps += epochs * Math.min(minibatches, episodes)));
  metrics.addSeries(run, 'optimizerSteps', updates, counted);
}

/** Rewrites a column of JSON where that changes it. */
function upgradeRows(db: Connection, table: string, key: string, column: string, upgrade: (value: Json) => Json, where = ''): void {
  const set: Statement<[string, number]> = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`);
  const rows = db.prepare<[], { id: number; text: string }>(`SELECT ${key} AS id, ${column} AS text FROM ${table} ${where}`).all();
  for (const { id, text } of rows) {
    unlessDamaged(() => {
      const after = canonicalJson(upgrade(parseCanonical(text)));
      if (after !== text) set.run(after, id);
    });
  }
}

const VERDICTS: Readonly<Record<string, Verdict>> = { holds: 'supported', fails: 'refuted', undecided: 'inconclusive' };

/** The plan of a study with its verdicts in today's words; what was decided stays. */
export function upgradeVerdicts(plan: Json): Json {
  if (Array.isArray(plan)) return plan.map(upgradeVerdicts);
  if (typeof plan !== 'object' || plan === null) return plan;
  const entries = Object.entries(plan).map(([key, value]): [string, Json] => {
    const verdict = (key === 'verdict' || key === 'corrected') && typeof value === 'string' ? VERDICTS[value] : undefined;
    // What was frozen before the first run stays as it was frozen: its hash is over these bytes.
    return [key, verdict ?? (key === 'frozen' ? value : upgradeVerdicts(value))];
  });
  return Object.fromEntries(entries);
}

const alert = z.looseObject({ id: z.string(), state: z.string().optional(), title: z.string().optional(), metrics: z.json().optional() });

/** Alerts were stored by their id alone; state, title and metrics follow from it. */
export function upgradeAlert(data: Json): Json {
  const parsed = alert.safeParse(data);
  if (!parsed.success || typeof data !== 'object' || data === null) return data;
  const { id, state, title, metrics } = parsed.data;
  const rule = alertById(id);
  return { ...data, state: state ?? 'active', title: title ?? rule?.title ?? 'Alert', metrics: metrics ?? [...(rule?.metrics ?? [])] };
}

const details = z.record(z.string(), z.json());

/** What is noted about a reference policy: the settings that it was cloned with, all of them. */
function upgradeReferences(db: Connection, catalog: Catalog): void {
  const rows = db
    .prepare<[], { recipe: string; world: string; details: string }>('SELECT recipe, world, details FROM reference_policies')
    .all();
  const set = db.prepare('UPDATE reference_policies SET details = ? WHERE recipe = ?');
  const settings = Object.keys(parseConfig(catalog, {}).reference);
  for (const { recipe, world, details: text } of rows) {
    unlessDamaged(() => {
      const noted = details.parse(parseCanonical(text));
      const reference = Object.fromEntries(Object.entries(noted).filter(([key]) => settings.includes(key)));
      set.run(canonicalJson({ ...noted, ...upgradeConfig(catalog, { world: { name: world }, reference }).reference }), recipe);
    });
  }
}

/** A row that cannot be read stays as it is, and keeps nobody from the others; `lab check` names it. */
function unlessDamaged(upgrade: () => void): void {
  try {
    upgrade();
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_')) throw error;
  }
}
