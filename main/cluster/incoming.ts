// Everything that comes from a cluster passes here: names of files, the contents of a submission's folder, what the scheduler's commands print.
// Whoever can write into the shared folder, and the login node itself, may put anything there. So every field has a closed form, every file is a
// regular one of bounded size, and text is one bounded line without control characters. What does not fit is refused, or left out where a
// half-written file would look the same.

import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { oneLine } from '../base/format.ts';
import { ClusterError, clusterSettings } from './clusters.ts';
import { modelPlace } from './models.ts';

const MEGABYTE = 1024 ** 2;
/** More than any file of ours has, by what it is. */
export const MOST_BYTES = {
  submission: 64 * MEGABYTE,
  request: 16 * MEGABYTE,
  journal: 16 * MEGABYTE,
  part: MEGABYTE,
  seen: 1000,
  progress: 64 * MEGABYTE,
  shared: 4096 * MEGABYTE,
  result: 16_384 * MEGABYTE,
} as const;

/** Part of a submission is not as a lab or a task of ours left it. The others are not affected. */
export class DamagedSubmission extends ClusterError {
  override name = 'DamagedSubmission';

  constructor(what: string, hint = 'If no task of it runs any more, delete its folder; other submissions are not affected') {
    super(what, hint);
  }
}

/** Text for people: one line, bounded, that cannot steer a terminal. */
export const plainText = (text: string, most = 2000): string => {
  const plain = oneLine(text).trim();
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
};

const text = (most?: number) => z.string().transform((value) => plainText(value, most));
const time = z.int().min(0).max(253_402_300_799_999);
const update = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Of one submission. */
const MOST_TASKS = 100_000;
/** Slurm's largest. */
const LARGEST_INDEX = 4_000_000;

// What things are called.

const SUBMISSION = '[a-z0-9][a-z0-9-]{0,79}';
const TASK = '(?:\\d{4,6}|s\\d{1,4})';
/** Job and restart count; a task that Slurm did not start has its process in place of the job. */
const LABEL = 'p?\\d{1,20}-\\d{1,9}';
const NUMBER = '\\d{1,6}';

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const ID = whole(SUBMISSION);

const submissionId = z.string().regex(ID);
/** `0007` or `s0`, as it stands in a part's list and in file names. */
export const taskId = z.string().regex(whole(TASK));
export const jobNumber = z.string().regex(/^\d{1,20}$/);

/** Every file that is ever asked of a cluster, relative to the folder of submissions. */
const FILE = whole(
  `(?:${SUBMISSION})/(?:${[
    'submission\\.json',
    'journal\\.jsonl',
    `parts/${NUMBER}\\.(?:txt|sh)`,
    `seen/astrolab-${SUBMISSION}-${NUMBER}`,
    `progress/${TASK}\\.${LABEL}\\.jsonl`,
    `results/${TASK}\\.${LABEL}\\.(?:astrolab|shared|txt)`,
    `shared/${TASK}\\.(?:shared|known)`,
    `logs/${NUMBER}-\\d{1,7}\\.txt`,
  ].join('|')})`,
);
const FOLDER = whole(`${SUBMISSION}(?:/(?:parts|seen|progress|results|shared|logs))?`);

export const isSubmission = (name: string): boolean => ID.test(name);
export const isClusterFile = (name: string): boolean => FILE.test(name);
export const isClusterFolder = (name: string): boolean => FOLDER.test(name);

/** The submissions among what a listing of their folder printed. */
export const submissionsIn = (listing: string): string[] =>
  listing.split('\n').flatMap((line) => (line.startsWith('./') && isSubmission(line.slice(2)) ? [line.slice(2)] : []));

/** The files of ours among what a listing of a submission's folder printed. */
export const filesIn = (listing: string, folder: string): string[] =>
  listing.split('\n').filter((line) => line.startsWith(`${folder}/`) && isClusterFile(line));

/** The array of a part, as the scheduler calls it. */
export const jobName = (submission: string, part: number): string => `astrolab-${submission}-${part}`;

export interface AttemptName {
  readonly task: string;
  readonly label: string;
}

const PROGRESS_NAME = new RegExp(`^(${TASK})\\.(${LABEL})\\.jsonl$`);

/** Whose progress a file holds; undefined where its name is none of ours. */
export function attemptOf(file: string): AttemptName | undefined {
  const [, task, label] = PROGRESS_NAME.exec(file) ?? [];
  return task === undefined || label === undefined ? undefined : { task, label };
}

/** What an attempt may call its result: the run, the answer of a test job, or what tasks share. */
export const resultNames = ({ task, label }: AttemptName): { run: string; test: string; shared: string } => {
  return { run: `${task}.${label}.astrolab`, test: `${task}.${label}.txt`, shared: `${task}.shared` };
};

// What is in a submission's folder.

const code = z.object({ version: z.string().max(100), source: z.string().max(100) });
export type CodeIdentity = z.infer<typeof code>;

