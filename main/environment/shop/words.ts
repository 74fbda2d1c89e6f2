// Words as the shop understands them: lower case, without punctuation, without plural, synonyms replaced. Names, tasks
// and searches all go through here, so they can only ever be compared in the same form.

/** `Timeless sneakers!` → `timeless`, `sneakers`. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFC')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Takes an English plural off; what remains need not be a word, only be the same for singular and plural. */
export function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:ch|sh|x|ss)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && /[^siu]s$/.test(word)) return word.slice(0, -1);
  return word;
}

/** Synonym → the words it stands for, all in the singular. */
export type Synonyms = ReadonlyMap<string, readonly string[]>;

export function synonymsFrom(entries: Readonly<Record<string, string>>): Synonyms {
  return new Map(Object.entries(entries).map(([say, mean]) => [singular(say), wordsOf(mean).map(singular)]));
}

/** The different canonical words of a text, in order. */
export function canonical(text: string, synonyms: Synonyms): string[] {
  const found = new Set<string>();
  for (const word of wordsOf(text)) {
    const one = singular(word);
    for (const meaning of synonyms.get(one) ?? [one]) found.add(meaning);
  }
  return [...found];
}
