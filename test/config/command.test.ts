// The command that the window shows makes exactly the runs that Start would make: it is taken apart as a shell would and applied.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { presetBase, trainCommands } from '../../main/config/command.ts';
import { checkOrder } from '../../main/config/orders.ts';
import { applyOverrides, loadPreset } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

/** The words of a line as the shell hands them over. */
const words = (line: string): string[] =>
  execFileSync('sh', ['-c', `npm() { printf '%s\\n' "$@"; }; ${line}`], { encoding: 'utf8' })
    .trim()
    .split('\n');

function made(line: string) {
  const parts = words(line);
  const after = (flag: string): string[] => parts.flatMap((part, index) => (parts[index - 1] === flag ? [part] : []));
  const [preset = ''] = after('--preset');
  const changes = [...after('--set'), ...after('--name').map((name) => `name=${name}`), ...after('--seed').map((seed) => `seed=${seed}`)];
  return { config: applyOverrides(loadPreset(preset).config, changes), tags: after('--tag') };
}

test('a sweep with tags becomes one command per combination, which makes the same configs', () => {
  const config = applyOverrides(loadPreset('shop-tiny').config, ["name=it's a try", 'training.updates=7']);
  const { runs } = checkOrder(BUILT_IN, { config, seeds: '3', sweep: [{ key: 'training.learningRate', values: '0.001, 0.003' }] });
  const command = trainCommands(BUILT_IN, runs, presetBase(BUILT_IN, 'shop-tiny'), ['pilot', 'two words']) ?? '';
  const lines = command.split('\n').map(made);
  expect(lines.map((line) => line.config)).toEqual(runs);
  expect(lines.map(({ tags }) => tags)).toEqual([
    ['pilot', 'two words'],
    ['pilot', 'two words'],
  ]);
});

test('another algorithm and another world come with their settings', () => {
  const config = applyOverrides(loadPreset('shop-tiny').config, ['algorithm.id=grpo', 'algorithm.clipHigh=0.3']);
  const { runs } = checkOrder(BUILT_IN, { config, seeds: '1-2', sweep: [] });
  const command = trainCommands(BUILT_IN, runs, presetBase(BUILT_IN, 'shop-tiny')) ?? '';
  expect(command).toMatch(/^for seed in 1 2; do .*--set algorithm\.id=grpo --set algorithm\.clipHigh=0\.3 --seed \$seed; done$/);
});

test('what no command can make gets none', () => {
  const { config } = loadPreset('shop-tiny');
  expect(trainCommands(BUILT_IN, [config], presetBase(BUILT_IN, null))).toBeNull();
  expect(trainCommands(BUILT_IN, [config], presetBase(BUILT_IN, 'no-such-preset'))).toBeNull();
});
