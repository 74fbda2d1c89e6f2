// Wordle in short, for a small policy, which has earlier pages in its context. A letter, its place (a to e) and its clue are one word:
// r right, n near, o not in the word, m no more of it than the other clues say.
//
//   6
//   cao rbn acr ndo eeo 5      short: the latest guess, crane with - ? + - -
//   co rbn acr no eo 5         notes: an absent letter has no place, and nothing is written down twice

import type { View } from '../environment.ts';
import { type Guess, LENGTH, spelled } from './clues.ts';
import type { WordleState } from './wordle.ts';

const PLACES = 'abcde';
type Kind = 'short' | 'notes';

export const wordleSayings = (words: readonly string[], letters: boolean): ReadonlyMap<string, string> =>
  new Map(words.map((word) => [letters ? spelled(word) : word, `guess ${spelled(word)}`]));

export function wordleView(kind: Kind, { guesses, steps }: WordleState, most: number, sayings: ReadonlyMap<string, string>): View {
  const [last, ...earlier] = guesses.toReversed();
  const latest = last ? [...new Set(cluesOf(kind, last))] : [];
  const before = new Set(kind === 'notes' ? earlier.flatMap((guess) => cluesOf(kind, guess)) : []);
  return { text: [...latest.filter((clue) => !before.has(clue)), most - steps].join(' '), sayings };
}

const cluesOf = (kind: Kind, guess: Guess): string[] => Array.from({ length: LENGTH }, (_, at) => clue(kind, guess, at));

function clue(kind: Kind, { word, clues }: Guess, at: number): string {
  const letter = word.charAt(at);
  const here = letter + PLACES.charAt(at);
  const sign = clues.charAt(at);
  if (sign !== '-') return here + (sign === '+' ? 'r' : 'n');
  const elsewhere = [...word].some((other, place) => other === letter && clues.charAt(place) !== '-');
  if (elsewhere) return `${here}m`;
  return kind === 'notes' ? `${letter}o` : `${here}o`;
}

/** Every word that the view can show or that may be said in it. */
export function* wordleViewCorpus(kind: Kind, sayings: ReadonlyMap<string, string>, most: number): Generator<string> {
  for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
    for (const place of PLACES) yield [...(kind === 'notes' ? 'rnm' : 'rnom')].map((sign) => letter + place + sign).join(' ');
    if (kind === 'notes') yield `${letter}o`;
  }
  for (let left = 0; left <= most; left++) yield String(left);
  yield* sayings.keys();
  yield 'could be it any word';
}
