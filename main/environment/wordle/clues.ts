// What a guess reveals: each letter is right (in its place), near (elsewhere in the word) or absent, as in the original game, also
// where a letter occurs twice. A row of clues is a text of one sign per letter: + right, ? near, - absent.

export const LENGTH = 5;

/** `crane` as it is said: `c r a n e`. */
export const spelled = (word: string): string => [...word].join(' ');

/** Right letters are counted first; of the others as many are near as the word has left. */
export function cluesFor(guess: string, word: string): string {
  const left = new Map<string, number>();
  const signs = Array.from({ length: LENGTH }, (_, at) => {
    const letter = word.charAt(at);
    if (guess.charAt(at) === letter) return '+';
    left.set(letter, (left.get(letter) ?? 0) + 1);
    return '-';
  });
  return signs
    .map((sign, at) => {
      const count = left.get(guess.charAt(at)) ?? 0;
      if (sign === '+' || count === 0) return sign;
      left.set(guess.charAt(at), count - 1);
      return '?';
    })
    .join('');
}

export interface Guess {
  readonly word: string;
  readonly clues: string;
}

/** Whether a word could be the answer after these guesses. */
export const fits = (word: string, guesses: readonly Guess[]): boolean =>
  guesses.every(({ word: said, clues }) => cluesFor(said, word) === clues);

export type Knowledge = 'right' | 'near' | 'absent';

/** The best clue for every letter that was guessed. */
export function letters(guesses: readonly Guess[]): ReadonlyMap<string, Knowledge> {
  const known = new Map<string, Knowledge>();
  for (const { word, clues } of guesses) {
    [...word].forEach((letter, at) => {
      const now = clues.charAt(at) === '+' ? 'right' : clues.charAt(at) === '?' ? 'near' : 'absent';
      const before = known.get(letter);
      if (before === undefined || now === 'right' || (now === 'near' && before === 'absent')) known.set(letter, now);
    });
  }
  return known;
}
