// TinyZero's maths tasks as a world of one turn: the answer ends the episode. A right answer pays 1, one that is well
// formed but wrong 0.1 (TinyZero's format score), anything else 0. Answers are parsed, never run as code.

import { z } from 'zod';
import { Random } from '../../base/random.ts';
import type { Environment, Grammar, Turn } from '../environment.ts';
import { type Split, splits } from '../../base/vocabulary.ts';
import type { FailureClass } from '../failures.ts';
import { admits, tidy } from '../grammar.ts';
import { equals, readExpression } from './expression.ts';
import { KINDS, makeTasks, TIERS, type MathsTask } from './tasks.ts';

export const mathsSettings = z.strictObject({
  kind: z
    .enum(['both', ...KINDS])
    .default('both')
    .describe('What is asked: multiplications, countdown (reach a number with the given ones), or both.'),
  hardest: z
    .enum(TIERS)
    .default('hard')
    .describe('Hardest level there is: small, medium or hard. Countdown gives three numbers up to medium, four at hard.'),
  tasksPerLevel: z
    .int()
    .min(10)
    .max(20_000)
    .default(1500)
    .describe('Tasks made for each kind and level, over all splits (10–20000); the small multiplications run out earlier.'),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Seed of the task generator: another number, other tasks.'),
});

export type MathsState = { readonly task: string; readonly done: boolean };

export interface Maths extends Environment<MathsState> {
  taskOf(state: MathsState): MathsTask;
}

export const MATHS_FAILURES: readonly FailureClass[] = [
  {
    id: 'wrong-answer',
    title: 'Wrong answers',
    meaning: 'Wrong answer: well formed, but wrong',
    counted: 'Episodes that end with a wrong answer',
    detect(steps) {
      const last = steps.at(-1);
      if (last?.facts.kind !== 'answer') return undefined;
      const why = last.facts.rightValue === true ? 'the value is right, but not with exactly the given numbers' : 'which is wrong';
      return `Answered “${last.action}”: ${last.facts.wellFormed === false ? 'not an expression' : why}.`;
    },
  },
];

const RIGHT = 1;
const WELL_FORMED = 0.1;

const GRAMMARS: Readonly<Record<MathsTask['kind'], Grammar>> = {
  multiplication: [[{ kind: 'characters', max: 6, from: '0123456789' }]],
  countdown: [[{ kind: 'characters', max: 32, from: '0123456789+-*/()' }]],
};

export function createMaths(input: unknown): Maths {
  const settings = mathsSettings.parse(input ?? {});
  const kinds = settings.kind === 'both' ? KINDS : [settings.kind];
  const tiers = TIERS.slice(0, TIERS.indexOf(settings.hardest) + 1);
  const tasks = kinds.flatMap((kind) => tiers.flatMap((_, level) => makeTasks(kind, level, settings.tasksPerLevel, settings.seed)));
  const taskById = new Map(tasks.map((task) => [task.id, task]));
  const ordered = new Map<Split, readonly MathsTask[]>();
  for (const split of splits) {
    ordered.set(split, Random.from('maths-order', split, settings.seed).shuffle(tasks.filter((task) => task.split === split)));
  }

  function taskOf(state: MathsState): MathsTask {
    const task = taskById.get(state.task);
    if (!task) throw new Error(`The maths world has no task "${state.task}" with these settings`);
    return task;
  }

  function reset(task: { readonly id: string }): Turn<MathsState> {
    const state: MathsState = { task: task.id, done: false };
    const observation = `TASK: ${taskOf(state).instruction}`;
    return {
      state,
      observation,
      reward: 0,
      reason: 'start',
      done: false,
      valid: true,
      success: false,
      clickables: [],
      facts: { kind: 'start' },
    };
  }

  function step(state: MathsState, action: string): Turn<MathsState> {
    const task = taskOf(state);
    const valid = !state.done && admits(GRAMMARS[task.kind], action);
    const expression = valid ? readExpression(tidy(action)) : undefined;
    const rightNumbers = expression !== undefined && (task.kind === 'multiplication' || sameNumbers(expression.numbers, task.numbers));
    const rightValue = expression !== undefined && equals(expression.value, task.answer);
    const success = rightNumbers && rightValue;
    const wrong = rightValue ? 'the value is right, but not with exactly the given numbers' : 'well formed, but wrong';
    return {
      state: { ...state, done: true },
      observation: state.done ? 'The episode is over.' : success ? 'Right.' : expression ? 'Wrong.' : 'Not an answer.',
      reward: success ? RIGHT : expression ? WELL_FORMED : 0,
      reason: success ? 'right: +1' : expression ? `${wrong}: +${WELL_FORMED}` : 'not an answer: 0',
      done: true,
      valid,
      success,
      clickables: [],
      facts: { kind: valid ? 'answer' : 'invalid', wellFormed: expression !== undefined, rightNumbers, rightValue },
    };
  }

  return {
    name: 'maths',
    settings,
    maxSteps: 1,
    rewardRange: [0, RIGHT],
    returnRange: [0, RIGHT],
    categories: kinds,
    tiers,
    levels: tiers.length,
    tasks: (split, level = tiers.length - 1) => (ordered.get(split) ?? []).filter((task) => task.level <= level),
    reset,
    step,
    grammar: (state) => (state.done ? [] : GRAMMARS[taskOf(state).kind]),
    oracle: (state) => (state.done ? undefined : taskOf(state).solution),
    lexicon: {
      *corpus() {
        for (const { instruction } of tasks) yield instruction;
        yield 'TASK: Right. Wrong. Not an answer. The episode is over.';
        yield '0 1 2 3 4 5 6 7 8 9 + - * / ( ) = : , no so about';
      },
      digits: 'single',
    },
    diagnostics: { failures: MATHS_FAILURES },
    taskOf,
  };
}

function sameNumbers(used: readonly number[], given: readonly number[]): boolean {
  const sorted = (numbers: readonly number[]): string => numbers.toSorted((a, b) => a - b).join(' ');
  return sorted(used) === sorted(given);
}
