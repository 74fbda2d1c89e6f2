// The maths tasks of TinyZero, from a seed: multiplications, and countdown (reach a number with given ones, each used
// once). Three levels of difficulty. The split hangs on a hash of what the task is after, so nothing is asked in two splits.

import { Random } from '../../base/random.ts';
import type { Task } from '../environment.ts';
import type { Split } from '../../base/vocabulary.ts';

export const KINDS = ['multiplication', 'countdown'] as const;
export type Kind = (typeof KINDS)[number];
export const TIERS = ['small', 'medium', 'hard'] as const;

export interface MathsTask extends Task {
  readonly kind: Kind;
  readonly numbers: readonly number[];
  readonly answer: number;
  /** A right answer as it may be given: the product, or an expression. */
  readonly solution: string;
}

/** Ranges of the two factors by level: times tables, up to 30 × 30, up to 99 × 99. */
const FACTORS = [
  [2, 9, 11, 99],
  [11, 30, 11, 30],
  [11, 99, 11, 99],
] as const;

/** How many numbers countdown gives, and how large they are, by level. */
const COUNTDOWN = [
  { count: 3, largest: 12 },
  { count: 3, largest: 50 },
  { count: 4, largest: 99 },
] as const;

const LARGEST_GOAL = 999;

/** 60 / 20 / 20. */
function splitOf(key: string): Split {
  const share = Random.from('maths-split', key).next();
  return share < 0.6 ? 'train' : share < 0.8 ? 'validation' : 'test';
}

/** At most `count` tasks of a kind and level, all different, in random order. */
export function makeTasks(kind: Kind, level: number, count: number, seed: number): MathsTask[] {
  const random = Random.from('maths-tasks', kind, level, seed);
  const tasks = new Map<string, MathsTask>();
  // The small multiplications run out; after that many draws without anything new there are hardly any left.
  for (let misses = 0; tasks.size < count && misses < 200;) {
    const task = kind === 'multiplication' ? multiplication(level, random) : countdown(level, random);
    if (!task || tasks.has(task.id)) misses++;
    else {
      misses = 0;
      tasks.set(task.id, task);
    }
  }
  return [...tasks.values()];
}

function multiplication(level: number, random: Random): MathsTask {
  const [lowA, highA, lowB, highB] = FACTORS[level] ?? FACTORS[0];
  const factors = [lowA + random.below(highA - lowA + 1), lowB + random.below(highB - lowB + 1)] as const;
  const [a, b] = random.next() < 0.5 ? factors : [factors[1], factors[0]];
  const answer = a * b;
  return {
    id: `${TIERS[level]}-${a}x${b}`,
    // By the product: whoever has seen 8 × 9 is not tested on 6 × 12.
    split: splitOf(`product ${answer}`),
    instruction: `What is ${a} * ${b}?`,
    category: 'multiplication',
    tier: TIERS[level] ?? 'small',
    target: `product ${answer}`,
    level,
    kind: 'multiplication',
    numbers: [a, b],
    answer,
    solution: String(answer),
  };
}

/** Draws numbers and works out a random expression over them; undefined where no fit goal comes out. */
function countdown(level: number, random: Random): MathsTask | undefined {
  const { count, largest } = COUNTDOWN[level] ?? COUNTDOWN[0];
  const numbers = Array.from({ length: count }, () => 1 + random.below(largest));
  let pieces = random.shuffle(numbers).map((number) => ({ text: String(number), value: number, atom: true }));
  while (pieces.length > 1) {
    const [first, second, ...rest] = random.shuffle(pieces);
    if (!first || !second) return undefined;
    // The larger one first: no negative numbers on the way.
    const [a, b] = first.value >= second.value ? [first, second] : [second, first];
    const operators = ['+', ...(a.value > b.value ? ['-'] : []), '*', ...(a.value % b.value === 0 ? ['/'] : [])];
    const operator = random.pick(operators);
    const value =
      operator === '+'
        ? a.value + b.value
        : operator === '-'
          ? a.value - b.value
          : operator === '*'
            ? a.value * b.value
            : a.value / b.value;
    const wrap = (piece: typeof a): string => (piece.atom ? piece.text : `(${piece.text})`);
    pieces = [...rest, { text: `${wrap(a)}${operator}${wrap(b)}`, value, atom: false }];
  }
  const [whole] = pieces;
  if (!whole || whole.value > LARGEST_GOAL || numbers.includes(whole.value)) return undefined;
  const key = numbers.toSorted((a, b) => a - b).join(' ');
  return {
    id: `${TIERS[level]}-${numbers.join('-')}-to-${whole.value}`,
    split: splitOf(`numbers ${key}`),
    instruction: `Make ${whole.value} from ${numbers.join(', ')} with + - * / and brackets, each number once.`,
    category: 'countdown',
    tier: TIERS[level] ?? 'small',
    target: `${whole.value} from ${key}`,
    level,
    kind: 'countdown',
    numbers,
    answer: whole.value,
    solution: whole.text,
  };
}
