// `lab play WORLD`: play an episode interactively, or scripted with --actions FILE (one action a line). Shows what an agent
// would see, what may be said, what each step paid and why, and on `?` what the oracle would do.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Option, type Command } from 'commander';
import type { Environment, Task, Turn, World } from '../environment/environment.ts';
import { describe } from '../environment/grammar.ts';
import { catalog } from './shared/catalog.ts';
import { answer, CallError, dataFolder, note, wantsJson } from './shared/output.ts';
import { addWorldOptions, makeEnvironment, namedWorld, type WorldOptions } from './shared/world-options.ts';

const SPLITS = ['test', 'validation', 'train'] as const;
const LARGEST_SCRIPT = 16 * 1024 * 1024;

interface PlayOptions extends WorldOptions {
  readonly actions?: string;
  readonly model?: string;
  readonly adapter?: string;
  readonly task?: string;
  readonly instruction?: string;
  readonly level?: number;
  readonly split: (typeof SPLITS)[number];
  readonly list?: boolean;
}

interface PlayedStep {
  readonly action: string;
  readonly valid: boolean;
  readonly observation: string;
  readonly clickables: readonly string[];
  readonly reward: number;
  readonly reason: string;
  readonly done: boolean;
}

export function register(program: Command): void {
  const command = program
    .command('play')
    .description('play a world interactively')
    .argument(
      '<world>',
      `one of ${catalog()
        .worlds.map(({ name }) => name)
        .join(', ')}`,
    )
    .option('--actions <file>', 'take the actions from a file, one a line (- is standard input)')
    .option('--model <name>', 'let a language model of `lab models` act')
    .option('--adapter <dir>', 'with --model: a PEFT adapter on top of it')
    .option('--task <id>', 'the task to play (see --list)')
    .option('--instruction <text>', 'the task with this text (some worlds match loosely: their page says how)');
  addWorldOptions(command)
    .option('--level <n>', 'curriculum level of the world (default: the whole world)', wholeNumber)
    .option('--list', 'list the tasks instead of playing')
    .addOption(new Option('--split <name>', 'which tasks --list shows').choices(SPLITS).default('test'))
    .action(async (name: string, options: PlayOptions) => {
      const world = namedWorld(name);
      const environment = makeEnvironment(world, options);
      if (options.list) return listTasks(environment, options);
      const task = chooseTask(world, environment, options);
      const turn = environment.reset(task, 0, checkLevel(environment, task, options.level));
      if (options.actions !== undefined) return playScript(environment, task, turn, readActions(options.actions));
      if (options.model !== undefined) {
        const { modelActions } = await import('../replay/model-player.ts'); // only who asks for it waits for the engine
        const { asCall } = await import('./models.ts');
        const player = { dataFolder: dataFolder(), model: options.model, adapter: options.adapter, level: options.level };
        const actions = await modelActions(catalog(), world, environment, task, player).catch((error: unknown) => {
          throw asCall(error);
        });
        return playScript(environment, task, turn, actions);
      }
      if (wantsJson())
        throw new CallError('--json needs --actions FILE or --model NAME: interactive play has no single document as its result');
      return playByHand(environment, task, turn);
    });
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new CallError(`--level takes a whole number, not "${text}"`);
  return Number(text);
}

function chooseTask(world: World, environment: Environment, options: PlayOptions): Task {
  const all = (): Task[] => SPLITS.flatMap((split) => [...environment.tasks(split)]);
  if (options.instruction !== undefined) {
    const text = options.instruction.trim();
    const task = environment.findTask
      ? environment.findTask(text)
      : all().find(({ instruction }) => instruction.toLowerCase() === text.toLowerCase());
    if (!task)
      throw new CallError(
        `${environment.name} has no task with the text "${text}"`,
        `npm run lab -- play ${environment.name} --list shows the tasks`,
      );
    return task;
  }
  const wanted = options.task ?? world.example;
  const task = wanted === undefined ? environment.tasks('test')[0] : all().find(({ id }) => id === wanted);
  // The example belongs to the built-in data; with other data the first task will do.
  const chosen = task ?? (options.task === undefined ? all()[0] : undefined);
  if (!chosen)
    throw new CallError(
      `${environment.name} has no task "${wanted ?? ''}"`,
      `npm run lab -- play ${environment.name} --list shows the tasks`,
    );
  return chosen;
}

function checkLevel(environment: Environment, task: Task, level: number | undefined): number | undefined {
  if (level === undefined) return undefined;
  if (level >= environment.levels) throw new CallError(`${environment.name} has levels 0 to ${environment.levels - 1}, not ${level}`);
  if (level < task.level) throw new CallError(`Task ${task.id} first occurs at level ${task.level}, not at ${level}`);
  return level;
}

