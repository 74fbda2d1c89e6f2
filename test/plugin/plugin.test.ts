// What users bring: permission before anything runs, algorithms in TypeScript checked without PyTorch, skeletons that work, and code that is part of a run.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { BUILT_IN, pluginChange } from '../../main/config/catalog.ts';
import { parseConfig } from '../../main/config/config.ts';
import { checkOrder } from '../../main/config/orders.ts';
import { applyOverrides } from '../../main/config/overrides.ts';
import { loadPreset, presetIds } from '../../main/config/presets.ts';
import { wordsAfter } from '../../main/commands/shared/completion.ts';
import { chooseCatalog } from '../../main/commands/shared/output.ts';
import { findWorld } from '../../main/environment/registry.ts';
import { glossaryOf } from '../../main/metrics/glossary.ts';
import { checkAlgorithm } from '../../main/plugin/check-algorithm.ts';
import { checkPlugin } from '../../main/plugin/check.ts';
import { loadCatalog } from '../../main/plugin/load.ts';
import { addFolder } from '../../main/plugin/permissions.ts';
import { checkStudies } from '../../main/study/check.ts';
import { writeSkeleton } from '../../main/plugin/skeleton.ts';
import { newRun } from '../../main/queue/new-run.ts';
import { loadDefinition, studyIds } from '../../main/study/definition.ts';
import { trialSettings } from '../../main/study/search-space.ts';
import { sameRun } from '../../main/study/work.ts';
import { openStore } from '../store/helpers.ts';

let data = '';
let folder = '';
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'astrolab-plugins-'));
  folder = join(data, 'brought');
});
afterEach(() => {
  delete process.env.ASTROLAB_PLUGINS;
  chooseCatalog(null);
  rmSync(data, { recursive: true, force: true });
});

const problems = (results: readonly { name: string; problem: string | null }[]) => results.filter(({ problem }) => problem !== null);

describe('permission', () => {
  const WORLD = { name: 'brought', command: ['node', 'world.mjs'], actions: ['a'] };
  const bring = (manifest: object = WORLD): void => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'world.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'world.mjs'), `require('fs').writeFileSync('started', '')`);
  };

  test('a folder is listed at once and starts nothing; allowed once, it may until its manifest changes', async () => {
    bring();
    const open = async () => findWorld(await loadCatalog(data), 'brought').create({});
    addFolder(data, folder, false);
    expect((await loadCatalog(data)).worlds.map(({ name }) => name)).toContain('brought');
    await expect(open()).rejects.toThrow(/have not allowed yet/);
    addFolder(data, folder, true);
    expect((await open()).maxSteps).toBe(20);
    writeFileSync(join(folder, 'world.mjs'), '// other code, the same command');
    expect((await open()).maxSteps).toBe(20);
    bring({ ...WORLD, command: ['rm', '-rf', '/'] });
    await expect(open()).rejects.toThrow(/have not allowed yet/);
  });

  test('a config cannot bring a program along', () => {
    const config = { world: { name: 'elsewhere', settings: { command: ['rm'] } } };
    expect(checkOrder(BUILT_IN, { config, seeds: '1', sweep: [] }).issues[0]).toMatchObject({ key: 'world.name' });
    expect(() => parseConfig(BUILT_IN, { world: { name: 'shop', folder: '/tmp' } })).toThrow(/folder/);
  });

  test('TypeScript that was not allowed is not run, and one that is wrong costs nobody the lab', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'plugin.ts'), `throw new Error('was run');`);
    addFolder(data, folder, false);
    expect((await loadCatalog(data)).plugins[0]?.problem).toMatch(/not been allowed/);
    addFolder(data, folder, true);
    expect((await loadCatalog(data)).plugins[0]?.problem).toBe('was run');
    writeFileSync(join(folder, 'plugin.ts'), `export default () => ({ algorithms: [{ id: 'Half' }] });`);
    addFolder(data, folder, true);
    expect((await loadCatalog(data)).plugins[0]?.problem).toMatch(/does not fit the interface[\s\S]*small letters/);
    expect((await loadCatalog(data)).algorithms).toEqual(builtInAlgorithms);
  });
});

