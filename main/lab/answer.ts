// The lab's door: one function through which every call goes. It parses what is asked against the feature's schema, runs the handler, parses
// the answer, and turns whatever goes wrong into data. Who may ask at all is checked before (main/shell/bridge.ts).

import { z } from 'zod';
import { CallFailure, type Failure, failureCodes, type Feature, type Outcome } from './definition.ts';

/** A feature with its handlers; undefined for a name that no feature has. */
export type Source = (feature: string) => Promise<(Pick<Feature, 'calls'> & { handlers: ReturnType<Feature['handlers']> }) | undefined>;

export async function answer(source: Source, name: unknown, input: unknown): Promise<Outcome<unknown>> {
  try {
    const feature = typeof name === 'string' ? await source(name.split('.')[0] ?? '') : undefined;
    if (typeof name !== 'string' || !feature || !Object.hasOwn(feature.calls, name)) {
      throw new CallFailure('unknown-call', `There is no call named ${JSON.stringify(name)}`);
    }
    const { calls, handlers } = feature;
    const parsed = calls[name]?.input.safeParse(input);
    if (!parsed?.success) {
      throw new CallFailure('invalid-input', `${name} was given something else than expected: ${explain(parsed?.error)}`);
    }
    const handler = handlers[name];
    if (!handler) throw new CallFailure('unknown-call', `Nobody answers the call ${name} here`);
    const answered: unknown = await Reflect.apply(handler, undefined, [parsed.data]);
    return { ok: true, value: calls[name]?.answer.parse(answered) };
  } catch (error) {
    return { ok: false, error: asFailure(error) };
  }
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
    const found = 'code' in error ? failureCodes.find((code) => code === error.code) : undefined;
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : '';
    if (!found || found === 'internal') console.error(error);
    return { code: found ?? 'internal', message: error.message, hint };
  }
  return { code: 'internal', message: String(error), hint: '' };
}

function explain(error: z.ZodError | undefined): string {
  return (error?.issues ?? []).map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ');
}