function listTasks(environment: Environment, options: PlayOptions): void {
  const level = options.level ?? environment.levels - 1;
  const tasks = environment.tasks(options.split, level);
  const rows = tasks.map(({ id, split, tier, category, level: first, instruction }) => ({
    id,
    split,
    tier,
    category,
    level: first,
    instruction,
  }));
  const width = Math.max(4, ...rows.map(({ id }) => id.length));
  answer(
    rows,
    rows
      .map(({ id, tier, category, instruction }) => `${id.padEnd(width)}  ${tier.padEnd(12)} ${category.padEnd(14)} ${instruction}`)
      .join('\n'),
  );
}

function readActions(file: string): string[] {
  if (file !== '-' && statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false)
    throw new CallError(`There is no file ${file} with actions`, 'Expected a text file with one action a line, or - for standard input');
  const lines = readBounded(file === '-' ? 0 : file).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Reads no more than a list of actions can have: a device or a pipe may never end, and its size says nothing. */
function readBounded(file: string | 0): string {
  const handle = file === 0 ? 0 : openSync(file, 'r');
  const buffer = Buffer.alloc(LARGEST_SCRIPT + 1);
  let length = 0;
  try {
    for (let read = -1; read !== 0 && length < buffer.length; length += read) read = readSome(handle, buffer, length);
  } finally {
    if (file !== 0) closeSync(handle);
  }
  if (length > LARGEST_SCRIPT)
    throw new CallError(
      `${file === 0 ? 'Standard input' : file} has more than ${LARGEST_SCRIPT} bytes; a list of actions has one short line each`,
    );
  return buffer.toString('utf8', 0, length);
}

/** A pipe may have nothing yet (EAGAIN); its end is no error. */
function readSome(handle: number, buffer: Buffer, at: number): number {
  for (;;) {
    try {
      return readSync(handle, buffer, at, buffer.length - at, null);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

function playScript(environment: Environment, task: Task, start: Turn, actions: readonly string[]): void {
  const steps: PlayedStep[] = [];
  let turn = start;
  for (const action of actions) {
    if (turn.done) {
      note(`The episode was over after ${steps.length} steps: ${actions.length - steps.length} further actions were not used.`);
      break;
    }
    turn = environment.step(turn.state, action);
    const { valid, observation, clickables, reward, reason, done } = turn;
    steps.push({ action, valid, observation, clickables, reward, reason, done });
  }
  const total = steps.reduce((sum, { reward }) => sum + reward, 0);
  const { id, split, instruction, category, tier } = task;
  const text = [
    start.observation,
    ...steps.flatMap(({ action, observation, reward, reason }) => [`> ${action}`, observation, `  reward ${reward} (${reason})`]),
    `return ${total}, ${turn.success ? 'success' : turn.done ? 'no success' : 'not finished'}`,
  ];
  answer(
    {
      task: { id, split, instruction, category, tier, observation: start.observation },
      steps,
      return: total,
      success: turn.success,
    },
    text.join('\n'),
  );
}

async function playByHand(environment: Environment, task: Task, start: Turn): Promise<void> {
  const input = createInterface({ input: process.stdin });
  let steps = 0;
  let turn = start;
  let total = 0;
  const show = (): void => {
    note(turn.observation);
    if (turn.done) return;
    if (environment.view) note(`  in short: ${environment.view(turn.state).text}`);
    if (turn.clickables.length > 0) note(`  here: ${turn.clickables.join(', ')}`);
    note(`  say: ${describe(environment.grammar(turn.state))}`);
    process.stderr.write(`${steps + 1}> `);
  };
  note(`${environment.name}, task ${task.id} (${task.tier}, ${task.category}). ? shows the oracle's choice, an empty line ends.\n`);
  show();
  for await (const line of input) {
    if (line.trim() === '') break;
    if (line.trim() === '?') {
      note(`  the oracle would say: ${environment.oracle(turn.state) ?? 'nothing, it has no answer here'}`);
      process.stderr.write(`${steps + 1}> `);
      continue;
    }
    turn = environment.step(turn.state, line);
    steps++;
    total += turn.reward;
    note(`  reward ${turn.reward} (${turn.reason})${turn.valid ? '' : ', not a valid action'}\n`);
    show();
    if (turn.done) break;
  }
  input.close();
  answer({}, `return ${total} after ${steps} steps, ${turn.success ? 'success' : turn.done ? 'no success' : 'not finished'}`);
}
