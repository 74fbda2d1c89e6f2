// The table of the write-ups' systems: every system can be trained at every size, and the rows say what its runs measured.

import { expect, test } from 'vitest';
import { SIZES } from '../../main/config/presets.ts';
import { wilson } from '../../main/base/statistics.ts';
import { loadSystems, type MeasuredRun, type MeasuredSystem, measureSystem, systemConfig } from '../../main/study/sources.ts';
import { breakdowns, SOURCES_HEADER, sourcesMarkdown, sourcesRow } from '../../main/study/sources-page.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { findWorld, newRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const systems = loadSystems();
const slides = systems.find(({ id }) => id === 'slides');
if (!slides) throw new Error('The slides are missing');

function measured(seed: number, k: number): MeasuredRun {
  return {
    run: seed,
    seed,
    table: {
      success: wilson(k, 100),
      return: 0.5,
      steps: 2 + seed,
      categories: { books: wilson(1, 4), shoes: wilson(3, 4) },
      tiers: {},
      failures: {
        unreachable: { count: 20, share: 0.2 },
        timeout: { count: 100 - k - 20, share: (80 - k) / 100 },
        'search-loop': { count: 0, share: 0 },
      },
    },
    conduct: {
      achievable: wilson(k, 80),
      efficiency: 0.5,
      stepShare: 0.3,
      traits: [{ id: 'click-before-buy', title: 'opened what it bought', successes: wilson(1, 2), failures: wilson(1, 4) }],
      coverage: {
        bands: [{ words: 'none', success: wilson(1, 10) }],
        categories: { books: { coverage: 0.1, success: 0.25 }, shoes: { coverage: 0.4, success: 0.75 } },
        correlation: 1,
        missing: wilson(3, 4),
      },
    },
    train: wilson(k + 3, 100),
  };
}

test('every system has a config at every size, and its changes are in it', () => {
  for (const system of systems) for (const size of SIZES) expect(systemConfig(BUILT_IN, system, size, 7).seed).toBe(7);
  const { policy, world } = systemConfig(BUILT_IN, slides, 'full', 1, ['training.updates=9']);
  expect(policy.architecture).toBe('lstm');
  expect(world.settings).toMatchObject({ ids: 'spread', maxReachableId: 100, searchTerms: 'covering', reward: 'slides-described' });
});

test('a row holds the mean over seeds with the least and the most, and says when nothing was run', () => {
  const row = sourcesRow({ system: slides, updates: 60, runs: [measured(1, 60), measured(2, 40)] });
  expect(row).toHaveLength(SOURCES_HEADER.length);
  expect(row.slice(3)).toEqual([
    '50.0% (40.0% to 60.0%), 2 seeds, 60 updates',
    '3.50 (3.00 to 4.00)',
    '0.50',
    '62.5% (50.0% to 75.0%)',
    '50.0%',
    '30.0%',
    '+3.0',
    '50.0% / 25.0%',
  ]);
  expect(sourcesRow({ system: slides, updates: 60, runs: [] })[3]).toBe('not run at this size');
});

test('categories and failures stand beside what the authors gave, coverage beside success', () => {
  const one: MeasuredSystem = { system: slides, updates: 60, runs: [measured(1, 60)] };
  const [categories, failures, common, words] = breakdowns(BUILT_IN, one);
  expect(categories?.rows).toContainEqual(['books', '48.0%', '25.0%', '10.0%']);
  expect(categories?.rows).toContainEqual(['kitchen', '54.0%', '–', '–']);
  expect(failures?.rows.map(([, then, here]) => [then, here])).toContainEqual(['20.0%', '50.0%']);
  expect(failures?.rows).toHaveLength(4);
  expect(common?.rows).toEqual([['opened what it bought', '50.0%', '25.0%']]);
  expect(words?.rows.at(-1)).toEqual(['failures with a wanted word missing', '75.0%']);
  const page = sourcesMarkdown(BUILT_IN, [one, { system: slides, updates: 60, runs: [] }], 'npm run lab -- sources');
  expect(page).toContain('### Success by category');
  expect(page.match(/^## /gm)).toHaveLength(1);
});

test('the runs of a data folder are found by their configs, with the gap to training tasks', () => {
  const store = openStore(temporaryFolder());
  const config = systemConfig(BUILT_IN, slides, 'quick', 1);
  const { id } = store.runs.create(newRun(config, slides.preset));
  const measure = () => measureSystem(store, slides, { size: 'quick', seeds: [1, 2] }).runs;
  expect(measure(), 'not before it is done').toEqual([]);
  const environment = findWorld('shop').create(config.world.settings);
  const evaluate = (split: 'test' | 'train', kind: 'final' | 'manual', successes: number): void => {
    const results = environment
      .tasks(split)
      .slice(0, 10)
      .map(({ id: task, category, tier }, i) => ({
        task,
        category,
        tier,
        seed: i,
        success: i < successes,
        return: 0,
        steps: 3,
        failure: null,
      }));
    const about = { update: 2, kind, agent: 'policy', world: 'shop', worldHash: 'x', split, temperature: 0, seconds: 1 };
    store.evaluations.add(id, { ...about, results }, []);
  };
  evaluate('test', 'final', 4);
  evaluate('train', 'manual', 7);
  store.runs.change(id, { state: 'done' });
  const [run, ...others] = measure();
  expect(others).toEqual([]);
  expect([run?.run, run?.table.success.k, run?.train?.rate, run?.conduct.stepShare]).toEqual([id, 4, 0.7, 0.2]);
});
