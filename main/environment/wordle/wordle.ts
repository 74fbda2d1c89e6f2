// Wordle: find a word of five letters in six guesses. Guesses are spelled letter by letter, so that a policy can say words that it
// was never rewarded for; only words of the list may be guessed. The answers of the test split are never asked for in training.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { resourceFile } from '../../base/paths.ts';
import { Random } from '../../base/random.ts';
import { type Split, splits } from '../../base/vocabulary.ts';
import type { Environment, Grammar, Task, Turn } from '../environment.ts';
import type { FailureClass } from '../failures.ts';
import { tidy } from '../grammar.ts';
import { splitOfInstance } from '../grid.ts';
import { cluesFor, fits, type Guess, type Knowledge, LENGTH, letters, spelled } from './clues.ts';
import { drawWordlePage } from './page.ts';
import { wordleSayings, wordleView, wordleViewCorpus } from './view.ts';

export const wordleSettings = z.strictObject({
  words: z.int().min(50).max(1365).default(1365).describe('Words of the list that are used, chosen by the seed (50–1365).'),
  guesses: z.int().min(1).max(20).default(6).describe('Guesses of an episode (1–20).'),
  view: z
    .enum(['page', 'short', 'notes'])
    .default('page')
    .describe(
      'What a policy reads and says. `page`: the page. `short`: the clues of the latest guess alone, a letter with its place and its clue in one word. `notes`: as a player would write them down, only what the latest guess adds to earlier ones, an absent letter without its place.',
    ),
  spelled: z
    .boolean()
    .default(true)
    .describe(
      'Whether a policy spells its guesses letter by letter. Without it a word is one token; only where the view is short or notes.',
    ),
  openings: z
    .int()
    .min(1)
    .max(4)
    .default(1)
    .describe('First guesses that demonstrators always make, whatever the clues: together they try the most frequent letters (1–4).'),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Which words are used where it is not all of them.'),
});
type Settings = z.infer<typeof wordleSettings>;

export type WordleState = {
  readonly task: string;
  readonly steps: number;
  readonly guesses: readonly { readonly word: string; readonly clues: string }[];
  readonly done: boolean;
};

export interface Wordle extends Environment<WordleState> {
  readonly words: readonly string[];
  /** Good first guesses: letters that occur often, and that none of them has tried before. */
  readonly openings: readonly string[];
  /** The words that the clues leave. */
  candidates(guesses: readonly Guess[]): readonly string[];
}

export const WORDLE_FAILURES: readonly FailureClass[] = [
  {
    id: 'ignored-clues',
    title: 'Ignored clues',
    meaning: 'Ignored clues: at least two guesses could not have been the answer',
    counted: 'Failed episodes with at least two guesses that the clues had ruled out',
    detect(steps) {
      const ruledOut = steps.filter(({ facts }) => facts.consistent === false);
      return ruledOut.length >= 2
        ? `${ruledOut.length} of ${steps.length} guesses had been ruled out, for example “${ruledOut[0]?.action}”.`
        : undefined;
    },
  },
  {
    id: 'too-slow',
    title: 'Too slow',
    meaning: 'Too slow: the guesses ran out while several words were still possible',
    counted: 'Failed episodes that respected the clues',
    detect(steps) {
      const left = steps.at(-1)?.facts.left;
      return `${steps.length} guesses were not enough${typeof left === 'number' ? `; ${left} ${left === 1 ? 'word was' : 'words were'} still possible` : ''}.`;
    },
  },
];

function readWords({ words: count, seed }: Settings): string[] {
  const all = readFileSync(resourceFile('wordle', 'words.txt'), 'utf8').split('\n').filter(Boolean);
  return count >= all.length ? all : Random.from('wordle-words', seed).shuffle(all).slice(0, count).sort();
}

function makeTasks(words: readonly string[]): Task[] {
  return words.map((word, index) => {
    const twice = new Set(word).size < LENGTH;
    return {
      // Shown to whoever plays: it must not give the word away.
      id: `word-${index + 1}`,
      split: splitOfInstance('wordle', word),
      instruction: 'Find the word of five letters.',
      category: twice ? 'repeated letters' : 'different letters',
      tier: 'plain',
      target: word,
      level: 0,
    };
  });
}

function openingsOf(words: readonly string[], count: number): string[] {
  const having = (letter: string): number => words.filter((word) => word.includes(letter)).length;
  const counts = new Map([...'abcdefghijklmnopqrstuvwxyz'].map((letter) => [letter, having(letter)]));
  const worth = (word: string): number => [...new Set(word)].reduce((sum, letter) => sum + (counts.get(letter) ?? 0), 0);
  return Array.from({ length: count }, () => {
    const best = words.reduce((so, word) => (worth(word) > worth(so) ? word : so));
    for (const letter of best) counts.delete(letter);
    return best;
  });
}

/** The clues of a pair of words are asked for again and again: a demonstrated episode compares each guess with every word that is left. */
function remembered(clues: typeof cluesFor): typeof cluesFor {
  const rows = new Map<string, Map<string, string>>();
  return (guess, word) => {
    let row = rows.get(guess);
    if (!row) rows.set(guess, (row = new Map()));
    let found = row.get(word);
    if (found === undefined) row.set(word, (found = clues(guess, word)));
    return found;
  };
}

