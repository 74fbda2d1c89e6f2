// The grammar explained to people: why an action is refused, and which actions can be picked instead of typed.
// Works on the grammar alone, so a new world needs nothing here.

import type { Grammar, GrammarPart } from './environment.ts';
import { admits, describe, LONGEST_ACTION, tidy } from './grammar.ts';

/** Why the grammar does not allow this action, and what it does allow; null when it does. */
export function refusal(grammar: Grammar, action: string): string | null {
  if (grammar.length === 0) return 'The episode is over: nothing can be said any more.';
  if (admits(grammar, action)) return null;
  if (action.length > LONGEST_ACTION)
    return `An action has at most ${LONGEST_ACTION} characters; this one has ${action.length.toLocaleString('en')}.`;
  const text = tidy(action);
  if (text === '') return `Nothing was said. Expected: ${describe(grammar)}`;
  const begun = grammar.find(([first]) => first?.kind === 'literal' && (text.startsWith(first.text) || text === first.text.trim()));
  const [first, ...rest] = begun ?? [];
  if (first?.kind !== 'literal') return `Expected: ${describe(grammar)}`;
  const found = text.slice(first.text.length).trim();
  return `After “${first.text.trim()}” this is expected: ${describe([rest])}, found ${found === '' ? 'nothing' : `“${shorten(found, 80)}”`}.`;
}

export interface Offer {
  /** The whole action. */
  readonly action: string;
  /** What it begins with: "click", "buy". */
  readonly verb: string;
  /** The clickable it is about. */
  readonly thing: string;
}

/** Every action that is a literal, one of the clickables, and perhaps a closing literal; or a clickable by itself. */
export function offersOf(grammar: Grammar, clickables: readonly string[]): Offer[] {
  return clickables.flatMap((thing) =>
    grammar.flatMap(([before, choice, after]): Offer[] => {
      if (before?.kind === 'choice' && choice === undefined && before.options.includes(thing))
        return [{ action: thing, verb: thing, thing }];
      if (before?.kind !== 'literal' || choice?.kind !== 'choice' || !choice.options.includes(thing)) return [];
      return [{ action: `${before.text}${thing}${closing(after)}`, verb: before.text.replace(/[^\p{L}]+$/u, ''), thing }];
    }),
  );
}

/** Actions with free text, as what stands before and after it: `search[` and `]`. */
export function phrasesOf(grammar: Grammar): { before: string; after: string }[] {
  return grammar.flatMap(([first, words, after]) =>
    first?.kind === 'literal' && words?.kind === 'words' ? [{ before: first.text, after: closing(after) }] : [],
  );
}

const closing = (part: GrammarPart | undefined): string => (part?.kind === 'literal' ? part.text : '');

/** As people can read it: control characters as pictures, and not the whole of a runaway text. */
export function readable(action: string): string {
  const seen = shorten(action, 300).replace(/[\p{Cc}\p{Cf}]/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '�';
  });
  return action.length > 300 ? `${seen} (${action.length.toLocaleString('en')} characters)` : seen;
}

const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
