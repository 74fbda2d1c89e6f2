// The pages of the algorithms name every knob with its default and every metric, so that they cannot fall behind the code.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { Graph } from '../../main/engine/graph/graph.ts';
import { mul, reduceSum } from '../../main/engine/graph/operators.ts';
import { shortEpisode } from './batch.ts';
import { algorithmOf } from '../catalog.ts';

for (const { id, settings } of builtInAlgorithms) {
  test(`docs/algorithms/${id}.md names every knob with its default and every metric`, () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'algorithms', `${id}.md`), 'utf8');
    for (const [knob, value] of Object.entries(settings.parse({}))) {
      const shown = value === true ? 'on' : value === false ? 'off' : String(value);
      expect(page).toContain(`| \`${knob}\` | ${shown} |`);
    }
    const algorithm = algorithmOf({ id });
    const episodes = [shortEpisode('t', true, 0.5, [-1]), shortEpisode('t', false, 0.5, [-1])];
    const prepared = algorithm.prepare(episodes, { update: 0, updates: 1, reward: 'binary' });
    const graph = new Graph();
    const tensor = (name: string, shape: number[]) => graph.inputs.get(name) ?? graph.input(name, 'float32', shape);
    const weights = tensor('weights', [2, 1]);
    const { metrics } = algorithm.loss(
      graph,
      {
        logProbs: tensor('logProbs', [2, 1]),
        entropies: tensor('entropies', [2, 1]),
        values: tensor('values', [2, 1]),
        weights,
        perEpisode: (x) => reduceSum(mul(x, weights), [1]),
        tokenMean: (x) => reduceSum(x),
        episodeMean: (x) => reduceSum(x),
      },
      (name, per) => tensor(`${per}.${name}`, per === 'episode' ? [2] : [2, 1]),
    );
    for (const name of [...Object.keys(metrics), ...Object.keys(prepared.metrics), ...Object.keys(prepared.distributions)]) {
      expect(page, name).toContain(`\`${name}\``);
    }
    for (const heading of ['## Settings', '## Metrics', '## Implementation details', '## Where it departs from its source'])
      expect(page).toContain(heading);
  });
}
