// Calls that set runs up and steer them.

import type { Order, Preset, queueCalls } from '../../preload/contract/queue.ts';
import { algorithms } from '../algorithm/registry.ts';
import { WORLDS } from '../environment/registry.ts';
import { type CommandBase, presetBase, trainCommands } from '../config/command.ts';
import { ConfigError, type RunConfig, parseConfig } from '../config/config.ts';
import { describeConfig, describeMistakes, describeSettings, type KnobGroup } from '../config/describe.ts';
import { estimateRun, probeKey } from '../queue/estimate.ts';
import { launchWith } from '../process/launch.ts';
import { newRun } from '../queue/new-run.ts';
import { branchConfig, branchIssues } from '../queue/branch.ts';
import { type CheckedOrder, checkOrder } from '../config/orders.ts';
import { allPresets, loadPreset, sized } from '../config/presets.ts';
import { ModelError } from '../policy/model/files/tensor-source.ts';
import { probe } from '../queue/probe.ts';
import { NoSoundCheckpoint } from '../queue/resume.ts';
import { inSlices } from '../base/slices.ts';
import { RefusedRun, fitMemory } from '../training/batching/fit-memory.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';
import { plain } from './runs.ts';
import { spawnUtility } from './utility.ts';

/** So many runs of an order are shown before it is given. */
const PREVIEW = 12;

export function queueHandlers(context: Context): Handlers<typeof queueCalls> {
  let probing = false;
  return {
    'setup.presets': async () => ({ presets: await inSlices(describingPresets(context)) }),

    'setup.schema': schemaOfSettings,

    'setup.check': (order) => {
      const { config, issues, runs, seeds } = checked(context, order);
      return {
        config: config && tree(config),
        issues: issues.map(({ key, message }) => ({ key, message })),
        runs: runs.length,
        seeds: [...seeds],
        preview: runs.slice(0, PREVIEW).map(({ name, seed }) => `${name}, seed ${seed}`),
        estimate: config && issues.length === 0 ? { ...estimateRun(context.lab.store, config), plan: planned(context, config) } : null,
      };
    },

    'setup.sized': ({ preset, size }) => ({ config: tree(sized(loadPreset(preset), size)) }),

    'setup.branch': ({ run, update }) => branchSetup(context, run, update),

    'setup.command': ({ order, preset, tags }) => {
      const { runs, issues } = checked(context, order);
      return { command: issues.length > 0 ? null : trainCommands(runs, originBase(context, runs[0]) ?? presetBase(preset), tags) };
    },

    'setup.probe': async ({ config: raw }) => {
      if (probing) throw new CallFailure('busy-probe', 'Another config is being measured.', 'Wait until it finishes.');
      probing = true;
      const began = performance.now();
      try {
        const config = parseConfig(raw);
        const measured = await probe(fitted(context, config), (folder) => launchWith(spawnUtility, folder), context.lab.store.dataFolder);
        context.lab.store.settings.set(probeKey(config), measured);
        return {
          seconds: (performance.now() - began) / 1000,
          secondsPerUpdate: measured.secondsPerUpdateEpisode * config.training.batch,
          memoryBytes: measured.memoryBytes,
        };
      } finally {
        probing = false;
      }
    },

    'queue.add': ({ order, preset, tags }) => {
      const { runs, issues } = checked(context, order);
      const [fault] = issues;
      if (fault)
        throw new CallFailure('invalid-config', `No run was created. ${fault.key}: ${fault.message}`, 'Fix that field and try again.');
      return { runs: context.lab.queue.add(runs.map((config) => newRun(fitted(context, config), preset, tags))).map(({ id }) => id) };
    },

    'queue.move': ({ run, before }) => {
      context.lab.queue.move(run, before);
      // Every waiting run has a new place.
      context.lab.changed(...context.lab.store.runs.queue().map(({ id }) => id));
      return {};
    },

    'queue.steer': ({ run, action }) => {
      steered(() => context.lab.queue[action](run));
      return {};
    },
  };
}

/** Stops after each: looking for runs like it takes a moment. */
function* describingPresets({ lab: { store } }: Context): Generator<void, Preset[], void> {
  const presets: Preset[] = [];
  for (const { id, title, description, adapted, config } of allPresets()) {
    const { seconds, elsewhere } = estimateRun(store, config);
    presets.push({ id, title, description, adapted: [...adapted], config: tree(config), seconds, elsewhere });
    yield;
  }
  return presets;
}

