// Which lane computes which micro-batch. Every lane has sessions of its own, and making one takes as long as many runs: so micro-batches of one
// shape stay together as far as the lanes' work stays even. Which lane computes what changes no number.

import { at } from '../indexed.ts';

export interface Piece {
  /** Pieces with the same key share a session. */
  readonly key: string;
  /** In any unit. */
  readonly cost: number;
}

/** The indices of the pieces that each lane gets, in order: sorted by key and cut where the cost is even. */
export function inLanes(pieces: readonly Piece[], lanes: number): number[][] {
  const shares: number[][] = Array.from({ length: lanes }, () => []);
  const total = pieces.reduce((sum, { cost }) => sum + cost, 0);
  const order = pieces.map((piece, index) => ({ ...piece, index })).sort((a, b) => (a.key === b.key ? a.index - b.index : a.key < b.key ? -1 : 1));
  let before = 0;
  for (const { cost, index } of order) {
    const lane = Math.min(lanes - 1, Math.floor((lanes * (before + cost / 2)) / total));
    at(shares, lane).push(index);
    before += cost;
  }
  return shares.map((own) => own.sort((a, b) => a - b));
}
