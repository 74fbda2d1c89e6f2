// What the attempts of all tasks have said so far, read from their growing files. Only what was added since the last look is read, and of
// a file met for the first time only its beginning and its end, so that a look at a thousand tasks takes a fraction of a second.

import { closeSync, existsSync, fstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AttemptName, attemptOf, openRegularFile, type ProgressLine, readAt, readProgressLine } from './incoming.ts';

/** One attempt, in the words of its file. */
export interface AttemptNews {
  readonly task: string;
  readonly label: string;
  /** The array that it belongs to; empty before its first line is there. */
  readonly job: string;
  readonly node: string;
  readonly processor: string;
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly success: number | null;
  /** The newest update that a later attempt can continue from. */
  readonly saved: number | null;
  /** The last word, if it was one. */
  readonly end: Extract<ProgressLine, { is: 'done' | 'failed' | 'stopped' }> | null;
  /** When it last said anything, by the node's clock. */
  readonly at: number;
}

const EDGE_BYTES = 8192;

export class ProgressReader {
  readonly #folder: string;
  readonly #known = new Map<string, { news: AttemptNews; offset: number }>();

  constructor(submissionFolder: string) {
    this.#folder = join(submissionFolder, 'progress');
  }

  /** The attempts of every task that has any, oldest first. */
  read(): Map<string, AttemptNews[]> {
    const names = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    for (const name of names) this.#look(name);
    const byTask = Map.groupBy(
      [...this.#known.values()].map(({ news }) => news),
      ({ task }) => task,
    );
    for (const attempts of byTask.values()) attempts.sort((a, b) => order(a.label) - order(b.label));
    return byTask;
  }

  /** Whether it is known already, without a look, that all of these tasks have left their results. */
  allDone(tasks: ReadonlySet<string>): boolean {
    const done = [...this.#known.values()].flatMap(({ news: { task, end } }) => (end?.is === 'done' && tasks.has(task) ? [task] : []));
    return tasks.size > 0 && new Set(done).size === tasks.size;
  }

  /** Whether the attempt of this file has left a result, so that it says no more. */
  isDone(name: string): boolean {
    return this.#known.get(name)?.news.end?.is === 'done';
  }

  #look(name: string): void {
    const attempt = attemptOf(name);
    if (attempt === undefined || this.isDone(name)) return;
    const handle = openRegularFile(join(this.#folder, name));
    if (handle === null) return;
    try {
      const { size } = fstatSync(handle);
      const known = this.#known.get(name);
      // A file of ours only grows; another one is read anew.
      const before = known && known.offset <= size ? known : undefined;
      const from = before?.offset ?? 0;
      if (size === from) return;
      const whole = size - from <= 2 * EDGE_BYTES;
      const begin = before || whole ? '' : read(handle, 0, EDGE_BYTES).replace(/[^\n]*$/, '');
      const rest = whole ? read(handle, from, size - from) : read(handle, size - EDGE_BYTES, EDGE_BYTES).replace(/^[^\n]*\n/, '');
      const unfinished = rest.length - (rest.lastIndexOf('\n') + 1);
      const news = [...lines(begin, attempt), ...lines(rest, attempt)].reduce(tell, before?.news ?? silence(attempt));
      this.#known.set(name, { news, offset: size - Buffer.byteLength(rest.slice(rest.length - unfinished)) });
    } finally {
      closeSync(handle);
    }
  }
}

const read = (handle: number, offset: number, length: number): string => readAt(handle, offset, length).toString('utf8');

const PROGRESS = '{"is":"progress"';

/** The whole lines; of those that say how far it is, only the newest, because it alone counts and there may be thousands. */
function lines(text: string, attempt: AttemptName): ProgressLine[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  const newest = whole.findLastIndex((line) => line.startsWith(PROGRESS));
  return whole.flatMap((line, at) => {
    if (at !== newest && line.startsWith(PROGRESS)) return [];
    return readProgressLine(line, attempt) ?? [];
  });
}

const silence = ({ task, label }: AttemptName): AttemptNews => {
  return { task, label, job: '', node: '', processor: '', phase: '', done: 0, total: 0, success: null, saved: null, end: null, at: 0 };
};

function tell(news: AttemptNews, line: ProgressLine): AttemptNews {
  const { at } = line;
  switch (line.is) {
    case 'started':
      return { ...news, at, job: line.job, node: line.node, processor: line.processor };
    case 'progress':
      return { ...news, at, phase: line.phase, done: line.done, total: line.total, success: line.success ?? news.success };
    case 'saved':
      return { ...news, at, saved: line.update };
    default:
      return { ...news, at, end: line };
  }
}

/** By job, then by restart. */
function order(label: string): number {
  const [job = '', restart = ''] = label.split('-');
  return Number(job.replace(/^p/, '')) * 1000 + Number(restart);
}
