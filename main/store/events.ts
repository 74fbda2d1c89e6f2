// Events of a run: lines of its log, alerts, curriculum levels, checkpoints. The charts draw them as marks.

import { canonicalJson, type Json, parseCanonical } from '../base/canonical.ts';
import type { EventKind, Severity } from '../base/vocabulary.ts';
import type { Connection } from './database.ts';

export interface RunEvent {
  readonly id: number;
  readonly update: number;
  readonly time: number;
  readonly kind: EventKind;
  readonly severity: Severity;
  readonly text: string;
  readonly data: Json;
}

export class EventStore {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  add(run: number, event: Omit<RunEvent, 'id' | 'time'>, time = Date.now()): void {
    this.#db
      .prepare('INSERT INTO events (run_id, update_no, time, kind, severity, text, data) VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(run, event.update, time, event.kind, event.severity, event.text, canonicalJson(event.data));
  }

  /** Oldest first. */
  list(run: number, kinds?: readonly EventKind[]): RunEvent[] {
    const limit = kinds === undefined ? '' : `AND kind IN (${kinds.map(() => '?').join(', ')})`;
    return this.#db
      .prepare<
        (number | string)[],
        { id: number; update_no: number; time: number; kind: EventKind; severity: Severity; text: string; data: string }
      >(`SELECT id, update_no, time, kind, severity, text, data FROM events WHERE run_id = ? ${limit} ORDER BY update_no, id`)
      .all(run, ...(kinds ?? []))
      .map(({ update_no: update, data, ...row }) => ({ ...row, update, data: parseCanonical(data) }));
  }

  /** Alerts follow from the evaluation of an update; those of its metrics' names do not. */
  dropAlerts(run: number, update: number): void {
    this.#db
      .prepare(`DELETE FROM events WHERE run_id = ? AND update_no = ? AND kind = 'alert' AND json_extract(data, '$.state') IS NOT NULL`)
      .run(run, update);
  }

  /** What belongs to the queue ("interrupted", "resumed") is history and stays. */
  truncate(run: number, lastUpdate: number): void {
    this.#db.prepare(`DELETE FROM events WHERE run_id = ? AND update_no > ? AND kind != 'state'`).run(run, lastUpdate);
  }
}
