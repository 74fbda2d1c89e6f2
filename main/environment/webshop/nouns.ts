// The nouns of a product's title, lower case, repeated as often as they occur. The original asks spaCy's small English
// model; ours is wink-nlp, which runs here. It takes a moment to load, so it is loaded when the first purchase is judged.

import { createRequire } from 'node:module';

// Not named "require": the bundler adds a variable of that name to every chunk.
const requireHere = createRequire(import.meta.url);
const known = new Map<string, readonly string[]>();
const MOST_KNOWN = 20_000;

let read: ((title: string) => string[]) | undefined;

function load(): (title: string) => string[] {
  const winkNLP: typeof import('wink-nlp').default = requireHere('wink-nlp');
  const model: import('wink-nlp').Model = requireHere('wink-eng-lite-web-model');
  const nlp = winkNLP(model, ['sbd', 'pos']);
  const { its } = nlp;
  return (title) => {
    const tokens = nlp.readDoc(title).tokens();
    const parts = tokens.out(its.pos);
    const words = tokens.out(its.value);
    return words.filter((_, i) => parts[i] === 'NOUN' || parts[i] === 'PROPN').map((word) => word.toLowerCase());
  };
}

export function nounsOf(title: string): readonly string[] {
  let nouns = known.get(title);
  if (nouns === undefined) {
    read ??= load();
    nouns = read(title);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(title, nouns);
  }
  return nouns;
}