const taskSummary = z.object({
  id: taskId,
  uid: z.uuid(),
  name: text(),
  seed: z.int(),
  planned: update,
  /** Of the run (config/identity.ts), as the version in `code` computes it. */
  identity: z.string().max(200),
  /** The shared files it waits for. */
  shared: taskId.nullable(),
});

const different = (list: readonly string[]): boolean => new Set(list).size === list.length;

export const submissionFile = z.object({
  astrolab: z.literal('submission'),
  id: submissionId,
  title: text(),
  study: text().nullable(),
  createdAt: time,
  cluster: clusterSettings,
  code,
  tasks: z
    .array(taskSummary)
    .max(MOST_TASKS)
    .refine((tasks) => different(tasks.map(({ id }) => id)), 'two tasks have one number'),
  /** Tasks that make what others share, in the first part. */
  sharers: z.array(taskId).max(MOST_TASKS).refine(different, 'two tasks have one number'),
});
export type SubmissionFile = z.infer<typeof submissionFile>;

/** What a node reads to do one task. */
const taskRequest = z.object({
  astrolab: z.literal('task'),
  id: taskId,
  code,
  scratch: clusterSettings.shape.scratch,
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

const part = z.int().min(0).max(999_999);
const journalLine = z.discriminatedUnion('is', [
  /** Written before sbatch: from now on a job of this name may exist. */
  z.object({ is: z.literal('intent'), at: time, part, name: z.string(), tasks: z.int() }),
  z.object({ is: z.literal('submitted'), at: time, part, job: jobNumber }),
  /** The scheduler answered that it does not take it: no job of that name exists. */
  z.object({ is: z.literal('refused'), at: time, part, reason: text() }),
  z.object({ is: z.literal('cancelled'), at: time, tasks: z.array(taskId).max(MOST_TASKS) }),
]);
export type JournalLine = z.infer<typeof journalLine>;

export const progressLine = z.discriminatedUnion('is', [
  z.object({ is: z.literal('started'), at: time, job: z.string().regex(/^p?\d{1,20}$/), node: text(200), processor: text(200) }),
  z.object({
    is: z.literal('progress'),
    at: time,
    phase: text(100),
    done: z.number().min(0),
    total: z.number().min(0),
    success: z.number().min(0).max(1).nullable(),
  }),
  /** A checkpoint that another attempt can continue from. */
  z.object({ is: z.literal('saved'), at: time, update }),
  /** Ended because it was asked to, after saving. */
  z.object({ is: z.literal('stopped'), at: time, update }),
  z.object({ is: z.literal('failed'), at: time, reason: text() }),
  z.object({
    is: z.literal('done'),
    at: time,
    file: z.string().max(1000),
    sha256,
    bytes: z.int().min(0).max(MOST_BYTES.result),
    updates: update,
  }),
]);
export type ProgressLine = z.infer<typeof progressLine>;

/** The line of an attempt, if it is one. A result under any name but the attempt's own is its failure, and is never looked for. */
export function readProgressLine(line: string, attempt: AttemptName): ProgressLine | undefined {
  const json = jsonOf(line);
  const parsed = progressLine.safeParse(json);
  if (!parsed.success) {
    const end = z.object({ is: z.literal('done') }).safeParse(json);
    return end.success ? { is: 'failed', at: 0, reason: `Its last line does not fit: ${issueOf(parsed.error)}` } : undefined;
  }
  if (parsed.data.is !== 'done') return parsed.data;
  const { at, file } = parsed.data;
  const names = resultNames(attempt);
  if ((attempt.task.startsWith('s') ? [names.shared, names.test] : [names.run, names.test]).includes(file)) return parsed.data;
  const expected = attempt.task.startsWith('s') ? names.shared : names.run;
  return { is: 'failed', at, reason: `It names the result ${JSON.stringify(plainText(file, 200))}, but ${expected} was expected` };
}

// Reading it.

/** A file that is as it should be, or null where there is none. Pipes, devices, folders and links are never opened for reading. */
export function readRegularFile(file: string, most: number): Buffer | null {
  const handle = openRegularFile(file);
  if (handle === null) return null;
  try {
    const { size } = fstatSync(handle);
    if (size > most) throw new DamagedSubmission(`${file} has ${size} bytes, more than the ${most} that one of ours may have`);
    return readAt(handle, 0, size);
  } finally {
    closeSync(handle);
  }
}

/** The size and hash of a regular file, which may be larger than memory; null where there is none. */
export function hashRegularFile(file: string): { sha256: string; bytes: number } | null {
  const handle = openRegularFile(file);
  if (handle === null) return null;
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for (let data = readAt(handle, 0, MEGABYTE); data.length > 0; data = readAt(handle, bytes, MEGABYTE)) {
      hash.update(data);
      bytes += data.length;
    }
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    closeSync(handle);
  }
}

/** The handle of a regular file, or null where there is none. */
export function openRegularFile(file: string): number | null {
  const handle = opened(file);
  if (handle !== null && fstatSync(handle).isFile()) return handle;
  if (handle === null) return null;
  closeSync(handle);
  throw new DamagedSubmission(`${file} is not a regular file`);
}

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Without waiting for the other end of a pipe, and not through a link. */
function opened(file: string): number | null {
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const fault = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (fault === 'ENOENT') return null;
    if (['ELOOP', 'EMLINK', 'ENXIO', 'ENOTDIR'].includes(fault)) throw new DamagedSubmission(`${file} is not a regular file`);
    throw new DamagedSubmission(`${file} cannot be read: ${fault || String(error)}`);
  }
}

