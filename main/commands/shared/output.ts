// What every command shares: how it answers and how it fails. With --json exactly one JSON document goes to stdout and
// everything else to stderr; without it people get text. Exit codes: 0 done, 1 the work failed, 2 the call was wrong, and for a
// run that did not reach its end (EXIT): 3 paused, 4 stopped or interrupted.

import type { Catalog } from '../../config/catalog.ts';
import { terminal } from '../../base/format.ts';
import { defaultDataFolder } from '../../base/paths.ts';
import type { RunState } from '../../base/vocabulary.ts';

/** The call itself was wrong: an unknown run, a value out of range, a file that is not there. Ends with exit code 2. */
export class CallError extends Error {
  readonly code = 'wrong-call';
  readonly hint: string;

  constructor(message: string, hint = 'npm run lab -- help lists the commands; every command explains itself with --help') {
    super(message);
    this.hint = hint;
  }
}

/** How a command ends whose run has not reached its end; `lab resume` continues it. */
const EXIT: Readonly<Record<RunState, number>> = {
  done: 0,
  failed: 1,
  paused: 3,
  stopped: 4,
  interrupted: 4,
  stopping: 4,
  queued: 4,
  running: 4,
};

/** The exit code is the outcome of the run. */
export function exitWith(run: RunState): void {
  process.exitCode = EXIT[run];
}

const state = { json: false, data: '', outputTaken: false, catalog: null as Catalog | null };

/** Called once by run.ts before a command runs. */
export function chooseOutput(options: { json: boolean; data?: string | undefined }): void {
  state.json = options.json;
  state.data = options.data ?? '';
  // Whatever a library prints must not mix with the document.
  if (options.json) for (const method of ['log', 'info', 'debug'] as const) console[method] = console.error;
}

/** The catalog with plug-ins for the commands of this call (shared/catalog.ts); null where there are none. */
export function chooseCatalog(catalog: Catalog | null): void {
  state.catalog = catalog;
}

export const loadedCatalog = (): Catalog | null => state.catalog;

export function wantsJson(): boolean {
  return state.json;
}

/** Whether standard output holds what the command makes; its answer is a remark then. */
export function answerBesideOutput(beside: boolean): void {
  state.outputTaken = beside;
}

/** The folder that --data names, else the one the window uses. */
export function dataFolder(): string {
  return state.data || defaultDataFolder();
}

/** JSON whose texts cannot steer a terminal: `JSON.stringify` leaves DEL, the C1 controls and turned directions as they are. */
function document(json: unknown): string {
  const text = JSON.stringify(json, null, 2);
  return text.replace(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The command's answer: `json` as one document with --json, else `text`. Called exactly once by a command that succeeds. */
export function answer(json: unknown, text: string): void {
  if (state.outputTaken) return note(text);
  process.stdout.write(`${state.json ? document(json) : terminal(text)}\n`);
}

/** Progress and remarks: for people, never part of the answer. */
export function note(text: string): void {
  process.stderr.write(`${terminal(text)}\n`);
}

/** A remark while a line of progress is rewritten in place. */
export function noteLine(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${terminal(text)}\n` : `${terminal(text)}\n`);
}

/** What the operating system says of a file, as a sentence with what to do. */
const FILE_FAULTS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `There is no file or folder ${path}. Check the name.`,
  EISDIR: (path) => `${path} is a folder; a file is expected there. Name a file in it.`,
  ENOTDIR: (path) => `${path} cannot be reached: a part of the path is a file where a folder is expected.`,
  EEXIST: (path) => `${path} is there already and is no folder. Choose another name.`,
  EACCES: (path) => `${path} may not be read or written by this user. Change its permissions or choose another place.`,
  EPERM: (path) => `${path} may not be changed by this user. Change its permissions or choose another place.`,
  EROFS: (path) => `${path} lies on a read-only disk. Choose another place.`,
  EPIPE: (path) => `Whoever read ${path} ended before everything was written.`,
  ENOSPC: (path) => `The disk of ${path} is full. Free some space and try again.`,
};

export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const told = 'code' in error ? FILE_FAULTS[String(error.code)] : undefined;
  if (!told || !('path' in error) || typeof error.path !== 'string') return error.message;
  // A rename names both ends; the target is the one that was asked for.
  return told('dest' in error && typeof error.dest === 'string' ? error.dest : error.path);
}

/** Prints what went wrong and returns the exit code. */
export function fail(error: unknown): number {
  const wrongCall = error instanceof CallError;
  const message = inWords(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
  const hint = error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? error.hint : '';
  if (state.json) process.stdout.write(`${document({ error: { code, message, hint } })}\n`);
  else note(hint ? `${message}\n${hint}` : message);
  // A failure without an error code is a fault in the lab: whoever reports it needs the place.
  if (!wrongCall && code === 'failed' && process.env.ASTROLAB_TRACE && error instanceof Error) note(error.stack ?? '');
  return wrongCall ? 2 : 1;
}
