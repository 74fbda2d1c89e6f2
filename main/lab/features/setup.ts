// Calls that set runs up and steer them: presets and schema for the form, checking what was typed, what it will cost,
// adding to the queue, and the words pause, one update, resume, stop.

import type { Catalog } from '../../config/catalog.ts';
import { z } from 'zod';
import { knobKinds } from '../../base/vocabulary.ts';
import { type CommandBase, presetBase, trainCommands } from '../../config/command.ts';
import { ConfigError, parseConfig, type RunConfig } from '../../config/config.ts';
import { describeConfig, describeMistakes, describeSettings, type KnobGroup as DescribedGroup } from '../../config/describe.ts';
import { type CheckedOrder, checkOrder } from '../../config/orders.ts';
import { allPresets, loadPreset, sized } from '../../config/presets.ts';
import { ModelError } from '../../policy/model/files/tensor-source.ts';
import { spawnChild } from '../../process/child.ts';
import { launchWith } from '../../process/launch.ts';
import { branchConfig, branchIssues } from '../../queue/branch.ts';
import { estimateRun, probeKey } from '../../queue/estimate.ts';
import { probe } from '../../queue/probe.ts';
import { fitMemory, RefusedRun } from '../../training/batching/fit-memory.ts';
import type { Store } from '../../store/store.ts';
import { CallFailure, type Handlers, nothing, type Reads } from '../definition.ts';
import type { Lab } from '../lab.ts';
import { plain } from '../plain.ts';

const json = z.json();
const config = z.record(z.string(), json);
export type ConfigTree = z.infer<typeof config>;

const knob = z.object({
  key: z.string(),
  kind: z.enum(knobKinds),
  description: z.string(),
  unit: z.string(),
  default: json.optional(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  options: z.array(z.string()),
});
export type Knob = z.infer<typeof knob>;

const knobGroup = z.object({
  key: z.string(),
  title: z.string(),
  description: z.string(),
  /** Only for this algorithm, or only in this world. */
  variant: z.string().nullable(),
  world: z.string().nullable(),
  knobs: z.array(knob),
});
export type KnobGroup = z.infer<typeof knobGroup>;

const preset = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  adapted: z.array(z.string()),
  config,
  /** Expected time; null while nothing comparable was measured. */
  seconds: z.number().nullable(),
  /** It was measured on another machine, with one thread. */
  elsewhere: z.boolean(),
});
export type Preset = z.infer<typeof preset>;

/** What the user asks for: a config, the seeds as typed ("1-5, 9") and values to combine. */
export const order = z.strictObject({
  config,
  seeds: z.string().max(400),
  sweep: z.array(z.strictObject({ key: z.string().max(200), values: z.string().max(2000) })).max(6),
});
export type Order = z.infer<typeof order>;

const issue = z.object({ key: z.string(), message: z.string() });
export type Issue = z.infer<typeof issue>;

/** Memory of a run with a language model or on a graphics card, in bytes: each part at its largest, what it needs at least and may grow to, and what is free. */
const memoryPlan = z.object({
  parts: z
    .object({
      weights: z.number(),
      trained: z.number(),
      optimizer: z.number(),
      cache: z.number(),
      activations: z.number(),
      process: z.number(),
    })
    .nullable(),
  needed: z.number(),
  most: z.number(),
  /** Null for a card of which the system does not say how much it has. */
  free: z.number().nullable(),
  /** Of the graphics card, not of the machine. */
  card: z.boolean(),
  /** What Start changes so that it fits, as `key=value`. */
  changes: z.array(z.string()),
  /** Why it cannot be started on this machine. */
  refusal: issue.nullable(),
});
export type MemoryPlan = z.infer<typeof memoryPlan>;

const estimate = z.object({
  /** Of one run; null while nothing comparable was ever measured here. */
  seconds: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  diskBytes: z.number(),
  freeBytes: z.number(),
  /** What it rests on, in words. */
  basis: z.string(),
  /** The time was measured on another machine, with one thread. */
  elsewhere: z.boolean(),
  /** Null for small policies on the CPU, which the setting `memory` bounds. */
  plan: memoryPlan.nullable(),
});
export type Estimate = z.infer<typeof estimate>;

export const calls = {
  'setup.presets': { input: nothing, answer: z.object({ presets: z.array(preset) }) },
  'setup.schema': {
    input: nothing,
    answer: z.object({
      groups: z.array(knobGroup),
      worlds: z.array(z.object({ name: z.string(), title: z.string(), summary: z.string() })),
      variants: z.array(z.object({ id: z.string(), title: z.string() })),
    }),
  },
  /** Checks an order as it is typed. `config` comes back complete when it is right. */
  'setup.check': {
    input: order,
    answer: z.object({
      config: config.nullable(),
      issues: z.array(issue),
      /** How many runs it makes, and the seeds. */
      runs: z.number(),
      seeds: z.array(z.number()),
      /** The first of them by name and seed. */
      preview: z.array(z.string()),
      estimate: estimate.nullable(),
    }),
  },
  /** A preset in one of its sizes. */
  'setup.sized': {
    input: z.strictObject({ preset: z.string().max(100), size: z.enum(['quick', 'small', 'medium', 'full']) }),
    answer: z.object({ config }),
  },
  /** What a branch from a checkpoint starts with, and the checkpoints there are. */
  'setup.branch': {
    input: z.strictObject({ run: z.int().min(1), update: z.int().min(0) }),
    answer: z.object({ config, updates: z.array(z.number()), best: z.number().nullable() }),
  },
  /** The same as a shell command; null when no command makes exactly these runs. */
  'setup.command': {
    input: z.strictObject({ order, preset: z.string().nullable(), tags: z.array(z.string().max(60)).max(20) }),
    answer: z.object({ command: z.string().nullable() }),
  },
  /** Trains two small updates of this config in a separate process, to know its speed and memory. */
  'setup.probe': {
    input: z.strictObject({ config }),
    answer: z.object({
      /** What the measuring took; then what one update and the process will take. */
      seconds: z.number(),
      secondsPerUpdate: z.number(),
      memoryBytes: z.number(),
    }),
  },
};

