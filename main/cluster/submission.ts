// A submission: runs sent to a cluster together, as a folder on its shared file system. The folder alone says everything (what was asked
// for, what was handed to the scheduler, how far each task is), so any lab that sees it can continue with it. Every file is either complete
// from the moment it has its name, or only ever grows by whole lines.
//
//   submission.json              cluster, code, runs in short
//   requests/0007.json           one task's complete config
//   parts/2.sh, parts/2.txt      a job array: its script, and its tasks one a line (array index i is line i + 1)
//   journal.jsonl                what was about to be submitted, what was, what was cancelled
//   seen/NAME                    touched by the first task of an array that starts
//   progress/0007.31-0.jsonl     what attempt 31-0 (job and restart count) of task 7 says
//   snapshots/0007.astrolab      the newest checkpoint of task 7 with its record; 0007.shared what it made for itself
//   results/0007.31-0.astrolab   the finished run
//   shared/s0.shared             reference policy and V* samples that several tasks share
//   logs/2-0.txt                 what task 0 of array 2 printed

import { closeSync, constants, existsSync, fsyncSync, lstatSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Json } from '../base/canonical.ts';
import {
  DamagedSubmission,
  type JournalLine,
  readJournal,
  readPart,
  readSubmissionFile,
  submissionFile,
  type SubmissionFile,
  type TaskRequest,
} from './incoming.ts';

export const FOLDERS = ['requests', 'parts', 'seen', 'progress', 'snapshots', 'results', 'shared', 'logs', 'work'] as const;

/** One job array of a submission. */
export interface Part {
  readonly number: number;
  readonly name: string;
  /** Null while nobody knows its number. */
  readonly job: string | null;
  readonly refused: string | null;
  readonly tasks: readonly string[];
}

/** A submission that cannot be read, in a list. */
export interface DamagedRow {
  readonly id: string;
  readonly reason: string;
}

export class Submission {
  readonly folder: string;
  readonly file: SubmissionFile;

  private constructor(folder: string, file: SubmissionFile) {
    this.folder = folder;
    this.file = file;
  }

  get id(): string {
    return this.file.id;
  }

  static create(parent: string, file: SubmissionFile, requests: readonly TaskRequest[]): Submission {
    const folder = join(parent, file.id);
    for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    for (const request of requests) writeFileSync(join(folder, 'requests', `${request.id}.json`), JSON.stringify(request));
    // Last: a folder without it is no submission.
    const parsed = submissionFile.parse(file);
    writeWhole(join(folder, 'submission.json'), `${JSON.stringify(parsed, null, 1)}\n`);
    return new Submission(folder, parsed);
  }

  static open(folder: string): Submission {
    return new Submission(folder, readSubmissionFile(folder));
  }

  /** The submissions of a folder, the newest first; those that cannot be read apart. */
  static list(parent: string, names: readonly string[]): { sound: Submission[]; damaged: DamagedRow[] } {
    const sound: Submission[] = [];
    const damaged: DamagedRow[] = [];
    for (const id of names) {
      const folder = join(parent, id);
      if (!existsSync(join(folder, 'submission.json'))) continue;
      try {
        if (lstatSync(folder).isSymbolicLink()) throw new DamagedSubmission(`${folder} is a link, not a folder`);
        sound.push(Submission.open(folder));
      } catch (error) {
        if (!(error instanceof DamagedSubmission)) throw error;
        damaged.push({ id, reason: error.message });
      }
    }
    return { sound: sound.sort((a, b) => b.file.createdAt - a.file.createdAt), damaged };
  }

  /** A file or folder in it: nothing leads out. */
  path(...parts: string[]): string {
    const name = parts.join('/');
    if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(name)) throw new DamagedSubmission(`${JSON.stringify(name)} is no file of ${this.id}`);
    return join(this.folder, name);
  }

  journal(): JournalLine[] {
    return readJournal(this.folder, this.id);
  }

  record(line: JournalLine): void {
    appendLine(this.path('journal.jsonl'), line);
  }

  /** The arrays in the order they were submitted, or were about to be. */
  parts(journal = this.journal()): Part[] {
    const intents = new Map(journal.flatMap((line) => (line.is === 'intent' ? [[line.part, line.name] as const] : [])));
    return [...intents].map(([number, name]) => {
      const last = journal.findLast(
        (line) => (line.is === 'submitted' || line.is === 'refused' || line.is === 'intent') && line.part === number,
      );
      const submitted = journal.findLast((line) => line.is === 'submitted' && line.part === number);
      return {
        number,
        name,
        job: submitted?.is === 'submitted' ? submitted.job : null,
        refused: last?.is === 'refused' ? last.reason : null,
        tasks: readPart(this.folder, number),
      };
    });
  }
}

export const taskNumber = (index: number): string => String(index).padStart(4, '0');

/** Complete or not there at all. */
export function writeWhole(file: string, text: string): void {
  const temporary = `${file}.${randomUUID()}.part`;
  const handle = openSync(temporary, 'wx');
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Adds a line that has left this machine when the call returns. */
export function appendLine(file: string, line: Json): void {
  mkdirSync(dirname(file), { recursive: true });
  const handle = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    writeSync(handle, `${JSON.stringify(line)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
