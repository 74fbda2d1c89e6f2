import { expect, test } from 'vitest';
import { z } from 'zod';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { configSchemas, learningRateAt, temperatureAt } from '../../main/config/config.ts';
import { armIdentity, referenceKey, runIdentity } from '../../main/config/identity.ts';
import { configMarkdown } from '../../main/config/describe.ts';
import { worldIssues } from '../../main/config/orders.ts';
import { diffConfigs, flatten } from '../../main/config/overrides.ts';
import { sized } from '../../main/config/presets.ts';
import { readConfig, upgradeConfig } from '../../main/config/upgrade.ts';
import { referenceRecipe } from '../../main/training/reference/reference.ts';
import { allPresets, applyOverrides, findWorld, loadPreset, openRun, parseConfig, presetIds } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

test('an empty config is a complete run of A*PO in the shop', () => {
  const config = parseConfig({});
  expect(config.world.name).toBe('shop');
  expect(config.algorithm).toMatchObject({ id: 'astar-po', beta2: 0.03, group: 1, entropyBonus: 0.001, credit: 'episode' });
  expect(config.vstar).toMatchObject({ estimator: 'smooth-max', beta1: 0.5, samples: [8], dropUnsolved: false });
  expect(parseConfig(config)).toEqual(config);
});

test('every setting says what it means, and every number has a range', () => {
  const gaps: string[] = [];
  const walk = (node: z.core.JSONSchema._JSONSchema | undefined, path: string): void => {
    if (node === undefined || typeof node === 'boolean') return;
    if (path !== '' && !path.endsWith('.id') && (node.description ?? '').length < 10) gaps.push(`${path} has no meaning`);
    if (node.type === 'number' || node.type === 'integer') {
      if (node.minimum === undefined || node.maximum === undefined) gaps.push(`${path} has no range`);
    }
    for (const [key, inner] of Object.entries(node.properties ?? {})) walk(inner, path === '' ? key : `${path}.${key}`);
    for (const variant of [...(node.anyOf ?? []), ...(node.oneOf ?? [])]) {
      if (path === 'algorithm') walk(variant, path);
    }
  };
  walk(z.toJSONSchema(configSchemas(BUILT_IN).run, { io: 'input', unrepresentable: 'any' }), '');
  expect(gaps).toEqual([]);
});

test('wrong configs are reported field by field', () => {
  expect(() => parseConfig({ training: { updates: 0 }, policy: { width: 30 } })).toThrow(/training\.updates: .*>=1 \(found 0\)/);
  expect(() => parseConfig({ policy: { width: 30 } })).toThrow(/policy\.width: expected a multiple of 8/);
  expect(() => parseConfig({ trainig: {} })).toThrow(/trainig/);
  expect(() => parseConfig({ algorithm: { id: 'grpo', beta2: 1 } })).toThrow(/beta2/);
  expect(() => parseConfig({ reference: { targetSuccess: { low: 0.6 } } })).toThrow(/at most targetSuccess\.high/);
});

test('--set changes one key, of the kind that stands there', () => {
  const config = applyOverrides({}, [
    'training.updates=50',
    'policy.aids.pointer=off',
    'training.temperature=1.5,1,0.8',
    'world.settings.reward=slides',
  ]);
  expect(config.training.updates).toBe(50);
  expect(config.policy.aids.pointer).toBe(false);
  expect(config.training.temperature).toEqual([1.5, 1, 0.8]);
  expect(config.world.settings).toEqual({ reward: 'slides' });
  expect(applyOverrides({}, ['training.temperature=0.9']).training.temperature).toEqual([0.9]);
});

test('another variant comes with its settings', () => {
  const config = applyOverrides({ algorithm: { id: 'astar-po', beta2: 0.5 } }, ['algorithm.id=grpo', 'algorithm.group=4']);
  expect(config.algorithm).toMatchObject({ id: 'grpo', group: 4, clipHigh: 0.28 });
  expect(config.algorithm).not.toHaveProperty('beta2');
  expect(applyOverrides({ algorithm: { id: 'astar-po', beta2: 0.5 } }, ['algorithm.id=astar-po']).algorithm).toHaveProperty('beta2', 0.5);
});

