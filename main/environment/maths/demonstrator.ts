// Who can answer maths tasks without learning: the baselines, and a demonstrator that works the answer out in small
// steps, as people do on paper (working.ts), sometimes slips, and sometimes only makes a guess. Its thoughts are the working.

import type { Mistake, Turn } from '../environment.ts';
import type { Maths, MathsState } from './maths.ts';
import type { MathsTask } from './tasks.ts';
import { countdownSearch, innermostFirst, longMultiplication } from './working.ts';

export const MATHS_MISTAKES = {
  slip: { chance: 0.4, meaning: 'Chance of a slip somewhere in the working.', firstName: 'wrongWord' },
  guess: { chance: 0.4, meaning: 'Chance that the demonstrator only estimates and answers.', firstName: 'earlyPurchase' },
  detour: { chance: 0.1, meaning: 'Chance that the working begins with an estimate that brings nothing.', firstName: 'uselessClick' },
} as const satisfies Readonly<Record<string, Mistake>>;
type MathsMistakes = Readonly<Record<keyof typeof MATHS_MISTAKES, number>>;

/** Does not work anything out: adds up the numbers of the task. */
export function blind(maths: Maths, { state }: Turn<MathsState>): string {
  const { kind, numbers } = maths.taskOf(state);
  return kind === 'countdown' ? numbers.join('+') : String(numbers.reduce((sum, number) => sum + number, 0));
}

/** Multiplies with the smaller factor rounded to tens (exact where it has one digit); reaches goals with plus and minus alone. */
export function heuristic(maths: Maths, turn: Turn<MathsState>): string {
  const task = maths.taskOf(turn.state);
  if (task.kind === 'multiplication') return String(estimate(task));
  for (let signs = 0; signs < 2 ** (task.numbers.length - 1); signs++) {
    const minus = (index: number): boolean => index > 0 && ((signs >> (index - 1)) & 1) === 1;
    const sum = task.numbers.reduce((total, number, index) => total + (minus(index) ? -number : number), 0);
    if (sum === task.answer) return task.numbers.map((number, index) => (index === 0 ? '' : minus(index) ? '-' : '+') + number).join('');
  }
  return blind(maths, turn);
}

function estimate({ numbers }: MathsTask): number {
  const [small = 1, large = 1] = numbers.toSorted((a, b) => a - b);
  return large * (small < 10 ? small : Math.round(small / 10) * 10);
}

export function demonstrate(
  maths: Maths,
  turn: Turn<MathsState>,
  mistakes: MathsMistakes,
  random: () => number,
): { thought: string; action: string } {
  const task = maths.taskOf(turn.state);
  const hasty = random() < mistakes.guess;
  const detour = random() < mistakes.detour;
  const slip = random() < mistakes.slip ? random() : undefined;
  if (task.kind === 'multiplication') {
    if (hasty) return { thought: `about ${estimate(task)}`, action: String(estimate(task)) };
    const { thought, action } = longMultiplication(task, slip);
    return { thought: detour ? `about ${estimate(task)} no ${thought}` : thought, action };
  }
  const total = task.numbers.reduce((sum, number) => sum + number, 0);
  if (hasty) return { thought: `about ${total}`, action: blind(maths, turn) };
  const { thought, action } = (task.numbers.length === 3 ? countdownSearch(task, slip) : undefined) ?? knownAnswer(task, slip);
  return { thought: detour ? `about ${total} no ${thought}` : thought, action };
}

/** The answer that the task was made from, worked out; a slip takes a wrong operator. */
function knownAnswer({ solution }: MathsTask, slip: number | undefined): { thought: string; action: string } {
  const expression = slip === undefined ? solution : swapOperator(solution, slip);
  return { thought: innermostFirst(expression), action: expression };
}

function swapOperator(expression: string, place: number): string {
  const places = [...expression.matchAll(/[-+*/]/g)].map((match) => match.index);
  const at = places[Math.floor(place * places.length)] ?? 0;
  return `${expression.slice(0, at)}${expression.charAt(at) === '+' ? '-' : '+'}${expression.slice(at + 1)}`;
}
