// docs/configuration.md, docs/metrics.md and docs/PRESETS.md are made from the code. After a change: UPDATE_DOCS=1 with this test writes them anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { glossaryMarkdown } from '../../main/metrics/glossary-page.ts';
import { configMarkdown, describeConfig } from '../../main/config/describe.ts';
import { presetsMarkdown } from '../../main/config/presets-page.ts';
import { flatten } from '../../main/config/overrides.ts';
import { allPresets, parseConfig } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

for (const [file, page] of [
  ['configuration.md', configMarkdown(BUILT_IN)],
  ['metrics.md', glossaryMarkdown(BUILT_IN)],
  ['PRESETS.md', presetsMarkdown(BUILT_IN, allPresets())],
] as const) {
  test(`docs/${file} says what the code says`, () => {
    if (process.env.UPDATE_DOCS) writeFileSync(join(docs, file), page);
    expect(readFileSync(join(docs, file), 'utf8')).toBe(page);
  });
}

test('the list of knobs holds every setting of every variant with its default', () => {
  const groups = describeConfig(BUILT_IN);
  expect(groups.flatMap((group) => (group.variant === null ? [] : [group.variant]))).toEqual(builtInAlgorithms.map(({ id }) => id));
  for (const { id } of builtInAlgorithms) {
    const knobs = groups.flatMap((group) => group.knobs).filter((knob) => knob.variant === null || knob.variant === id);
    const listed = new Map<string, unknown>(knobs.map((knob) => [knob.key, knob.default]));
    const config = flatten(parseConfig({ algorithm: { id } }));
    config.delete('algorithm.id');
    config.set('world.settings', {});
    for (const key of config.keys()) if (key.startsWith('reference.imperfection.')) config.delete(key);
    config.set('reference.imperfection', {});
    expect(new Map([...listed].sort())).toEqual(new Map([...config].sort()));
  }
  const updates = groups.flatMap((group) => group.knobs).find((knob) => knob.key === 'training.updates');
  expect(updates).toMatchObject({ kind: 'whole number', unit: 'updates', default: 150, low: 1, high: 1_000_000 });
});