test('a wrong --set says what was expected, what was found and the nearest key', () => {
  expect(() => applyOverrides({}, ['training.update=5'])).toThrow(/no setting "training\.update"\. Nearest: training\.updates/);
  expect(() => applyOverrides({}, ['learningrate=5'])).toThrow(/reference\.learningRate, training\.learningRate/);
  expect(() => applyOverrides({}, ['training.updates=many'])).toThrow(/expected a number, found "many"/);
  expect(() => applyOverrides({}, ['policy.thoughts=maybe'])).toThrow(/expected true or false/);
  expect(() => applyOverrides({}, ['training=1'])).toThrow(/group of settings/);
  expect(() => applyOverrides({}, ['training.updates'])).toThrow(/key=value/);
  expect(() => applyOverrides({}, ['algorithm.id=gpro'])).toThrow(/expected one of astar-po.*found "gpro"/);
  expect(() => applyOverrides({}, ['training.clip=-1'])).toThrow(/training\.clip/);
});

test('a diff holds only what differs', () => {
  const a = applyOverrides({}, []);
  const b = applyOverrides({}, ['seed=2', 'name=other', 'training.clip=0.5']);
  expect(diffConfigs([a, b])).toEqual([
    { key: 'name', values: ['run', 'other'] },
    { key: 'seed', values: [1, 2] },
    { key: 'training.clip', values: [1, 0.5] },
  ]);
});

test('a run is the same experiment whatever its name, its memory and the order of its keys; an arm also whatever its seed', () => {
  const config = applyOverrides({}, []);
  const alike = [
    { ...config, name: 'renamed' },
    applyOverrides(config, ['memory=4000', 'deviceMemory=9']),
    Object.fromEntries(Object.entries(config).toReversed()),
  ];
  for (const other of alike)
    expect([runIdentity(parseConfig(other)), armIdentity(parseConfig(other))]).toEqual([runIdentity(config), armIdentity(config)]);
  const seed = applyOverrides(config, ['seed=2']);
  expect([runIdentity(seed) === runIdentity(config), armIdentity(seed) === armIdentity(config)]).toEqual([false, true]);
  const { name: _name, memory: _memory, deviceMemory: _device, seed: _seed, ...rest } = config;
  for (const key of flatten(rest).keys()) {
    if (key.startsWith('world.') || key === 'algorithm.id') continue;
    const changed = parseConfig(config);
    setLeaf(changed, key);
    expect([runIdentity(changed) === runIdentity(config), armIdentity(changed) === armIdentity(config)], key).toEqual([false, false]);
  }
});

/** Another value in this place. */
function setLeaf(config: object, key: string): void {
  const path = key.split('.');
  const last = path.pop() ?? '';
  const node = path.reduce((inner: Record<string, unknown>, part) => Object(inner[part]), Object(config));
  node[last] = 'another value';
}

test('the learning rate warms up, holds for a third and falls to a tenth', () => {
  const { training } = parseConfig({ training: { updates: 90, learningRate: 1, warmup: 10 } });
  expect(learningRateAt(training, 0)).toBeCloseTo(0.1, 12);
  expect(learningRateAt(training, 9)).toBe(1);
  expect(learningRateAt(training, 30)).toBe(1);
  expect(learningRateAt(training, 89)).toBeCloseTo(0.1, 12);
  const rates = Array.from({ length: 90 }, (_, update) => learningRateAt(training, update));
  for (let update = 31; update < 90; update++) expect(rates[update]).toBeLessThan(rates[update - 1]!);
  const flat = parseConfig({ training: { updates: 90, learningRate: 1, warmup: 0, schedule: { shape: 'constant' } } }).training;
  expect(learningRateAt(flat, 89)).toBe(1);
  const cosine = parseConfig({
    training: { updates: 91, learningRate: 1, warmup: 0, schedule: { shape: 'cosine', hold: 0, final: 0 } },
  }).training;
  expect(learningRateAt(cosine, 45)).toBeCloseTo(0.5, 12);
});

test('a temperature schedule cuts the run into equal parts', () => {
  const { training } = parseConfig({ training: { updates: 9, temperature: [1.5, 1, 0.8] } });
  expect(Array.from({ length: 9 }, (_, update) => temperatureAt(training, update))).toEqual([1.5, 1.5, 1.5, 1, 1, 1, 0.8, 0.8, 0.8]);
});

test('every preset fits the schema and its world, and says what it is', () => {
  for (const preset of allPresets()) {
    expect(preset.config.name).toBe(preset.id);
    const world = findWorld(preset.config.world.name);
    expect(() => world.settings.parse(preset.config.world.settings), preset.id).not.toThrow();
    expect(builtInAlgorithms.map(({ id }) => id)).toContain(preset.config.algorithm.id);
  }
  expect(presetIds()).toEqual(expect.arrayContaining(['shop-astar-po', 'shop-tiny']));
  expect(() => loadPreset('nope')).toThrow(/no preset "nope"\. Presets: /);
});