/** So many runs of an order are shown before it is given. */
const PREVIEW = 12;

export const reads = {
  // Looking for runs like each takes a moment.
  'setup.presets': (store) => ({
    presets: allPresets(store.catalog).map(({ id, title, description, adapted, config: settings }) => {
      const { seconds, elsewhere } = estimateRun(store, settings);
      return { id, title, description, adapted: [...adapted], config: tree(settings), seconds, elsewhere };
    }),
  }),

  'setup.check': (store, wanted) => {
    const { config: whole, issues, runs, seeds } = checked(store, wanted);
    return {
      config: whole && tree(whole),
      issues: issues.map(({ key, message }) => ({ key, message })),
      runs: runs.length,
      seeds: [...seeds],
      preview: runs.slice(0, PREVIEW).map(({ name, seed }) => `${name}, seed ${seed}`),
      estimate: whole && issues.length === 0 ? { ...estimateRun(store, whole), plan: planned(store, whole) } : null,
    };
  },

  'setup.command': (store, { order: wanted, preset: id, tags }) => {
    const { runs, issues } = checked(store, wanted);
    return {
      command:
        issues.length > 0 ? null : trainCommands(store.catalog, runs, originBase(store, runs[0]) ?? presetBase(store.catalog, id), tags),
    };
  },

  /** The runs of an order as they fit into this machine's memory, or what is wrong with it. */
  fitted: (store: Store, wanted: Order): { issues: readonly Issue[]; runs: readonly RunConfig[] } => {
    const { runs, issues } = checked(store, wanted);
    return { issues, runs: issues.length === 0 ? runs.map((one) => fitted(store, one)) : [] };
  },
} satisfies Reads<typeof calls> & Record<string, unknown>;

export function handlers(lab: Lab): Handlers<Omit<typeof calls, keyof typeof reads>> {
  let probing = false;
  return {
    'setup.schema': () => schemaOfSettings(lab.catalog),

    'setup.sized': ({ preset, size }) => ({ config: tree(sized(lab.catalog, loadPreset(lab.catalog, preset), size)) }),

    'setup.branch': ({ run, update }) => branchSetup(lab.store, run, update),

    'setup.probe': async ({ config: raw }) => {
      if (probing) throw new CallFailure('busy-probe', 'Another config is being measured.', 'Wait until it finishes.');
      probing = true;
      const began = performance.now();
      try {
        const config = parseConfig(lab.catalog, raw);
        const measured = await probe(
          lab.catalog,
          fitted(lab.store, config),
          (folder) => launchWith(spawnChild, folder),
          lab.store.dataFolder,
        );
        lab.store.settings.set(probeKey(config), measured);
        return {
          seconds: (performance.now() - began) / 1000,
          secondsPerUpdate: measured.secondsPerUpdateEpisode * config.training.batch,
          memoryBytes: measured.memoryBytes,
        };
      } finally {
        probing = false;
      }
    },
  };
}

/** An order, checked; one that branches from a checkpoint is compared with the run it branches from. */
function checked(store: Store, wanted: Order): CheckedOrder {
  const result = checkOrder(store.catalog, wanted);
  const issues = result.config ? branchIssues(store, result.config) : [];
  return issues.length === 0 ? result : { ...result, runs: [], issues: [...result.issues, ...issues] };
}

/** The config as it fits into this machine's memory. */
function fitted(store: Store, config: RunConfig): RunConfig {
  try {
    return fitMemory(store.catalog, config, store.dataFolder).config;
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof ModelError)) throw error;
    throw new CallFailure('invalid-config', `No run was created. ${error.message}`, 'Change that and try again.');
  }
}

/** What a run with a language model or on a graphics card takes of its memory; null for small policies on the CPU, which a setting bounds. */
function planned(store: Store, config: RunConfig) {
  try {
    const { plan, changes, free } = fitMemory(store.catalog, config, store.dataFolder);
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
function schemaOfSettings(catalog: Catalog) {
  const { worlds, algorithms } = catalog;
  return {
    groups: [
      ...describeConfig(catalog).map((group) => ({ ...groupOf(group), world: null })),
      ...worlds.flatMap((world) =>
        [...describeSettings(world.settings, `Settings of the world ${world.title}`), ...describeMistakes(world)].map((group) => ({
          ...groupOf(group),
          world: world.name,
        })),
      ),
    ],
    worlds: worlds.map(({ name, title, summary }) => ({ name, title, summary })),
    variants: algorithms.map(({ id, title }) => ({ id, title })),
  };
}

/** The config that a branch starts with, and the checkpoints it could start from. */
function branchSetup(store: Store, run: number, update: number) {
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
function originBase(store: Store, config: RunConfig | undefined): CommandBase | null {
  const parent = config?.branch && store.runs.findByUid(config.branch.run);
  if (!config?.branch || !parent) return null;
  const { update } = config.branch;
  return { option: `--from ${parent.id}@${update}`, config: branchConfig(store, parent.id, update) };
}

function tree(config: object) {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, plain(value)]));
}

function groupOf({ key, title, description, variant, knobs }: DescribedGroup) {
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
