// `world.json`: what a world in another process says about itself. Only `name` and `command` (or `url`) are needed; every other
// field has a default that suits a small text game. Mistakes are reported field by field, for the person who wrote it.

import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Plain, Task } from '../environment.ts';
import { splits, type Split } from '../../base/vocabulary.ts';

export const MANIFEST = 'world.json';

const plain: z.ZodType<Plain> = z.json();

const listedTask = z.strictObject({
  id: z.string().min(1).max(200).describe('Unique in the world.'),
  instruction: z.string().min(1).max(10_000).optional().describe('What is wanted, in words. Default: the instruction of the world.'),
  seed: z.int().min(0).optional().describe('The seed the world is reset with. Default: the place of the task in the list.'),
  category: z.string().min(1).max(100).default('all').describe('A column in the evaluation.'),
  tier: z.string().min(1).max(100).default('all').describe('A column in the evaluation, for example its difficulty.'),
  target: z.string().min(1).optional().describe('What the task is after; no target may be in two splits. Default: the id.'),
  data: plain.optional().describe('Anything; the world gets it as `task_data` with `reset`.'),
});
type ListedTask = z.infer<typeof listedTask>;
const taskList = z.array(listedTask).min(1).max(1_000_000);

const split = z.union([z.int().min(1).max(1_000_000), taskList, z.string().min(1)], {
  error: 'expected a number of seeds (500), a list of tasks, or the name of a JSON file with such a list',
});

const setting = z.strictObject({
  default: z.union([z.string(), z.number(), z.boolean()]),
  description: z.string().min(3),
  options: z.array(z.string()).min(1).optional(),
});

const seconds = (value: number, what: string) => z.number().gt(0).max(86_400).default(value).describe(what);

export const worldManifest = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected small letters, digits and hyphens, for example frozen-lake')
      .describe('How the world is called on the command line and in configs.'),
    title: z.string().min(1).max(80).optional().describe('For people. Default: the name.'),
    summary: z.string().max(500).default('A world in another process.').describe('One or two sentences for people who choose a world.'),
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('The program and its arguments; it is started in the folder of world.json.'),
    url: z
      .string()
      .regex(/^ws:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d+(\/\S*)?$/, 'expected an address on this machine such as ws://127.0.0.1:8000/ws')
      .optional()
      .describe('Instead of `command`: a running OpenEnv server on this machine.'),
    maxSteps: z.int().min(1).max(10_000).default(20).describe('An episode ends after so many actions.'),
    splits: z
      .partialRecord(z.enum(splits), split)
      .default({ train: 500, validation: 100, test: 100 })
      .describe('Tasks of each split: a number (a range of seeds), a list, or a JSON file with a list.'),
    observation: z.string().min(1).default('text').describe('The field of the observation that holds the page.'),
    action: z.string().min(1).default('message').describe('The field of the action that holds what is said.'),
    instruction: z.string().min(1).max(10_000).optional().describe('Instruction of every task that has none. Default: the title.'),
    actions: z
      .array(z.string().min(1))
      .min(1)
      .max(10_000)
      .optional()
      .describe('The only actions there are, where they are always the same.'),
    words: z.int().min(1).max(200).default(8).describe('Where nothing lists the actions, they are free text of at most so many words.'),
    reward: z.tuple([z.number(), z.number()]).optional().describe('Lowest and highest reward of a step; rewards outside end the run.'),
    success: z.number().optional().describe('An episode is a success when its return reaches this. Default: the last reward is above 0.'),
    episodes: z.int().min(1).max(10_000).default(1).describe('Episodes that one process can keep apart (by `episode_id`) at once.'),
    processes: z.int().min(1).max(64).default(2).describe('Processes (or connections) of one run.'),
    seconds: z
      .strictObject({
        start: seconds(30, 'Until the first answer.'),
        message: seconds(10, 'For each later answer.'),
        episode: seconds(600, 'For all answers of one episode together.'),
      })
      .prefault({})
      .describe('Time limits.'),
    bytes: z.int().min(100).max(50_000_000).default(1_000_000).describe('The longest answer.'),
    oracle: z.boolean().default(false).describe('Every answer carries `oracle`, the best next action: the lab can then demonstrate.'),
    digits: z.enum(['whole', 'single']).default('whole').describe('`single`: a small policy reads numbers digit by digit (arithmetic).'),
    corpus: z
      .string()
      .min(1)
      .optional()
      .describe('A text file with every word that is shown. Default: the lab plays at random and listens.'),
    settings: z
      .record(z.string().regex(/^[a-zA-Z][a-zA-Z0-9]*$/), setting)
      .default({})
      .describe('What users may set; the world gets them as `settings` with `reset`.'),
  })
  .superRefine((manifest, context) => {
    const fault = (path: string, message: string): void => void context.addIssue({ code: 'custom', path: [path], message });
    if ((manifest.command === undefined) === (manifest.url === undefined)) fault('command', 'expected either command or url');
    if (manifest.reward && manifest.reward[0] > manifest.reward[1]) fault('reward', 'expected the lowest reward first');
    if (manifest.url !== undefined && manifest.episodes > 1) fault('episodes', 'expected 1: an OpenEnv connection holds one episode');
  });
