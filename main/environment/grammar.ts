// What may be said, as data: decides whether a text is an action that a grammar allows, and brings actions into the
// one form in which every world reads them. A policy's masks are built from the same grammars (policy/grammar-mask.ts),
// so "the grammar admits it" and "step accepts it" must never differ; the property tests hold all worlds to that.

import type { Grammar, GrammarPart, View } from './environment.ts';

/** Longer texts are never actions: bounds the work that a hostile or runaway policy can cause. */
export const LONGEST_ACTION = 1000;

/** The form in which worlds read an action: composed, lower case, control characters and white space as single spaces. */
export function tidy(action: string): string {
  if (action.length > LONGEST_ACTION) return '';
  // The lower case of a few letters is not composed (İ), so compose last.
  return action
    .toLowerCase()
    .normalize('NFC')
    .replace(/[\p{White_Space}\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
}

/** Whether the grammar allows this action, however it is capitalised or spaced. */
export function admits(grammar: Grammar, action: string): boolean {
  const text = tidy(action);
  return text !== '' && grammar.some((parts) => matches(parts, text));
}

const viewGrammars = new Map<string, Grammar>();
const MOST_VIEW_GRAMMARS = 10_000;

/** What may be said in a view. Views with the same sayings share one grammar, and with it the masks that are made from it. */
export function grammarOfView({ sayings }: View): Grammar {
  const key = [...sayings.keys()].join('\n');
  let grammar = viewGrammars.get(key);
  if (grammar === undefined) {
    const things = new Map<string, string[]>();
    for (const saying of sayings.keys()) {
      const [verb = '', ...thing] = saying.split(' ');
      const known = things.get(verb) ?? [];
      if (thing.length > 0) known.push(thing.join(' '));
      things.set(verb, known);
    }
    grammar = [...things].map(([verb, options]): readonly GrammarPart[] =>
      options.length === 0
        ? [{ kind: 'literal', text: verb }]
        : [
            { kind: 'literal', text: `${verb} ` },
            { kind: 'choice', options },
          ],
    );
    if (viewGrammars.size >= MOST_VIEW_GRAMMARS) viewGrammars.clear();
    viewGrammars.set(key, grammar);
  }
  return grammar;
}

/** A sentence for people, such as `search WORDS (at most 8) | click ID`. */
export function describe(grammar: Grammar): string {
  return grammar.map((parts) => parts.map(describePart).join('')).join('  |  ');
}

function describePart(part: GrammarPart): string {
  switch (part.kind) {
    case 'literal':
      return part.text;
    case 'choice':
      return part.options.length <= 8
        ? `<${part.options.join(' | ')}>`
        : `<${part.options.slice(0, 3).join(' | ')} | … ${part.options.length} in all>`;
    case 'words':
      return part.from ? `<1–${part.max} of: ${part.from.join(', ')}>` : `<1–${part.max} words>`;
    case 'characters':
      return `<1–${part.max} of the characters ${part.from}>`;
  }
}

/** Follows all ways through the parts at once: the set of positions in the text that each part can end at. */
function matches(parts: readonly GrammarPart[], text: string): boolean {
  let ends = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const start of ends) for (const end of endsOf(part, text, start)) next.add(end);
    if (next.size === 0) return false;
    ends = next;
  }
  return ends.has(text.length);
}

function* endsOf(part: GrammarPart, text: string, start: number): Generator<number> {
  switch (part.kind) {
    case 'literal':
      if (text.startsWith(part.text, start)) yield start + part.text.length;
      return;
    case 'choice':
      for (const option of part.options) if (text.startsWith(option, start)) yield start + option.length;
      return;
    case 'words': {
      const word = /[^ ]+/y;
      let position = start;
      for (let count = 0; count < part.max; count++) {
        word.lastIndex = position;
        const found = word.exec(text);
        if (!found) return;
        // What follows may stand directly at the last word (`search[red shoes]`), so each beginning of it is an end too.
        for (let length = 1; length <= found[0].length; length++) {
          if (!part.from || part.from.includes(found[0].slice(0, length))) yield position + length;
        }
        if (part.from && !part.from.includes(found[0])) return;
        position += found[0].length + 1;
      }
      return;
    }
    case 'characters':
      for (let end = start; end < text.length && end - start < part.max && part.from.includes(text.charAt(end)); end++) yield end + 1;
  }
}