test('the flagship follows the measured recipe', () => {
  const { config } = loadPreset('shop-astar-po');
  expect(config.algorithm).toMatchObject({ id: 'astar-po', beta2: 0.03 });
  expect(config.vstar).toMatchObject({ beta1: 0.5, samples: [8], reward: 'binary' });
  expect(config.training).toMatchObject({ batch: 128, tasks: 2512, updates: 150, learningRate: 5e-4, reward: 'binary' });
  expect(config.policy.aids).toMatchObject({ relabelIds: true, relabelWords: true, relabelPrices: true, tokenShift: 8 });
});

test('unfinished references of version 0.1.0 are found again by keys that settings added since leave as they were', () => {
  const { config } = loadPreset('shop-demo');
  expect(referenceKey(BUILT_IN, config).slice(0, 12)).toBe('64fc27719279');
  expect(referenceKey(BUILT_IN, applyOverrides(config, ['reference.imperfection.userWords=0']))).not.toBe(referenceKey(BUILT_IN, config));
  expect(() => applyOverrides(config, ['training.minP=0.05', 'device=webgpu'])).toThrow(
    /training\.minP: expected 0: min-p sampling is for the CPU/,
  );
  const held = applyOverrides(config, ['reference.hold=0.1']);
  expect(referenceKey(BUILT_IN, held)).not.toBe(referenceKey(BUILT_IN, config));
  const model = applyOverrides(config, ['policy.kind=model', 'policy.model.name=any', 'training.reward=shaped']);
  expect(referenceKey(BUILT_IN, applyOverrides(model, ['policy.model.invalidPenalty=0.1']))).toBe(referenceKey(BUILT_IN, model));
  expect(() => applyOverrides(model, ['training.reward=binary', 'policy.model.invalidPenalty=0.1'])).toThrow(
    /policy\.model\.invalidPenalty: expected 0 with training\.reward=binary/,
  );
  const similar = applyOverrides(model, ['policy.aids.similarIds=true']);
  expect(referenceKey(BUILT_IN, similar)).not.toBe(referenceKey(BUILT_IN, model));
  expect(() => applyOverrides(config, ['policy.aids.similarIds=true'])).toThrow(
    /policy\.aids\.similarIds: expected false: an id is one token/,
  );
  const grouped = applyOverrides(config, ['reference.group=3']);
  expect(referenceKey(BUILT_IN, grouped)).not.toBe(referenceKey(BUILT_IN, config));
  const often = applyOverrides(config, ['reference.tiers=constrained:3']);
  expect(referenceKey(BUILT_IN, often)).not.toBe(referenceKey(BUILT_IN, config));
  expect(() => applyOverrides(config, ['reference.tiers=constrained=3'])).toThrow(/reference\.tiers: expected tiers with whole numbers/);
});

test('a world declares its demonstrator’s mistakes; configs of version 0.1.0 with the old names mean the same', () => {
  expect(parseConfig({}).reference.imperfection).toEqual({ wrongWord: 0.4, earlyPurchase: 0.4, uselessClick: 0.1, userWords: 0.5 });
  const old = { wrongWord: 0.3, earlyPurchase: 0.2, uselessClick: 0.05 };
  expect(parseConfig({ reference: { imperfection: old } }).reference.imperfection).toEqual({ ...old, userWords: 0.5 });
  const maths = { world: { name: 'maths' }, reference: { imperfection: old } };
  expect(readConfig(BUILT_IN, maths).reference.imperfection).toEqual({ slip: 0.3, guess: 0.2, detour: 0.05 });
  expect(upgradeConfig(BUILT_IN, maths)).toEqual(readConfig(BUILT_IN, maths));
  expect(upgradeConfig(BUILT_IN, readConfig(BUILT_IN, maths))).toEqual(readConfig(BUILT_IN, maths));
  expect(() => parseConfig(maths)).toThrow(/reference\.imperfection\.wrongWord: expected a mistake of the world maths/);
  // Where a world has none of them, they did nothing.
  expect(upgradeConfig(BUILT_IN, { world: { name: 'frozenlake' }, reference: { imperfection: old } })).toEqual(
    parseConfig({ world: { name: 'frozenlake' } }),
  );
  expect(() => upgradeConfig(BUILT_IN, { world: { name: 'frozenlake' }, reference: { imperfection: { typo: 1 } } })).toThrow(
    /imperfection\.typo/,
  );
  expect(() => parseConfig({ world: { name: 'maths' }, reference: { imperfection: { typo: 0.1 } } })).toThrow(
    /reference\.imperfection\.typo: expected a mistake of the world maths \(slip, guess, detour\), found typo/,
  );
  // A world that this lab does not have keeps what it was given.
  const foreign = parseConfig({ world: { name: 'elsewhere' }, reference: { imperfection: { haste: 0.5 } } });
  expect(foreign.reference.imperfection).toEqual({ haste: 0.5 });
});