describe('an algorithm from a folder', () => {
  test('passes its checks as `lab new` writes it, and is available to configs, tuning, presets and the glossary', async () => {
    writeSkeleton('algorithm', 'mine', folder);
    expect(problems((await checkPlugin(folder, () => {})).results)).toEqual([]);
    addFolder(data, folder, true);
    const catalog = await loadCatalog(data);
    expect(parseConfig(catalog, { algorithm: { id: 'mine' } }).algorithm).toMatchObject({ id: 'mine', group: 4, entropyBonus: 0.01 });
    expect(applyOverrides(catalog, {}, ['algorithm=mine', 'algorithm.group=8']).algorithm).toMatchObject({ group: 8 });
    expect(presetIds(catalog)).toContain('mine');
    expect(loadPreset(catalog, 'mine').config.algorithm.id).toBe('mine');
    expect(glossaryOf(catalog).get('mine.useful')?.formula).toMatch(/advantage other than 0/);
    expect(Object.keys(trialSettings(catalog, 'mine', 1, 1))).toEqual(['training.learningRate', 'algorithm.entropyBonus']);
  });

  test('whose loss divides by the batch, or points the wrong way, is found out', async () => {
    writeSkeleton('algorithm', 'wrong', folder);
    const file = join(folder, 'plugin.ts');
    const right = readFileSync(file, 'utf8');
    const failing = async (text: string): Promise<string> => {
      writeFileSync(file, text);
      return problems((await checkPlugin(folder, () => {})).results)
        .map(({ name }) => name)
        .join('\n');
    };
    expect(await failing(right.replace('policy.episodeMean(neg(gain))', 'operators.reduceMean(neg(gain))'))).toMatch(
      /micro-batches add up/,
    );
    expect(await failing(right.replace('neg(gain)', 'gain'))).toMatch(/what succeeded becomes more probable/);
    expect(
      await failing(right.replace('policy.perEpisode(policy.logProbs)', 'operators.stopGradient(policy.perEpisode(policy.logProbs))')),
    ).toMatch(/the gradient is that of the loss/);
  });

  test('is a part of the run: its hash is noted, and other code is refused', async () => {
    writeSkeleton('algorithm', 'mine', folder);
    addFolder(data, folder, true);
    const catalog = await loadCatalog(data);
    const [plugin] = catalog.plugins;
    const { config } = newRun(catalog, parseConfig(catalog, { algorithm: { id: 'mine' } }), null);
    expect(config).toMatchObject({ plugins: { brought: plugin?.hash } });
    expect(pluginChange(catalog, { brought: plugin?.hash ?? '' })).toBeNull();
    expect(newRun(catalog, parseConfig(catalog, {}), null).config).not.toHaveProperty('plugins');
    const store = openStore();
    store.catalog = catalog;
    const wanted = parseConfig(catalog, { algorithm: { id: 'mine' } });
    const { id } = store.runs.create(newRun(catalog, wanted, null));
    expect(sameRun(store, wanted)?.id).toBe(id);
    writeFileSync(join(folder, 'plugin.ts'), `${readFileSync(join(folder, 'plugin.ts'), 'utf8')}\n// changed`);
    const changed = await loadCatalog(data);
    store.catalog = changed;
    expect(sameRun(store, wanted)).toBeUndefined();
    expect(pluginChange(changed, { brought: plugin?.hash ?? '' })).toMatch(/has changed since the run began/);
    expect(pluginChange(changed, { other: 'x' })).toMatch(/not there any more/);
  });
});

test.each(builtInAlgorithms.map((algorithm) => [algorithm.id, algorithm] as const))(
  'the built-in %s passes the same checks',
  async (_id, algorithm) => {
    expect(problems(await checkAlgorithm(algorithm))).toEqual([]);
  },
);

