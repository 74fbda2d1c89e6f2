// Takes an instruction apart again: what is wanted, the options, the price limit. Rules and demonstrations read
// instructions with it, and a goal is found by its text with it; nothing here knows the goal.

import { NO_LIMIT } from './goals.ts';

export interface Wish {
  /** `Find me machine wash men's t-shirts with long sleeve`. */
  readonly base: string;
  /** Option names and values in the order in which they are said. */
  readonly options: readonly (readonly [name: string, value: string])[];
  readonly limit: number;
}

const LIMIT = /,? and price lower than (\d+(?:\.\d+)?) dollars\s*$/i;

/** The text without its price limit, and the limit. */
export function splitLimit(instruction: string): { readonly text: string; readonly limit: number } {
  const found = LIMIT.exec(instruction);
  if (found === null) return { text: instruction.trim(), limit: NO_LIMIT };
  return { text: instruction.slice(0, found.index).trim(), limit: Number(found[1]) };
}

/** Options begin at the last ` with ` before the first `: `; the obvious pattern fails on one goal in six. */
export function readWish(instruction: string): Wish {
  const { text, limit } = splitLimit(instruction);
  const colon = text.indexOf(': ');
  const start = colon < 0 ? -1 : text.lastIndexOf(' with ', colon);
  if (start < 0) return { base: text, options: [], limit };
  const options = text
    .slice(start + ' with '.length)
    .split(', and ')
    .reduce<string[]>((parts, part) => {
      // A value may itself contain ", and ": what holds no ": " belongs to the option before.
      if (part.includes(': ') || parts.length === 0) parts.push(part);
      else parts.push(`${parts.pop() ?? ''}, and ${part}`);
      return parts;
    }, [])
    .map((part): readonly [string, string] => {
      const at = part.indexOf(': ');
      return at < 0 ? ['', part] : [part.slice(0, at), part.slice(at + 2)];
    });
  return { base: text.slice(0, start), options, limit };
}

const FILLER = new Set(['find', 'me', 'with', 'and', 'for', 'price', 'lower', 'than', 'dollars', '&', '|', '-']);

/** The words of an instruction that are worth searching for, lower case, in order, repeated as they are said. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/^[,;:"()[\]]+|[,;:"()[\]]+$/g, ''))
    .filter((word) => word !== '' && !FILLER.has(word) && !/[[\]]/.test(word));
}

/** All words that a search for this instruction could use. */
export function searchWords(instruction: string): string[] {
  const { base, options } = readWish(instruction);
  const words = new Set([...wordsOf(base), ...options.flatMap(([, value]) => wordsOf(value))]);
  return words.size === 0 ? ['product'] : [...words];
}
