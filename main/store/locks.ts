// Who trains a run: a lock per run with the process ids and start times of its owner (the window or the command line)
// and of its training process, so that two never train one run, and a lock left by a crash is recognised as stale even
// when the system has given the number to another process since.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Connection } from './database.ts';

export interface LockHolder {
  readonly ownerPid: number;
  readonly trainerPid: number | null;
}

interface Row {
  owner_pid: number;
  owner_started: string;
  trainer_pid: number | null;
  trainer_started: string | null;
}

/** A living process of another lab has the run. */
export class RunLocked extends Error {
  override name = 'RunLocked';
  readonly code = 'run-locked';
  readonly run: number;
  readonly holder: LockHolder;

  constructor(run: number, holder: LockHolder) {
    const trainer = holder.trainerPid === null ? '' : `, training in process ${holder.trainerPid}`;
    super(`Run ${run} is being trained by another lab (process ${holder.ownerPid}${trainer}). Stop it there, or wait until it ends.`);
    this.run = run;
    this.holder = holder;
  }
}

export class RunLocks {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  /** Takes the lock for this process; a stale one is replaced. Throws `RunLocked` when a living process has it. */
  take(run: number): void {
    this.#db
      .transaction(() => {
        this.check(run);
        this.#db
          .prepare('INSERT OR REPLACE INTO run_locks VALUES (?, ?, ?, NULL, NULL, ?)')
          .run(run, process.pid, processStart(process.pid) ?? '', Date.now());
      })
      .immediate();
  }

  /** Throws `RunLocked` when a living process of another lab has the run. */
  check(run: number): void {
    const holder = this.holder(run);
    if (holder !== undefined && holder.ownerPid !== process.pid) throw new RunLocked(run, holder);
  }

  /** Adds the training process: the lock holds until both are gone. */
  setTrainer(run: number, pid: number): void {
    this.#db.prepare('UPDATE run_locks SET trainer_pid = ?, trainer_started = ? WHERE run_id = ?').run(pid, processStart(pid) ?? '', run);
  }

  release(run: number): void {
    this.#db.prepare('DELETE FROM run_locks WHERE run_id = ? AND owner_pid = ?').run(run, process.pid);
  }

  /** Whether the lab that took the lock is gone; its training process may still be ending. */
  orphaned(run: number): boolean {
    const row = this.#db.prepare<[number], Row>('SELECT * FROM run_locks WHERE run_id = ?').get(run);
    return row !== undefined && !lives(row.owner_pid, row.owner_started);
  }

  /** Who holds the lock, if anyone who still lives. */
  holder(run: number): LockHolder | undefined {
    const row = this.#db.prepare<[number], Row>('SELECT * FROM run_locks WHERE run_id = ?').get(run);
    if (row === undefined) return undefined;
    const alive =
      lives(row.owner_pid, row.owner_started) || (row.trainer_pid !== null && lives(row.trainer_pid, row.trainer_started ?? ''));
    return alive ? { ownerPid: row.owner_pid, trainerPid: row.trainer_pid } : undefined;
  }
}

function lives(pid: number, started: string): boolean {
  const now = processStart(pid);
  // Without a start time (not available on every platform) a living process of that number counts.
  return now !== undefined && (now === '' || started === '' || now === started);
}

/** A text that is the same for as long as the process lives and differs for any other; undefined when there is none. */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return undefined;
  }
  try {
    if (process.platform === 'linux') {
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\)\s/s, '')
        .split(' ');
      // A killed process that its parent has not looked at yet is dead all the same.
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${fields[19] ?? ''}`;
    }
    if (process.platform === 'darwin') return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return process.platform === 'linux' ? undefined : '';
  }
  return '';
}
