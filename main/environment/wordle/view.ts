// Wordle in short, for a small policy: the clues of the latest guess, earlier ones being in its context. A letter, its place (a to e) and
// its clue are one word: r right, n near, o not in the word, m no more of it than the other clues say.
//
//   6
//   cao rbn acr ndo eeo 5      crane with - ? + - -

import type { View } from '../environment.ts';
import { LENGTH, spelled } from './clues.ts';
import type { WordleState } from './wordle.ts';

const PLACES = 'abcde';

export const wordleSayings = (words: readonly string[]): ReadonlyMap<string, string> =>
  new Map(words.map((word) => [spelled(word), `guess ${spelled(word)}`]));

export function wordleView({ guesses, steps }: WordleState, most: number, sayings: ReadonlyMap<string, string>): View {
  const last = guesses.at(-1);
  const clues = last ? [...last.word].map((letter, at) => letter + PLACES.charAt(at) + clue(last.word, last.clues, at)) : [];
  return { text: [...clues, most - steps].join(' '), sayings };
}

function clue(word: string, clues: string, at: number): string {
  const sign = clues.charAt(at);
  if (sign !== '-') return sign === '+' ? 'r' : 'n';
  const elsewhere = [...word].some((letter, other) => letter === word.charAt(at) && clues.charAt(other) !== '-');
  return elsewhere ? 'm' : 'o';
}

/** Every word that the view can show or that may be said in it. */
export function* wordleViewCorpus(words: readonly string[], most: number): Generator<string> {
  for (const letter of 'abcdefghijklmnopqrstuvwxyz')
    for (let at = 0; at < LENGTH; at++) yield [...'rnom'].map((sign) => letter + PLACES.charAt(at) + sign).join(' ');
  for (let left = 0; left <= most; left++) yield String(left);
  for (const word of words) yield spelled(word);
  yield 'could be it any word';
}
