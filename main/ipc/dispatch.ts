// The border's guard: one function through which every call of the page goes. It checks who asks, parses what is asked
// against the contract, runs the handler, parses the answer, and turns whatever goes wrong into data. It uses
// nothing of Electron, so the guard itself is tested without a window.

import { z } from 'zod';
import { calls } from '../../preload/contract.ts';
import type { CallDefinition } from '../../preload/contract/definition.ts';
import type { CallName, Failure, Outcome } from '../../preload/contract.ts';
import { isTrusted } from './origin.ts';

/** Who asks: the page's address. */
export interface Caller {
  readonly url: string;
}

/** One function per call of a feature; the compiler asks for every one that the contract lists. */
export type Handlers<D extends Record<string, CallDefinition>> = {
  readonly [N in keyof D]: (input: z.output<D[N]['input']>, caller: Caller) => z.input<D[N]['answer']> | Promise<z.input<D[N]['answer']>>;
};

/** An error that a handler means for the user: what happened and what to do. */
export class CallFailure extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint = '') {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The handlers, or how to get those of one call: a feature's code is loaded when it is first asked for. */
export type Source = Partial<Handlers<typeof calls>> | ((name: CallName) => Promise<Partial<Handlers<typeof calls>>>);

export async function dispatch(source: Source, caller: Caller | null, name: unknown, input: unknown): Promise<Outcome<unknown>> {
  try {
    if (!caller || !isTrusted(caller.url)) {
      throw new CallFailure('forbidden', `A call from ${caller?.url ?? 'a frame that is gone'} was refused: only the lab's page may ask`);
    }
    if (!isCallName(name)) throw new CallFailure('unknown-call', `There is no call named ${JSON.stringify(name)}`);
    const parsed = calls[name].input.safeParse(input);
    if (!parsed.success) {
      throw new CallFailure('invalid-input', `${name} was given something else than expected: ${explain(parsed.error)}`);
    }
    const handlers = typeof source === 'function' ? await source(name) : source;
    const handler: ((input: never, caller: Caller) => unknown) | undefined = handlers[name];
    if (!handler) throw new CallFailure('unknown-call', `Nobody answers the call ${name} here`);
    const answer: unknown = await Reflect.apply(handler, undefined, [parsed.data, caller]);
    return { ok: true, value: calls[name].answer.parse(answer) };
  } catch (error) {
    return { ok: false, error: asFailure(error) };
  }
}

function isCallName(name: unknown): name is CallName {
  return typeof name === 'string' && Object.hasOwn(calls, name);
}

/** Errors that carry a code and a hint keep them, whoever threw them; anything else is our mistake and says so. */
export function asFailure(error: unknown): Failure {
  if (error instanceof z.ZodError) {
    console.error(error);
    return {
      code: 'internal',
      message: `An answer did not fit the contract: ${explain(error)}`,
      hint: 'This is a fault in the lab; please report it with the copied details.',
    };
  }
  if (error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : 'internal';
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : '';
    if (code === 'internal') console.error(error);
    return { code, message: error.message, hint };
  }
  return { code: 'internal', message: String(error), hint: '' };
}

function explain(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ');
}
