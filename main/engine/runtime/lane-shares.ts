// Which lane computes which micro-batch, and how they take turns. Every lane has sessions of its own, and making one takes as long as many runs: so micro-batches of one
// shape stay together as far as the lanes' work stays even. Which lane computes what changes no number.

import { at } from '../../base/indexed.ts';

export interface Piece {
  /** Pieces with the same key share a session. */
  readonly key: string;
  /** In any unit. */
  readonly cost: number;
}

/**
 * The indices of the pieces that each lane gets, in order: sorted by key and cut where the cost is even. Lanes that share a key take turns at its pieces: results are
 * wanted in order, and what comes long before its turn would wait in memory.
 */
export function inLanes(pieces: readonly Piece[], lanes: number): number[][] {
  const shares: number[][] = Array.from({ length: lanes }, () => []);
  const total = pieces.reduce((sum, { cost }) => sum + cost, 0) || 1; // all may cost nothing
  const order = pieces
    .map((piece, index) => ({ ...piece, index }))
    .sort((a, b) => (a.key === b.key ? a.index - b.index : a.key < b.key ? -1 : 1));
  let before = 0;
  const cut = new Map<string, { readonly indices: number[]; readonly counts: number[] }>();
  for (const { key, cost, index } of order) {
    const lane = Math.min(lanes - 1, Math.floor((lanes * (before + cost / 2)) / total));
    const { indices, counts } = cut.get(key) ?? { indices: [], counts: Array<number>(lanes).fill(0) };
    cut.set(key, { indices, counts });
    indices.push(index);
    counts[lane] = at(counts, lane) + 1;
    before += cost;
  }
  for (const { indices, counts } of cut.values()) for (const [i, lane] of inTurns(counts).entries()) at(shares, lane).push(at(indices, i));
  return shares.map((indices) => indices.sort((a, b) => a - b));
}

/** So many turns for each lane, spread evenly. */
function inTurns(counts: readonly number[]): number[] {
  const turns = counts.flatMap((count, lane) => Array.from({ length: count }, (_, turn) => ({ lane, when: (turn + 0.5) / count })));
  return turns.sort((a, b) => a.when - b.when || a.lane - b.lane).map(({ lane }) => lane);
}

interface Work<T> {
  readonly pieces: readonly Piece[];
  /** 1: one after the other, in this thread. */
  readonly lanes: number;
  /** Looked at before every piece: aborted, it ends the work. */
  readonly signal?: AbortSignal | undefined;
  compute(index: number, lane: number | undefined): Promise<T>;
  /** Called in the order of the pieces, whichever is ready first. */
  done(result: T, index: number): void;
}

/** Every lane computes one piece after the other. An error is passed on when all of them have ended: what is under way cannot be stopped. */
export async function sideBySide<T>({ pieces, lanes: most, signal, compute, done }: Work<T>): Promise<void> {
  const lanes = Math.min(most, pieces.length);
  const ready = new Map<number, { result: T }>();
  let next = 0;
  let failed = false;
  const work = async (indices: readonly number[], lane: number): Promise<void> => {
    for (const index of indices) {
      if (failed) return;
      try {
        signal?.throwIfAborted();
        ready.set(index, { result: await compute(index, lanes > 1 ? lane : undefined) });
      } catch (error) {
        failed = true;
        throw error;
      }
      for (let first = ready.get(next); first; first = ready.get(next)) {
        ready.delete(next);
        done(first.result, next++);
      }
    }
  };
  const ends = await Promise.allSettled(inLanes(pieces, lanes).map(work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