export type WorldManifest = z.infer<typeof worldManifest>;

/** The manifest is missing, is not JSON or does not fit. */
export class ManifestError extends Error {
  override name = 'ManifestError';
  readonly code = 'bad-manifest';
}

export function readManifest(folder: string): WorldManifest {
  const file = join(folder, MANIFEST);
  if (!existsSync(file)) {
    throw new ManifestError(
      `There is no ${MANIFEST} in ${folder}. Expected at least {"name": "my-world", "command": ["python3", "world.py"]}`,
    );
  }
  const parsed = worldManifest.safeParse(readJson(file));
  if (!parsed.success) throw new ManifestError(`${file} does not fit:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ManifestError(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A file that the manifest names; it must lie in the folder. */
export function fileInside(folder: string, name: string): string {
  const file = resolve(folder, name);
  if (relative(folder, file).startsWith('..') || !existsSync(file)) {
    throw new ManifestError(`${MANIFEST} of ${folder} names the file "${name}", which is not in that folder`);
  }
  return file;
}

/** A task with what its world is reset with. */
export interface ExternalTask extends Task {
  readonly worldSeed: number;
  /** Null: the task is a seed and nothing else. */
  readonly listed: { readonly data: Plain } | null;
}

/** All tasks; the seeds of splits without a list follow each other, so that no two splits share one. */
export function tasksOf(manifest: WorldManifest, folder: string): ReadonlyMap<Split, readonly ExternalTask[]> {
  const instruction = manifest.instruction ?? manifest.title ?? manifest.name;
  let next = 0;
  const tasks = new Map<Split, readonly ExternalTask[]>();
  for (const name of splits) {
    const given = manifest.splits[name];
    if (given === undefined) tasks.set(name, []);
    else if (typeof given === 'number') {
      const first = next;
      next += given;
      tasks.set(
        name,
        Array.from({ length: given }, (_, index) => seedTask(name, first + index, instruction)),
      );
    } else {
      const list = typeof given === 'string' ? readTasks(folder, given) : given;
      tasks.set(
        name,
        list.map((task, index) => listedTaskOf(name, task, index, instruction)),
      );
    }
  }
  refuseOverlap([...tasks.values()].flat(), folder);
  return tasks;
}

function seedTask(name: Split, seed: number, instruction: string): ExternalTask {
  const id = `seed-${seed}`;
  return { id, split: name, instruction, category: 'all', tier: 'all', target: id, level: 0, worldSeed: seed, listed: null };
}

function listedTaskOf(name: Split, task: ListedTask, index: number, instruction: string): ExternalTask {
  const { id, category, tier, target = id, seed = index, data = null } = task;
  return {
    id,
    split: name,
    instruction: task.instruction ?? instruction,
    category,
    tier,
    target,
    level: 0,
    worldSeed: seed,
    listed: { data },
  };
}

function readTasks(folder: string, name: string): ListedTask[] {
  const file = fileInside(folder, name);
  const parsed = taskList.safeParse(readJson(file));
  if (!parsed.success) throw new ManifestError(`${file} is not a list of tasks:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function refuseOverlap(tasks: readonly ExternalTask[], folder: string): void {
  const ids = new Set<string>();
  const owner = new Map<string, Split>();
  for (const { id, target, split: name } of tasks) {
    if (ids.has(id)) throw new ManifestError(`${folder}: two tasks have the id "${id}"; ids must be unique`);
    ids.add(id);
    const other = owner.get(target);
    if (other !== undefined && other !== name) {
      throw new ManifestError(
        `${folder}: the target "${target}" is in the splits ${other} and ${name}; results on tasks that were trained on mean nothing`,
      );
    }
    owner.set(target, name);
  }
}
