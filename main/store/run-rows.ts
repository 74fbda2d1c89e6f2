// Rows of the table `runs` as records and back: the columns of the list, and the spark line as a few packed pairs.

import { z } from 'zod';
import { ByteReader, ByteWriter } from './pack.ts';
import type { RunState } from '../base/vocabulary.ts';
import type { RunConfig } from '../config/config.ts';
import type { RunSummary } from './runs.ts';

export interface Row {
  id: number;
  uid: string;
  name: string;
  world: string;
  variant: string;
  preset: string | null;
  seed: number;
  device: string;
  config_hash: string;
  group_hash: string;
  state: RunState;
  reason: string | null;
  position: number | null;
  pause_at: number | null;
  planned: number;
  updates: number;
  episodes: number;
  tokens: number;
  seconds: number;
  validation_k: number | null;
  validation_n: number | null;
  validation_update: number | null;
  test_k: number | null;
  test_n: number | null;
  test_update: number | null;
  test_temperature: number | null;
  best_k: number | null;
  best_n: number | null;
  best_update: number | null;
  spark: Buffer | null;
  notes: string;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  deleted_at: number | null;
  origin_uid: string | null;
  origin_update: number | null;
  origin_id: number | null;
  tags: string | null;
  config_fault: string | null;
}

export const SUMMARY_COLUMNS = `id, uid, name, world, variant, preset, seed, device, config_hash, group_hash, state, reason, position, pause_at,
  planned, updates, episodes, tokens, seconds, validation_k, validation_n, validation_update, test_k, test_n, test_update,
  test_temperature, best_k, best_n, best_update, spark, notes, created_at, started_at, finished_at, deleted_at, origin_uid, origin_update, config_fault,
  (SELECT parent.id FROM runs AS parent WHERE parent.uid = runs.origin_uid) AS origin_id, (SELECT json_group_array(tag) FROM run_tags WHERE run_id = runs.id) AS tags`;

export function packSpark(points: readonly (readonly [number, number])[]): Buffer {
  const writer = new ByteWriter();
  for (const [update, success] of points) {
    writer.varint(update);
    writer.float32(success);
  }
  return writer.bytes();
}

export function unpackSpark(blob: Buffer | null): (readonly [number, number])[] {
  const points: (readonly [number, number])[] = [];
  if (blob === null) return points;
  const reader = new ByteReader(blob);
  while (!reader.done) points.push([reader.varint(), reader.float32()]);
  return points;
}

/** What cannot be read of a row is left out and named in `damaged`: one bad run must not take the list down. */
export function summary(row: Row): RunSummary {
  const faults: string[] = [];
  const reading = <T>(what: string, otherwise: T, read: () => T): T => {
    try {
      return read();
    } catch {
      faults.push(what);
      return otherwise;
    }
  };
  const spark = reading('its training curve', [], () => soundSpark(unpackSpark(row.spark)));
  const tags = reading('its tags', [], () => tagList.parse(JSON.parse(row.tags ?? '[]')));
  const seconds = reading('its training time', 0, () => finite(row.seconds));
  return {
    id: row.id,
    uid: row.uid,
    name: row.name,
    world: row.world,
    variant: row.variant,
    preset: row.preset,
    seed: row.seed,
    device: row.device,
    configHash: row.config_hash,
    groupHash: row.group_hash,
    state: row.state,
    reason: row.reason,
    position: row.position,
    pauseAt: row.pause_at,
    planned: row.planned,
    updates: row.updates,
    episodes: row.episodes,
    tokens: row.tokens,
    seconds,
    test: withTemperature(successes(row.test_k, row.test_n, row.test_update), row.test_temperature),
    validation: successes(row.validation_k, row.validation_n, row.validation_update),
    best: successes(row.best_k, row.best_n, row.best_update),
    spark,
    tags,
    notes: row.notes,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    deletedAt: row.deleted_at,
    origin:
      row.origin_uid === null || row.origin_update === null ? null : { uid: row.origin_uid, run: row.origin_id, update: row.origin_update },
    damaged: faultsOf(faults, row.config_fault),
  };
}

const tagList = z.array(z.string());
const versionList = z.record(z.string(), z.string());

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(`A number was expected, found ${value}`);
  return value;
}

function soundSpark(points: (readonly [number, number])[]): (readonly [number, number])[] {
  for (const [, share] of points) finite(share);
  return points;
}

function successes(k: number | null, n: number | null, update: number | null): RunSummary['validation'] {
  return k === null || n === null || update === null ? null : { k, n, update };
}

function withTemperature(test: RunSummary['validation'], temperature: number | null): RunSummary['test'] {
  return test && { ...test, temperature: temperature ?? 0 };
}

function faultsOf(unread: readonly string[], config: string | null): string | null {
  const all = [
    ...(unread.length > 0 ? [`${unread.join(', ')} cannot be read`] : []),
    ...(config === null ? [] : [`its config: ${config}`]),
  ];
  return all.length === 0 ? null : all.join('; ');
}

/** The config as `create` or the migration wrote it. */
export function storedConfig(row: Row & { readonly config: string }): RunConfig {
  if (row.config_fault !== null)
    throw new Error(`Run ${row.id} cannot be opened, its config does not fit this version: ${row.config_fault}`);
  try {
    return JSON.parse(row.config);
  } catch (error) {
    throw new Error(`Run ${row.id} cannot be opened: its config is damaged`, { cause: error });
  }
}

export function strings(text: string): Record<string, string> {
  return versionList.parse(JSON.parse(text));
}