export function createWordle(input: unknown): Wordle {
  const settings = wordleSettings.parse(input ?? {});
  const { view } = settings;
  const words = readWords(settings);
  const known = new Set(words);
  const ordered = new Map<Split, readonly Task[]>();
  const tasks = makeTasks(words);
  const targets = new Map(tasks.map(({ id, target }) => [id, target]));
  for (const split of splits) ordered.set(split, Random.from('wordle-order', split).shuffle(tasks.filter((task) => task.split === split)));
  const grammar: Grammar = [
    [
      { kind: 'literal', text: 'guess ' },
      { kind: 'choice', options: words.map(spelled) },
    ],
  ];
  const sayings = wordleSayings(words, settings.spelled);
  const clueTable = remembered(cluesFor);
  const left = new Map<string, readonly string[]>([['', words]]);
  const candidates = (guesses: readonly Guess[]): readonly string[] => {
    const key = guesses.map(({ word, clues }) => word + clues).join(' ');
    let found = left.get(key);
    if (!found) {
      const last = guesses.at(-1);
      found = candidates(guesses.slice(0, -1)).filter((word) => clueTable(last?.word ?? '', word) === last?.clues);
      if (left.size > 20_000) left.clear();
      left.set('', words);
      left.set(key, found);
    }
    return found;
  };
  const wordOf = ({ task }: Pick<WordleState, 'task'>): string => {
    const word = targets.get(task);
    if (word === undefined) throw new Error(`Wordle has no task "${task}" with these settings`);
    return word;
  };
  return {
    name: 'wordle',
    settings,
    maxSteps: settings.guesses,
    rewardRange: [0, 1],
    returnRange: [0, 1],
    categories: ['different letters', 'repeated letters'],
    tiers: ['plain'],
    levels: 1,
    tasks: (split) => ordered.get(split) ?? [],
    reset(task) {
      wordOf({ task: task.id });
      const state: WordleState = { task: task.id, steps: 0, guesses: [], done: false };
      return turn(state, {
        observation: `TASK: ${task.instruction} ${describe(settings, state)}`,
        reason: 'start',
        facts: { kind: 'start' },
      });
    },
    step: (state, action) => guess(settings, { known, candidates }, wordOf(state), state, action),
    grammar: (state) => (state.done ? [] : grammar),
    ...(view !== 'page' && { view: (state: WordleState) => wordleView(view, state, settings.guesses, sayings) }),
    oracle: (state) => (state.done ? undefined : `guess ${spelled(wordOf(state))}`),
    lexicon: {
      *corpus() {
        if (view !== 'page') return yield* wordleViewCorpus(view, sayings, settings.guesses);
        yield 'TASK: Find the word of five letters. guess a b c d e f g h i j k l m n o p q r s t u v w x y z + ? - . = near absent none left';
        for (let count = 0; count <= settings.guesses; count++) yield `left ${count}`;
        yield 'Found. It was. Say guess and a word of the list, letter by letter. The episode is over. could be it any word';
      },
    },
    diagnostics: { failures: WORDLE_FAILURES },
    draw: drawWordlePage,
    words,
    openings: openingsOf(words, settings.openings),
    candidates,
  };
}

/** The latest guess with its clues, then what all guesses say together: the letters that are in place, near ones, absent ones. */
function describe({ guesses: most }: Settings, { guesses, steps }: WordleState): string {
  const last = guesses.at(-1);
  const rows = last ? [...last.word].map((letter, at) => `${letter} ${last.clues.charAt(at)}`).join(' ') : '';
  const right = Array.from({ length: LENGTH }, (_, at) => guesses.find(({ clues }) => clues.charAt(at) === '+')?.word.charAt(at) ?? '.');
  const known = letters(guesses);
  const those = (wanted: Knowledge): string =>
    [...known]
      .flatMap(([letter, what]) => (what === wanted ? [letter] : []))
      .sort()
      .join(' ') || 'none';
  return `${rows === '' ? '' : `${rows} = `}${right.join(' ')} near ${those('near')} absent ${those('absent')} left ${most - steps}`;
}

function turn(state: WordleState, rest: Partial<Turn<WordleState>>): Turn<WordleState> {
  return {
    state,
    observation: '',
    reward: 0,
    reason: 'not found yet',
    done: state.done,
    valid: true,
    success: false,
    clickables: [],
    facts: {},
    ...rest,
  };
}

interface Words {
  readonly known: ReadonlySet<string>;
  candidates(guesses: readonly Guess[]): readonly string[];
}

function guess(settings: Settings, { known, candidates }: Words, word: string, state: WordleState, action: string): Turn<WordleState> {
  if (state.done) {
    const over = { observation: 'The episode is over.', reason: 'the episode is over', valid: false, facts: { kind: 'invalid' } };
    return turn(state, over);
  }
  const steps = state.steps + 1;
  const out = steps >= settings.guesses;
  const said = /^guess ([a-z](?: [a-z]){4})$/.exec(tidy(action))?.[1]?.replaceAll(' ', '') ?? '';
  if (!known.has(said)) {
    const next = { ...state, steps, done: out };
    const observation = `Say guess and a word of the list, letter by letter. ${describe(settings, next)}`;
    return turn(next, { observation, reason: 'nothing happens', valid: false, facts: { kind: 'invalid' } });
  }
  const clues = cluesFor(said, word);
  const found = said === word;
  const next: WordleState = { ...state, steps, guesses: [...state.guesses, { word: said, clues }], done: found || out };
  const consistent = fits(said, state.guesses);
  const repeated = state.guesses.some((earlier) => earlier.word === said);
  const end = found ? 'Found. ' : out ? `It was ${spelled(word)}. ` : '';
  return turn(next, {
    observation: end + describe(settings, next),
    reward: found ? 1 : 0,
    reason: found ? 'found: +1' : 'not found: 0',
    success: found,
    facts: { kind: 'guess', consistent, repeated, left: candidates(next.guesses).length },
  });
}