/** An order, checked; one that branches from a checkpoint is compared with the run it branches from. */
function checked(context: Context, order: Order): CheckedOrder {
  const result = checkOrder(order);
  const issues = result.config ? branchIssues(context.lab.store, result.config) : [];
  return issues.length === 0 ? result : { ...result, runs: [], issues: [...result.issues, ...issues] };
}

/** The config as it fits into this machine's memory. */
function fitted({ lab: { store } }: Context, config: RunConfig): RunConfig {
  try {
    return fitMemory(config, store.dataFolder).config;
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof ModelError)) throw error;
    throw new CallFailure('invalid-config', `No run was created. ${error.message}`, 'Change that and try again.');
  }
}

/** What a run with a language model or on a graphics card takes of its memory; null for small policies on the CPU, which a setting bounds. */
function planned({ lab: { store } }: Context, config: RunConfig) {
  try {
    const { plan, changes, free } = fitMemory(config, store.dataFolder);
    const { parts, needed, most, card = false } = plan ?? { parts: undefined, needed: 0, most: 0 };
    return parts ? { parts: { ...parts }, needed, most, free, card, changes: [...changes], refusal: null } : null;
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof ModelError)) throw error;
    return { parts: null, needed: 0, most: 0, free: 0, card: config.device !== 'cpu', changes: [], refusal: refusalOf(error, config) };
  }
}

/** The error and the setting it is about: a model that is not here, too little memory, an adapter that cannot be read, or a world that cannot be opened. */
function refusalOf(error: Error, { policy }: RunConfig) {
  if (error instanceof RefusedRun) return { key: error.key, message: error.explanation };
  return { key: policy.kind === 'model' ? 'policy.model.name' : 'world.name', message: error.message };
}

/** Every setting of a run, of all worlds and algorithms. */
function schemaOfSettings() {
  return {
    groups: [
      ...describeConfig().map((group) => ({ ...groupOf(group), world: null })),
      ...WORLDS.flatMap((world) =>
        [...describeSettings(world.settings, `Settings of the world ${world.title}`), ...describeMistakes(world)].map((group) => ({
          ...groupOf(group),
          world: world.name,
        })),
      ),
    ],
    worlds: WORLDS.map(({ name, title, summary }) => ({ name, title, summary })),
    variants: algorithms.map(({ id, title }) => ({ id, title })),
  };
}

/** The config that a branch starts with, and the checkpoints it could start from. */
function branchSetup({ lab: { store } }: Context, run: number, update: number) {
  try {
    const config = branchConfig(store, run, update);
    const updates = store.checkpoints.list(run).map((checkpoint) => checkpoint.update);
    return { config: tree(config), updates, best: store.runs.get(run).best?.update ?? null };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CallFailure('no-checkpoint', error.message, 'Choose another checkpoint.');
  }
}

/** What the command of a branch starts from. */
function originBase(context: Context, config: RunConfig | undefined): CommandBase | null {
  const { store } = context.lab;
  const parent = config?.branch && store.runs.findByUid(config.branch.run);
  if (!config?.branch || !parent) return null;
  const { update } = config.branch;
  return { option: `--from ${parent.id}@${update}`, config: branchConfig(store, parent.id, update) };
}

/** What the queue refuses, as a failure with what to do. */
function steered(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof NoSoundCheckpoint) throw new CallFailure(error.code, error.message, error.hint);
    const message = error instanceof Error ? error.message : String(error);
    throw new CallFailure('not-possible', message, 'Its state may have just changed.');
  }
}

function tree(config: object) {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, plain(value)]));
}

function groupOf({ key, title, description, variant, knobs }: KnobGroup) {
  return {
    key,
    title,
    description,
    variant,
    knobs: knobs.map((knob) => ({
      key: knob.key,
      kind: knob.kind,
      description: knob.description,
      unit: knob.unit,
      ...(knob.default !== undefined && { default: plain(knob.default) }),
      low: knob.low,
      high: knob.high,
      options: [...knob.options],
    })),
  };
}
