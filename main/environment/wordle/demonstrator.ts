// Who can play Wordle without learning: `blind` guesses any word, `heuristic` the most frequent letters that no clue has excluded
// (it forgets where near letters cannot be), and the demonstrator opens with one or more words of frequent letters
// and continues with any word that fits all clues, with mistakes at adjustable rates.

import type { Mistake, Said, Turn } from '../environment.ts';
import { letters, spelled } from './clues.ts';
import type { Wordle, WordleState } from './wordle.ts';

export const WORDLE_MISTAKES = {
  forgets: { chance: 0.3, meaning: 'Chance of a guess that heeds the latest clues only.' },
  anyWord: { chance: 0.1, meaning: 'Chance of any word.' },
} as const satisfies Readonly<Record<string, Mistake>>;
type WordleMistakes = Readonly<Record<keyof typeof WORDLE_MISTAKES, number>>;

const pick = <T>(items: readonly T[], random: () => number): T | undefined => items[Math.floor(random() * items.length)];
const said = (word: string | undefined): string => `guess ${spelled(word ?? 'words')}`;

export const blind = (wordle: Wordle, _turn: Turn<WordleState>, random: () => number): string => said(pick(wordle.words, random));

/** A word without absent letters, with all right and near letters somewhere; places are not looked at. */
export function heuristic(wordle: Wordle, { state }: Turn<WordleState>, random: () => number): string {
  const known = letters(state.guesses);
  const fitting = wordle.words.filter(
    (word) =>
      [...known].every(([letter, what]) => (what === 'absent') !== word.includes(letter)) &&
      !state.guesses.some((guess) => guess.word === word),
  );
  return said(pick(fitting.length > 0 ? fitting : wordle.words, random));
}

export function demonstrate(wordle: Wordle, { state }: Turn<WordleState>, mistakes: WordleMistakes, random: () => number): Said {
  if (random() < mistakes.anyWord) return { thought: 'any word', action: said(pick(wordle.words, random)), mistake: true };
  const opening = wordle.openings[state.guesses.length];
  if (opening !== undefined) return { thought: 'could be it', action: said(opening) };
  const forgets = random() < mistakes.forgets;
  const remembered = forgets ? state.guesses.slice(-1) : state.guesses;
  return { thought: 'could be it', action: said(pick(wordle.candidates(remembered), random)), ...(forgets && { mistake: true }) };
}
