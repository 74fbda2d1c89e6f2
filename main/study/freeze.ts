// A study says beforehand what it will decide. When its first run starts its definition is frozen: its hash, the date and the whole of
// it are kept with the study, and whatever is changed later is listed in the report. Discussions are written after the results,
// so they do not count.

import { contentHash } from '../base/canonical.ts';
import { diffConfigs } from '../config/overrides.ts';
import type { StudyDefinition } from './definition.ts';
import type { StudyRecord } from './record.ts';

export type Frozen = NonNullable<StudyRecord['frozen']>;

/** The definition without its discussions, lists by the ids of their members, so that a change is named by what it changed. */
function binding({ arms, claims, discussion: _discussion, ...rest }: StudyDefinition) {
  const plain: Frozen['definition'] = JSON.parse(
    JSON.stringify({
      ...rest,
      arms: Object.fromEntries(arms.map(({ id, ...arm }) => [id, arm])),
      claims: Object.fromEntries(
        claims.map(({ id, discussion: _own, tests, ...claim }) => [id, { ...claim, tests: Object.fromEntries(tests.entries()) }]),
      ),
    }),
  );
  return plain;
}

export function freeze(definition: StudyDefinition, now: Date): Frozen {
  const plain = binding(definition);
  return { hash: contentHash(plain), date: now.toISOString(), definition: plain };
}

export interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What differs from the definition that was frozen. */
export function changesSince(frozen: Frozen, definition: StudyDefinition): Change[] {
  const now = binding(definition);
  if (contentHash(now) === frozen.hash) return [];
  return diffConfigs([frozen.definition, now]).map(({ key, values: [before, after] }) => ({ key, before, after }));
}