test('another world brings its settings and mistakes', () => {
  const moved = applyOverrides(loadPreset('maths-multiplication').config, ['world.name=shop', 'reference.imperfection.wrongWord=0.2']);
  expect(moved.world).toEqual({ name: 'shop', settings: {} });
  expect(moved.reference.imperfection).toEqual({ wrongWord: 0.2, earlyPurchase: 0.4, uselessClick: 0.1, userWords: 0.5 });
});

test('a world that does not exist, or settings of another world, are refused with a reason', () => {
  const shop = loadPreset('week-07').config;
  const said = (changes: string[]): string[] =>
    worldIssues(BUILT_IN, applyOverrides(shop, changes)).map(({ key, message }) => `${key}: ${message}`);
  expect(applyOverrides(shop, ['world.name=sokoban']).world).toEqual({ name: 'sokoban', settings: {} });
  expect(said(['world.name=sokoban'])).toEqual([]);
  expect(said(['world.name=nowhere'])[0]).toMatch(/^world\.name: Expected one of shop, .*; found “nowhere”/);
  expect(said(['world.name=maths', 'world.settings.resultsShown=3'])[0]).toMatch(/no setting named resultsShown; remove it/);
});

test('references of version 0.1.0 are found again: their recipes are what they were', () => {
  const short = ['steps=40', 'checkEvery=40', 'checkTasks=16', 'demonstrations=400'].map((text) => `reference.${text}`);
  const recipe = (preset: string, changes: string[]) => referenceRecipe(openRun(applyOverrides(loadPreset(preset).config, changes)));
  expect(recipe('shop-tiny', [])).toBe('f5dc13e7f8661de41a0e584e3c214acf3b3051c88026a31eb482af7f319ba5e9');
  expect(recipe('maths-multiplication', short)).toBe('daeef4be8662d875421d07f2d5549f852883ba5ae1ddba6ff8dcacddc6a9b58a');
});

test('a stored run of a plug-in’s algorithm keeps its settings while the plug-in is not there; a file with one is refused', () => {
  const stored = { name: 'mine', algorithm: { id: 'nowhere', boldness: 3 } };
  expect(upgradeConfig(BUILT_IN, stored)).toEqual({ ...parseConfig({ name: 'mine' }), algorithm: stored.algorithm });
  expect(() => readConfig(BUILT_IN, stored)).toThrow(/algorithm\.id/);
});

test('threads 0 means what the engine does: one per logical processor', () => {
  expect(configMarkdown(BUILT_IN)).toMatch(/`threads`.*0: one per logical processor/);
});

test('every preset has smaller versions that are valid and cheaper; the settings its source names for them count', () => {
  for (const preset of allPresets()) {
    const [quick, medium, full] = [sized(BUILT_IN, preset, 'quick'), sized(BUILT_IN, preset, 'medium'), sized(BUILT_IN, preset, 'full')];
    expect(full).toEqual(preset.config);
    expect(quick.training.updates, preset.id).toBeLessThanOrEqual(medium.training.updates);
    expect(medium.training.updates, preset.id).toBeLessThanOrEqual(full.training.updates);
    expect(quick.evaluation.finalTasks, preset.id).toBeLessThanOrEqual(100);
    expect(quick.world).toEqual(full.world);
    const small = sized(BUILT_IN, preset, 'small');
    expect([small.training.updates, small.evaluation, small.vstar], preset.id).toEqual([
      medium.training.updates,
      medium.evaluation,
      medium.vstar,
    ]);
    expect(small.policy.width, preset.id).toBeLessThanOrEqual(96);
    expect(small.training.batch, preset.id).toBeLessThanOrEqual(32);
  }
  const { training, vstar, evaluation } = sized(BUILT_IN, loadPreset('webshop-apo'), 'quick');
  expect([training.updates, training.batch, vstar.samples, evaluation.every]).toEqual([20, 16, [4], 10]);
});
