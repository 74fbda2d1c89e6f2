// Sequences that begin alike, written once: the episodes of one task share its page, often an action and the page after it. Each tree holds a common
// prefix and each row's suffix; a token attends only to its ancestors. Rows of one task stand in one tree as long as
// it does not become too long.

import { at } from '../../base/indexed.ts';
import type { EncodedRow } from '../text/prompt.ts';

/** Tokens in an order in which each comes after the one before it in its sequence. */
export interface Tree {
  readonly tokens: readonly number[];
  /** The place in the tree of the token before; −1: none. */
  readonly before: readonly number[];
  /** How many tokens come before in the sequence. */
  readonly depth: readonly number[];
}

/** Where a row stands: its tree, and the place in it of each of its tokens. */
export interface Path {
  readonly tree: number;
  readonly places: readonly number[];
}

export interface Forest {
  readonly trees: readonly Tree[];
  /** One for every row, in the order of the rows. */
  readonly paths: readonly Path[];
}

/** A row up to the last token that predicts one of the agent's. */
export const usedLength = ({ agent }: EncodedRow): number => (agent.at(-1)?.position ?? 0) + 1;

/** What rows of one tree have in common: all that comes before the agent's first token. */
export function beginningOf({ tokens, agent }: EncodedRow): string {
  return tokens.slice(0, (agent[0]?.position ?? 0) + 1).join(' ');
}

/** `most`: tokens of a tree, unless a single row has more. */
export function forestOf(rows: readonly EncodedRow[], most: number): Forest {
  const trees: GrowingTree[] = [];
  const open = new Map<string, number>();
  const paths = rows.map((row): Path => {
    const beginning = beginningOf(row);
    const tokens = row.tokens.slice(0, usedLength(row));
    const existing = open.get(beginning);
    if (existing !== undefined && at(trees, existing).sizeWith(tokens) <= most)
      return { tree: existing, places: at(trees, existing).add(tokens) };
    const tree = new GrowingTree();
    open.set(beginning, trees.length);
    trees.push(tree);
    return { tree: trees.length - 1, places: tree.add(tokens) };
  });
  return { trees, paths };
}

class GrowingTree implements Tree {
  readonly tokens: number[] = [];
  readonly before: number[] = [];
  readonly depth: number[] = [];
  /** The places that follow a place, by their token. */
  readonly #after = new Map<number, Map<number, number>>();

  /** How long it would be with this row too. */
  sizeWith(row: readonly number[]): number {
    let [place, shared] = [-1, 0];
    for (const token of row) {
      const next = this.#after.get(place)?.get(token);
      if (next === undefined) break;
      place = next;
      shared += 1;
    }
    return this.tokens.length + row.length - shared;
  }

  add(row: readonly number[]): number[] {
    let place = -1;
    return row.map((token, depth) => {
      const after = this.#after.get(place) ?? new Map<number, number>();
      this.#after.set(place, after);
      const existing = after.get(token);
      if (existing !== undefined) return (place = existing);
      this.tokens.push(token);
      this.before.push(place);
      this.depth.push(depth);
      place = this.tokens.length - 1;
      after.set(token, place);
      return place;
    });
  }
}
