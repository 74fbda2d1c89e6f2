// The smallest complete world, to copy from (docs/ADD_AN_ENVIRONMENT.md walks through it): guess a number between 1 and 20;
// the world says "higher" or "lower". It passes the same property tests as the real worlds (worlds.test.ts).
import { z } from 'zod';
import type { Environment, Task, Turn, World } from '../../main/environment/environment.ts';
import { tidy } from '../../main/environment/grammar.ts';

type State = { readonly secret: number; readonly low: number; readonly high: number; readonly steps: number; readonly done: boolean };

const NUMBERS = Array.from({ length: 20 }, (_, index) => String(index + 1));
const SPLITS = ['train', 'train', 'train', 'validation', 'test'] as const;
const ASKED = { instruction: 'Find the number between 1 and 20.', category: 'numbers', tier: 'plain', level: 0 };
const TASKS: Task[] = NUMBERS.map((target) => ({ ...ASKED, id: `find-${target}`, target, split: SPLITS[Number(target) % 5] ?? 'train' }));

const settings = z.strictObject({ maxSteps: z.int().min(1).max(20).default(6).describe('Guesses that are allowed (1–20).') });

function create(input: unknown): Environment<State> {
  const chosen = settings.parse(input);

  function turn(state: State, observation: string, valid: boolean, success = false): Turn<State> {
    const [reward, reason] = success ? [1, 'found: +1'] : [0, 'not found yet'];
    return {
      state,
      observation,
      reward,
      reason,
      done: state.done,
      valid,
      success,
      clickables: [],
      facts: { kind: valid ? 'guess' : 'invalid' },
    };
  }

  function step(state: State, action: string): Turn<State> {
    const steps = state.steps + 1;
    const next = { ...state, steps, done: state.done || steps >= chosen.maxSteps };
    const word = /^guess (.*)$/.exec(tidy(action))?.[1] ?? '';
    if (state.done || !NUMBERS.includes(word)) return turn(next, 'Say guess and a number.', false);
    const guess = Number(word);
    if (guess === state.secret) return turn({ ...next, done: true }, 'Right.', true, true);
    if (guess < state.secret) return turn({ ...next, low: Math.max(state.low, guess + 1) }, 'Higher.', true);
    return turn({ ...next, high: Math.min(state.high, guess - 1) }, 'Lower.', true);
  }

  return {
    name: 'guess',
    settings: chosen,
    maxSteps: chosen.maxSteps,
    rewardRange: [0, 1],
    returnRange: [0, 1],
    categories: ['numbers'],
    tiers: ['plain'],
    levels: 1,
    tasks: (split) => TASKS.filter((task) => task.split === split),
    reset: (task) => turn({ secret: Number(task.target), low: 1, high: 20, steps: 0, done: false }, `TASK: ${task.instruction}`, true),
    step,
    grammar: (state) =>
      state.done
        ? []
        : [
            [
              { kind: 'literal', text: 'guess ' },
              { kind: 'choice', options: NUMBERS },
            ],
          ],
    oracle: (state) => (state.done ? undefined : `guess ${state.secret}`),
    lexicon: { corpus: () => [`TASK: ${ASKED.instruction} Higher. Lower. Right. Say guess and a number. any between`, NUMBERS.join(' ')] },
  };
}

const anything = (random: () => number): string => `guess ${1 + Math.floor(random() * 20)}`;
const middle = ({ state }: Turn<State>): string => `guess ${Math.floor((state.low + state.high) / 2)}`;

export const exampleWorld = {
  name: 'guess',
  title: 'Guess',
  summary: 'Find a number between 1 and 20 from "higher" and "lower".',
  settings,
  mistakes: { wrongWord: { chance: 0.4, meaning: 'Chance that any number is said.' } },
  create,
  blind: (_environment, _turn, random) => anything(random),
  heuristic: (_environment, turn) => middle(turn),
  demonstrate(_environment, turn, { wrongWord = 0 }, random) {
    if (random() < wrongWord) return { thought: 'any number', action: anything(random) };
    return { thought: `between ${turn.state.low} and ${turn.state.high}`, action: middle(turn) };
  },
} satisfies World<State>;
