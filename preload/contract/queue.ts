// Calls that set runs up and steer them: presets and schema for the form, checking what was typed, what it will cost,
// adding to the queue, and the words pause, one update, resume, stop.

import { z } from 'zod';
import { knobKinds } from '../../main/base/vocabulary.ts';
import { nothing } from './definition.ts';

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

export const queueCalls = {
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
  'queue.add': {
    input: z.strictObject({ order, preset: z.string().nullable(), tags: z.array(z.string().max(60)).max(20) }),
    answer: z.object({ runs: z.array(z.int()) }),
  },
  /** Before another waiting run, or at the end. */
  'queue.move': { input: z.strictObject({ run: z.int(), before: z.int().nullable() }), answer: nothing },
  'queue.steer': {
    input: z.strictObject({ run: z.int(), action: z.enum(['pause', 'resume', 'resumeOnCpu', 'restart', 'step', 'stop', 'cancel']) }),
    answer: nothing,
  },
};
