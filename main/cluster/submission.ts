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

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Json } from '../base/canonical.ts';
import { clusterSettings } from './clusters.ts';
import { modelPlace } from './models.ts';

export const FOLDERS = ['requests', 'parts', 'seen', 'progress', 'snapshots', 'results', 'shared', 'logs', 'work'] as const;

const code = z.object({ version: z.string(), source: z.string() });
export type CodeIdentity = z.infer<typeof code>;

/** `0007` or `s0`, as it stands in a part's list and in file names. */
export const taskId = z.string().regex(/^(\d{4,6}|s\d{1,4})$/);

const taskSummary = z.object({
  id: taskId,
  uid: z.uuid(),
  name: z.string(),
  seed: z.int(),
  planned: z.int(),
  /** Of the run (config/identity.ts), as the version in `code` computes it. */
  identity: z.string(),
  /** The shared files it waits for. */
  shared: taskId.nullable(),
});

const submissionFile = z.object({
  astrolab: z.literal('submission'),
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  title: z.string(),
  study: z.string().nullable(),
  createdAt: z.int(),
  cluster: clusterSettings,
  code,
  tasks: z.array(taskSummary),
  /** Tasks that make what others share, in the first part. */
  sharers: z.array(taskId),
});
export type SubmissionFile = z.infer<typeof submissionFile>;

/** What a node reads to do one task. */
export const taskRequest = z.object({
  astrolab: z.literal('task'),
  id: taskId,
  code,
  scratch: z.string(),
  /** Language models that it needs, where the nodes see them. */
  models: z.array(modelPlace).default([]),
  /** Trains a run, or makes what several share, or only says that it can be reached. */
  work: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('train'),
      uid: z.uuid(),
      /** Parsed by the node, as every config is. */
      config: z.unknown(),
      preset: z.string().nullable(),
      tags: z.array(z.string()),
      shared: taskId.nullable(),
    }),
    z.object({ kind: z.literal('share'), configs: z.array(z.unknown()) }),
    z.object({ kind: z.literal('test') }),
  ]),
});
export type TaskRequest = z.infer<typeof taskRequest>;

const journalLine = z.discriminatedUnion('is', [
  /** Written before sbatch: from now on a job of this name may exist. */
  z.object({ is: z.literal('intent'), at: z.int(), part: z.int(), name: z.string(), tasks: z.int() }),
  z.object({ is: z.literal('submitted'), at: z.int(), part: z.int(), job: z.string() }),
  /** The scheduler answered that it does not take it: no job of that name exists. */
  z.object({ is: z.literal('refused'), at: z.int(), part: z.int(), reason: z.string() }),
  z.object({ is: z.literal('cancelled'), at: z.int(), tasks: z.array(taskId) }),
]);
export type JournalLine = z.infer<typeof journalLine>;

export const progressLine = z.discriminatedUnion('is', [
  z.object({ is: z.literal('started'), at: z.int(), job: z.string(), node: z.string(), processor: z.string() }),
  z.object({
    is: z.literal('progress'),
    at: z.int(),
    phase: z.string(),
    done: z.number(),
    total: z.number(),
    success: z.number().nullable(),
  }),
  /** A checkpoint that another attempt can continue from. */
  z.object({ is: z.literal('saved'), at: z.int(), update: z.int() }),
  /** Ended because it was asked to, after saving. */
  z.object({ is: z.literal('stopped'), at: z.int(), update: z.int() }),
  z.object({ is: z.literal('failed'), at: z.int(), reason: z.string() }),
  z.object({ is: z.literal('done'), at: z.int(), file: z.string(), sha256: z.string(), bytes: z.int(), updates: z.int() }),
]);
export type ProgressLine = z.infer<typeof progressLine>;

/** One job array of a submission. */
export interface Part {
  readonly number: number;
  readonly name: string;
  /** Null while nobody knows its number. */
  readonly job: string | null;
  readonly refused: string | null;
  readonly tasks: readonly string[];
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
    for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true });
    for (const request of requests) writeFileSync(join(folder, 'requests', `${request.id}.json`), JSON.stringify(request));
    // Last: a folder without it is no submission.
    writeWhole(join(folder, 'submission.json'), `${JSON.stringify(submissionFile.parse(file), null, 1)}\n`);
    return new Submission(folder, file);
  }

  static open(folder: string): Submission {
    const parsed = submissionFile.safeParse(readJsonFile(join(folder, 'submission.json')));
    if (parsed.success) return new Submission(folder, parsed.data);
    throw new Error(`${join(folder, 'submission.json')} is damaged or of another version: ${z.prettifyError(parsed.error)}`);
  }

  /** The submissions of a folder, the newest first. */
  static list(parent: string): Submission[] {
    if (!existsSync(parent)) return [];
    const folders = readdirSync(parent).filter((name) => existsSync(join(parent, name, 'submission.json')));
    return folders.map((name) => Submission.open(join(parent, name))).sort((a, b) => b.file.createdAt - a.file.createdAt);
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  request(task: string): TaskRequest {
    return readRequest(this.folder, task);
  }

  journal(): JournalLine[] {
    return readLines(this.path('journal.jsonl'), journalLine);
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
        tasks: readFileSync(this.path('parts', `${number}.txt`), 'utf8')
          .trim()
          .split('\n'),
      };
    });
  }
}

export function readRequest(folder: string, task: string): TaskRequest {
  return taskRequest.parse(readJsonFile(join(folder, 'requests', `${taskId.parse(task)}.json`)));
}

export const taskNumber = (index: number): string => String(index).padStart(4, '0');

function readJsonFile(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Complete or not there at all. */
export function writeWhole(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.part`;
  const handle = openSync(temporary, 'w');
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}

/** Adds a line that has left this machine when the call returns. */
export function appendLine(file: string, line: Json): void {
  mkdirSync(dirname(file), { recursive: true });
  const handle = openSync(file, 'a');
  try {
    writeSync(handle, `${JSON.stringify(line)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The whole lines of a file; a last line that is still being written, and anything that is no such line, is left out. */
export function readLines<T>(file: string, schema: z.ZodType<T>): T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        const parsed = schema.safeParse(JSON.parse(text));
        return parsed.success ? [parsed.data] : [];
      } catch {
        return [];
      }
    });
}
