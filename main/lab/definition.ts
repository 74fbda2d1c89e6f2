// What a feature is: its calls (a schema for input and answer), its events (a schema for the payload) and the handlers of its calls, all in
// one file of features/. And the few shapes that several features share.

import { z } from 'zod';
import type { Store } from '../store/store.ts';
import type { Lab } from './lab.ts';

export interface CallDefinition {
  readonly input: z.ZodType;
  readonly answer: z.ZodType;
}

/** One function per call of a feature; the compiler asks for every one. */
export type Handlers<D extends Record<string, CallDefinition>> = {
  readonly [N in keyof D]: (input: z.output<D[N]['input']>) => z.input<D[N]['answer']> | Promise<z.input<D[N]['answer']>>;
};

/** How far a read is, from 0 to 1, and what comes next. */
export type Progress = (share: number, what: string) => void;

/**
 * What takes long and only reads: functions of a read-only store and plain data, run in a reader's thread (readers.ts). One that has the name
 * of a call answers it.
 */
export type Reads<D extends Record<string, CallDefinition>> = {
  readonly [N in keyof D]?: (
    store: Store,
    input: z.output<D[N]['input']>,
    progress: Progress,
  ) => z.input<D[N]['answer']> | Promise<z.input<D[N]['answer']>>;
};

/** A file of features/ as the lab loads it. */
export interface Feature {
  readonly calls: Readonly<Record<string, CallDefinition>>;
  readonly events?: Readonly<Record<string, z.ZodType>>;
  readonly reads?: Readonly<Record<string, (store: Store, input: never, progress: Progress) => unknown>>;
  readonly handlers: (lab: Lab) => Readonly<Record<string, (input: never) => unknown>>;
}

/** A call that needs no input takes an empty object, so that every call has the same form. */
export const nothing = z.strictObject({});

/** Stable and short, for programs: nothing is told from a message's words. */
export const failureCodes = [
  'bad-model',
  'bad-plugin',
  'busy-export',
  'busy-import',
  'busy-models',
  'busy-probe',
  'busy-run',
  'cancelled',
  'changed',
  'dry-run',
  'forbidden',
  'internal',
  'invalid-cluster',
  'invalid-config',
  'invalid-input',
  'invalid-settings',
  'job-failed',
  'lab-stopped',
  'name-taken',
  'no-checkpoint',
  'no-data',
  'no-file-manager',
  'no-game',
  'no-import',
  'no-study',
  'not-allowed',
  'not-astrolab',
  'not-found',
  'not-possible',
  'run-locked',
  'store',
  'study-running',
  'unknown-call',
  'worker-crashed',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** An error as it crosses to the window: data, never a stack. */
export interface Failure {
  readonly code: FailureCode;
  /** What happened, for people. */
  readonly message: string;
  /** What to do about it; empty when there is nothing to do. */
  readonly hint: string;
}

/** Every answer is one of these two. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure };

/** An error that a handler means for the user: what happened and what to do. */
export class CallFailure extends Error implements Failure {
  readonly code: FailureCode;
  readonly hint: string;

  constructor(code: FailureCode, message: string, hint = '') {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