/** What is there, which may be less than was asked for. */
export function readAt(handle: number, offset: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let at = 0;
  while (at < length) {
    const read = readSync(handle, buffer, at, length - at, offset + at);
    if (read === 0) break;
    at += read;
  }
  return buffer.subarray(0, at);
}

/** Throws `DamagedSubmission` with the reason where the folder's description is not one, or is that of another folder. */
export function readSubmissionFile(folder: string): SubmissionFile {
  const file = join(folder, 'submission.json');
  const parsed = submissionFile.safeParse(readJson(file, MOST_BYTES.submission));
  if (!parsed.success) throw new DamagedSubmission(`${file} is damaged or of another version: ${issueOf(parsed.error)}`);
  const { id } = parsed.data;
  if (id === basename(folder)) return parsed.data;
  throw new DamagedSubmission(`${file} calls itself ${id}, which is not the name of its folder`);
}

export function readRequest(folder: string, task: string): TaskRequest {
  return taskRequest.parse(readJson(join(folder, 'requests', `${taskId.parse(task)}.json`), MOST_BYTES.request));
}

/** The whole lines of a submission's journal that name its arrays by their names; a last line that is still being written is left out. */
export function readJournal(folder: string, submission: string): JournalLine[] {
  const lines = (readRegularFile(join(folder, 'journal.jsonl'), MOST_BYTES.journal)?.toString('utf8') ?? '').split('\n');
  return lines.flatMap((line) => {
    const { data } = journalLine.safeParse(jsonOf(line));
    return !data || (data.is === 'intent' && data.name !== jobName(submission, data.part)) ? [] : [data];
  });
}

/** The tasks of an array, by their index in it. */
export function readPart(folder: string, number: number): string[] {
  const file = join(folder, 'parts', `${number}.txt`);
  const found = readRegularFile(file, MOST_BYTES.part)?.toString('utf8').trim().split('\n');
  if (found?.every((task) => taskId.safeParse(task).success)) return found;
  throw new DamagedSubmission(`${file} ${found ? 'has lines that are no tasks' : 'is missing'}, so nobody knows which tasks its array has`);
}

/** The job that wrote the name of an array when it began. */
export function readSeen(folder: string, name: string): string | undefined {
  const found = readRegularFile(join(folder, 'seen', name), MOST_BYTES.seen)
    ?.toString('utf8')
    .trim();
  return jobNumber.safeParse(found).data;
}

function readJson(file: string, most: number): unknown {
  const data = readRegularFile(file, most);
  if (data === null) throw new DamagedSubmission(`There is no ${file}`);
  const json = jsonOf(data.toString('utf8'));
  if (json === undefined) throw new DamagedSubmission(`${file} is not JSON`);
  return json;
}

/** Undefined where it is none. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return plainText(`${issue?.path.join('.') || 'its top'}: ${issue?.message ?? 'it does not fit'}`, 300);
}

// What the scheduler's commands print.

/** One task of a job array, as the scheduler knows it. */
export interface JobRecord {
  readonly name: string;
  readonly job: string;
  readonly index: number;
  /** Slurm's word: PENDING, RUNNING, NODE_FAIL … */
  readonly state: string;
  readonly reason: string;
  readonly node: string;
}

const jobRecord = z.object({
  name: z.string().max(200),
  job: jobNumber,
  index: z.int().min(0).max(LARGEST_INDEX),
  state: z.string().regex(/^[A-Z_]{1,40}$/),
  reason: text(500),
  node: text(200),
});

/** None where a field is not as Slurm prints it. */
export function jobRecords(fields: Readonly<Record<keyof JobRecord, string | number>>): JobRecord[] {
  const { data } = jobRecord.safeParse(fields);
  return data ? [data] : [];
}

/** Indices of an array as `3-9,12%4`; no more of them than a submission has tasks. */
export function arrayIndices(list: string): number[] {
  const found: number[] = [];
  for (const range of list.replace(/%\d+$/, '').split(',')) {
    const [, first = '', last = first] = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(range) ?? [];
    if (first === '') continue;
    for (let index = Number(first); index <= Number(last) && found.length < MOST_TASKS; index++) found.push(index);
  }
  return found;
}
