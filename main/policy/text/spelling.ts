// Words by their letters. A token that has a spelling has no vector of its own: it is embedded as the sum of vectors of its letters, one
// for every letter at every place, and its logit is the sum of theirs. What was learned about a letter then holds for all words that
// have it, also for words that were never the answer. The embedding's rows: first the other tokens, then the letters, place by place.

import type { Graph, Tensor } from '../../engine/graph/graph.ts';

/** For every token its letters, or an empty text where it has a vector of its own. */
export type Spellings = readonly string[];

interface LetterRows {
  readonly alphabet: string;
  readonly places: number;
  /** Tokens with a vector of their own. */
  readonly whole: number;
}

function lettersOf(spellings: Spellings): LetterRows {
  return {
    alphabet: [...new Set(spellings.join(''))].sort().join(''),
    places: Math.max(...spellings.map((word) => word.length)),
    whole: spellings.filter((word) => word === '').length,
  };
}

/** Rows of the embedding. */
export function embeddingRows(spellings: Spellings): number {
  const { alphabet, places, whole } = lettersOf(spellings);
  return whole + places * alphabet.length;
}

/** Which rows of the embedding make up each token. */
export function spellingRows(spellings: Spellings): number[][] {
  const { alphabet, whole } = lettersOf(spellings);
  let next = 0;
  return spellings.map((word) => {
    if (word === '') return [next++];
    return Array.from({ length: word.length }, (_, place) => whole + place * alphabet.length + alphabet.indexOf(word.charAt(place)));
  });
}

/** The same as zeros and ones, [vocabulary, rows]. */
export function spellingTable(graph: Graph, spellings: Spellings): Tensor {
  const rows = embeddingRows(spellings);
  const table = new Float32Array(spellings.length * rows);
  for (const [token, letters] of spellingRows(spellings).entries()) for (const row of letters) table[token * rows + row] = 1;
  return graph.constant(table, [spellings.length, rows], 'float32', 'spelling');
}

/** Words of at least so many letters are spelled, all other tokens are not; undefined where there is none. */
export function spellingsOf(tokens: readonly string[], letters: number): Spellings | undefined {
  const spelled = new RegExp(String.raw`^\p{Ll}{${letters},}$`, 'u');
  const spellings = tokens.map((token) => (spelled.test(token) ? token : ''));
  return letters > 0 && spellings.some((word) => word !== '') ? spellings : undefined;
}
