// What a world says about itself when it is asked: its metadata, the schemas of its actions and observations, its state. Programs get the
// messages of these names; an OpenEnv server has pages for the first two. All are optional: null stands for no answer.

import type { Plain } from '../environment.ts';
import type { Reply } from './channel.ts';
import type { WorldManifest } from './manifest.ts';
import { parseLine, type Request } from './messages.ts';

export interface SelfDescription {
  readonly metadata: Plain;
  readonly schema: Plain;
  readonly state: Plain;
}

const PAGE_MS = 5000;

export async function describeItself(world: WorldManifest, ask: (request: Request) => Reply): Promise<SelfDescription> {
  let silent = false;
  const said = (type: string): Plain => {
    const reply: Reply = silent ? { failed: 'exit', detail: '' } : ask({ type, data: {} });
    // Whoever does not answer one of them is not asked for the next: each would take as long as the world may be silent.
    silent ||= 'failed' in reply;
    if ('failed' in reply) return null;
    const message = parseLine(reply.line, world);
    return message.type === type ? asPlain(message.data) : null;
  };
  if (world.url === undefined) return { metadata: said('metadata'), schema: said('schema'), state: said('state') };
  const page = async (name: string): Promise<Plain> => {
    const address = new URL((world.url ?? '').replace(/^ws/, 'http'));
    address.pathname = address.pathname.replace(/[^/]*$/, name);
    try {
      const answer = await fetch(address, { signal: AbortSignal.timeout(PAGE_MS), redirect: 'error' });
      return answer.ok ? asPlain(await answer.json()) : null;
    } catch {
      return null; // the page is optional
    }
  };
  return { metadata: await page('metadata'), schema: await page('schema'), state: said('state') };
}

/** It came out of JSON. */
const asPlain = (value: unknown): Plain => (value === undefined ? null : (value as Plain));

/** What the schema of a world lacks of the fields that its world.json names; null where nothing is wrong or there is no schema. */
export function schemaProblem({ schema }: SelfDescription, { action, observation }: WorldManifest): string | null {
  for (const [part, field] of [
    ['action', action],
    ['observation', observation],
  ] as const) {
    const fields = at(at(schema, part), 'properties');
    if (typeof fields === 'object' && fields !== null && !(field in fields))
      return `its schema has no field "${field}" in the ${part} (there are ${Object.keys(fields).join(', ') || 'none'}): correct "${part}" in world.json`;
  }
  return null;
}

const at = (value: Plain, key: string): Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? ((value as { readonly [name: string]: Plain })[key] ?? null)
    : null;