test('a world in TypeScript from a folder passes the checks, is played, completed on the command line, and is part of the run', async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, 'plugin.ts'), TYPESCRIPT_WORLD);
  expect(problems((await checkPlugin(folder, () => {})).results)).toEqual([]);
  addFolder(data, folder, true);
  const catalog = await loadCatalog(data);
  const [plugin] = catalog.plugins;
  expect(plugin?.worlds).toEqual(['brought-coin']);
  const coin = findWorld(catalog, 'brought-coin').create({});
  const [task] = coin.tasks('test');
  if (!task) throw new Error('There are no test tasks');
  expect(coin.step(coin.reset(task, 1).state, `say ${task.target}`)).toMatchObject({ reward: 1, done: true, success: true });
  const { config } = newRun(catalog, parseConfig(catalog, { world: { name: 'brought-coin' } }), null);
  expect(config).toMatchObject({ plugins: { brought: plugin?.hash }, reference: { imperfection: { wrong: 0.2 } } });
  chooseCatalog(catalog);
  const program = new Command('lab');
  program.command('play <world>');
  program.command('train').option('--set <key>');
  expect(wordsAfter(program, ['play', 'brou'])).toEqual(['brought-coin']);
  expect(wordsAfter(program, ['train', '--set', 'world.name=br'])).toEqual(['world.name=brought-coin']);
  expect(wordsAfter(program, ['pl'])).toEqual(['play']);
});

const TYPESCRIPT_WORLD = `
import type { Environment, Lab, Plugin, Task, Turn } from './astrolab.d.ts';
const SIDES: readonly string[] = ['heads', 'tails'];
export default ({ z, tidy, admits }: Lab): Plugin => {
  const tasks: Task[] = Array.from({ length: 30 }, (_, index): Task => ({
    id: 'coin-' + index, split: index < 20 ? 'train' : index < 25 ? 'validation' : 'test', instruction: 'Say the side of coin ' + index + '.',
    category: 'all', tier: 'all', target: (index < 20 ? 'heads' : index < 25 ? 'tails' : 'edge'), level: 0 }));
  const grammar = [[{ kind: 'literal', text: 'say ' }, { kind: 'choice', options: [...SIDES, 'edge'] }]] as const;
  const turn = (state: { task: string; done: boolean }, rest: Partial<Turn>): Turn => ({ state, observation: 'Which side?', reward: 0,
    reason: 'nothing', done: state.done, valid: true, success: false, clickables: [], facts: {}, ...rest });
  const environment: Environment = {
    name: 'brought-coin', settings: {}, maxSteps: 1, rewardRange: [0, 1], returnRange: [0, 1], categories: ['all'], tiers: ['all'], levels: 1,
    tasks: (split) => tasks.filter((task) => task.split === split),
    reset: (task) => turn({ task: task.id, done: false }, {}),
    step(state: any, action) {
      const valid = !state.done && admits(grammar, action);
      const right = valid && tidy(action) === 'say ' + tasks.find(({ id }) => id === state.task)?.target;
      return turn({ ...state, done: true }, { valid, reward: right ? 1 : 0, success: right, reason: right ? 'right' : 'wrong' });
    },
    grammar: (state: any) => (state.done ? [] : grammar),
    oracle: (state: any) => 'say ' + tasks.find(({ id }) => id === state.task)?.target,
    lexicon: { corpus: () => ['say heads tails edge Which side? TASK: Say the side of coin 0 1 2 3 4 5 6 7 8 9.'] },
  };
  const best = (world: Environment, { state }: Turn) => world.oracle(state) ?? 'say heads';
  return { worlds: [{ name: 'brought-coin', title: 'Coin', summary: 'A coin.', settings: z.strictObject({}), create: () => environment,
    mistakes: { wrong: { chance: 0.2, meaning: 'Says heads.' } }, blind: () => 'say heads', heuristic: best,
    demonstrate: (world, now, { wrong = 0 }, random) => ({ thought: '', action: random() < wrong ? 'say heads' : best(world, now) }) }] };
};
`;

test('a study from a folder is found by its name', async () => {
  writeSkeleton('study', 'mine', folder);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`world add ${folder} `);
  addFolder(data, folder, false);
  const catalog = await loadCatalog(data);
  expect(studyIds(catalog)).toContain('mine');
  expect(loadDefinition(catalog, 'mine').arms.map(({ id }) => id)).toEqual(['ppo', 'reinforce']);
  expect(await checkStudies(catalog)).toEqual([{ name: expect.stringContaining('study mine'), problem: null }]);
  const file = join(folder, 'studies', 'mine.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"algorithm.id": "ppo"', '"algorithm.ids": "ppo"'));
  expect((await checkStudies(catalog))[0]?.problem).toContain('algorithm.ids');
});
