// The decoder's parts beside its products, each a routine over `count` tokens. A token's record says where its row begins in the cache (in tokens), its position, whether
// its logits are wanted, and for itself and the tokens before it that it sees directly: the address of the embedding and the match flag.

import * as w from '../../engine/kernels/wasm.ts';
import type { Code, Local, Program, Routine } from '../../engine/kernels/wasm.ts';
import type { ModelConfig } from '../transformer/transformer.ts';

const BYTES = 4;
export const RECORD = { rowStart: 0, position: 1, last: 2, seen: 3 } as const;
/** Whole numbers of a record. */
export const recordLength = ({ aids }: ModelConfig): number => RECORD.seen + 2 * (1 + aids.tokenShift);

const word = (record: Local, index: number): Code => w.wholeAt(record.get, index * BYTES);

/** Σ of the four numbers of a local, in every place. */
const sumOf = (r: Routine, local: Local): Code => combined(r, local, w.add);

function combined(r: Routine, local: Local, combine: (a: Code, b: Code) => Code): Code {
  r.set(local, combine(local.get, w.chosen(local.get, local.get, [2, 3, 0, 1])));
  return combine(local.get, w.chosen(local.get, local.get, [1, 0, 3, 2]));
}

/** eˣ of a local whose numbers are at most 88, to the last digit or two; below −87 it is 0. A NaN stays one. Overwrites the local. */
function exponential(r: Routine, x: Local, whole: Local, small: Local): Code {
  r.set(small, w.less(x.get, w.four(-87)));
  r.set(x, w.max(x.get, w.four(-87)));
  r.set(whole, w.nearest(w.mul(x.get, w.four(Math.LOG2E))));
  // ln 2 in two parts, of which the first is exact in few digits.
  r.set(x, w.multiplyAdd(whole.get, w.four(2.1219444e-4), w.multiplyAdd(whole.get, w.four(-0.693359375), x.get)));
  const series = [1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1].reduce(
    (sum, term) => w.multiplyAdd(sum, x.get, w.four(term)),
    w.four(1.98756915e-4),
  );
  const power = w.shiftLeft(w.addWhole(w.toWhole(whole.get), w.fourWhole(127)), 23);
  return w.andNot(w.mul(series, power), small.get);
}

/** embed(records, rows, count): the sum of what a token sees. */
export function addEmbed(program: Program, config: ModelConfig, to: number, gains: { match: number; shift: readonly number[] }): void {
  const { width, aids } = config;
  program.add('embed', 3, (r, [record, y, count]) => {
    const column = r.whole();
    const sum = r.four();
    const seen = (back: number): Code => {
      const index = RECORD.seen + 2 * back;
      const vector = w.fourAt(w.plus(word(record, index), column.get));
      if (!aids.matchFlag) return vector;
      return w.multiplyAdd(w.sameAt(record.get, (index + 1) * BYTES), w.fourAt(column.get, gains.match), vector);
    };
    r.repeat(count.get, () => {
      r.set(column, w.whole(0));
      r.repeat(width / 4, () => {
        r.set(sum, seen(0));
        for (const [i, gain] of gains.shift.entries()) r.set(sum, w.multiplyAdd(seen(i + 1), w.fourAt(column.get, gain), sum.get));
        r.put(w.plus(y.get, column.get), sum.get);
        r.advance(column, 16);
      });
      r.advance(record, recordLength(config) * BYTES);
      r.advance(y, to * BYTES);
    });
  });
}

/** norm(rows, gain, results, count). */
export function addNorm(program: Program, width: number, stride: number, epsilon: number): void {
  program.add('norm', 4, (r, [x, gain, y, count]) => {
    const column = r.whole();
    const [sum, part] = [r.four(), r.four()];
    r.repeat(count.get, () => {
      r.set(sum, w.four(0));
      r.set(column, x.get);
      r.repeat(width / 4, () => {
        r.set(part, w.fourAt(column.get));
        r.set(sum, w.multiplyAdd(part.get, part.get, sum.get));
        r.advance(column, 16);
      });
      r.set(sum, w.div(w.four(1), w.root(w.add(w.div(sumOf(r, sum), w.four(width)), w.four(epsilon)))));
      r.set(column, w.whole(0));
      r.repeat(width / 4, () => {
        const normal = w.mul(w.fourAt(w.plus(x.get, column.get)), sum.get);
        r.put(w.plus(y.get, column.get), w.mul(normal, w.fourAt(w.plus(gain.get, column.get))));
        r.advance(column, 16);
      });
      r.advance(x, stride * BYTES);
      r.advance(y, stride * BYTES);
    });
  });
}

function copied(r: Routine, from: Local, to: Local, size: number): void {
  for (let i = 0; i < size; i += 4) r.put(to.get, w.fourAt(from.get, i * BYTES), i * BYTES);
}

/** turn(records, query–key–value rows, count, keys, values): turns queries (which are scaled as well) and keys by their positions, and puts keys and values into the cache. */
export function addTurn(program: Program, config: ModelConfig, stride: number, tables: number, headBytes: Code): void {
  const { width, heads } = config;
  const size = width / heads;
  const half = (size / 2) * BYTES;
  program.add('turn', 5, (r, [record, x, count, keys, values]) => {
    const [table, place, from, step] = [r.whole(), r.whole(), r.whole(), r.whole(headBytes)];
    const [a, b, cosine, sine, scale] = [r.four(), r.four(), r.four(), r.four(), r.four(w.four(1 / Math.sqrt(size)))];
    /** A head's two halves against each other. */
    const turned = (to: Local, scaled: boolean): void => {
      for (let i = 0; i < half; i += 16) {
        const finish = (numbers: Code): Code => (scaled ? w.mul(numbers, scale.get) : numbers);
        r.set(a, w.fourAt(from.get, i));
        r.set(b, w.fourAt(from.get, half + i));
        r.set(cosine, w.fourAt(table.get, i));
        r.set(sine, w.fourAt(table.get, half + i));
        r.put(to.get, finish(w.sub(w.mul(a.get, cosine.get), w.mul(b.get, sine.get))), i);
        r.put(to.get, finish(w.add(w.mul(b.get, cosine.get), w.mul(a.get, sine.get))), half + i);
      }
    };
    r.repeat(count.get, () => {
      r.set(table, w.plus(w.whole(tables), w.times(word(record, RECORD.position), w.whole(2 * half))));
      r.set(from, x.get);
      r.repeat(heads, () => {
        turned(from, true);
        r.advance(from, size * BYTES);
      });
      const row = w.times(word(record, RECORD.rowStart), w.whole(width * BYTES));
      const offset = w.plus(row, w.times(word(record, RECORD.position), w.whole(size * BYTES)));
      for (const [stream, put] of [
        [keys, (): void => turned(place, false)],
        [values, (): void => copied(r, from, place, size)],
      ] as const) {
        r.set(place, w.plus(stream.get, offset));
        r.repeat(heads, () => {
          put();
          r.advance(from, size * BYTES);
          r.advance(place, step.get);
        });
      }
      r.advance(record, recordLength(config) * BYTES);
      r.advance(x, stride * BYTES);
    });
  });
}

/** Each of four locals' sum, side by side. */
function sums(r: Routine, [a, b, c, d]: Four): Code {
  const halves = (x: Local, y: Local): void => r.set(x, w.add(w.chosen(x.get, y.get, [0, 4, 1, 5]), w.chosen(x.get, y.get, [2, 6, 3, 7])));
  halves(a, b);
  halves(c, d);
  return w.add(w.chosen(a.get, c.get, [0, 1, 4, 5]), w.chosen(a.get, c.get, [2, 3, 6, 7]));
}

type Four = readonly [Local, Local, Local, Local];

/**
 * Scores of one query (in locals) against `many` keys, then e to the difference from the largest. Gives their sum, in every place. Keys are read four at a time: there is
 * room for those behind the last, whatever they are.
 */
function softened(r: Routine, query: readonly Local[], keys: Local, step: number, scores: Code, many: Code): Code {
  const to = r.whole(scores);
  const four: Four = [r.four(), r.four(), r.four(), r.four()];
  const [numbers, most] = [r.four(), r.four(w.four(-3e38))];
  const groups = r.whole(w.shiftRight(w.plus(many, w.whole(3)), 2));
  r.repeat(groups.get, () => {
    for (const [i, part] of query.entries()) {
      for (const [k, sum] of four.entries()) {
        const key = w.fourAt(keys.get, k * step + 16 * i);
        r.set(sum, i === 0 ? w.mul(part.get, key) : w.multiplyAdd(part.get, key, sum.get));
      }
    }
    r.put(to.get, sums(r, four));
    r.advance(to, 16);
    r.advance(keys, 4 * step);
  });
  r.put(w.plus(scores, w.times(many, w.whole(BYTES))), w.four(-3e38)); // behind the last
  r.set(to, scores);
  r.repeat(groups.get, () => {
    r.set(most, w.max(most.get, w.fourAt(to.get)));
    r.advance(to, 16);
  });
  r.set(most, combined(r, most, w.max));
  r.set(to, scores);
  const [total, whole, small] = [r.four(w.four(0)), r.four(), r.four()];
  r.repeat(groups.get, () => {
    r.set(numbers, w.sub(w.fourAt(to.get), most.get));
    r.set(numbers, exponential(r, numbers, whole, small));
    r.put(to.get, numbers.get);
    r.set(total, w.add(total.get, numbers.get));
    r.advance(to, 16);
  });
  return sumOf(r, total);
}

/** attend(records, query–key–value rows, results, count, keys, values, room for scores): every head over all that its row has read. */
export function addAttend(program: Program, config: ModelConfig, from: number, to: number, headBytes: Code): void {
  const { width, heads } = config;
  const size = width / heads;
  program.add('attend', 7, (r, [record, x, y, count, keys, values, scores]) => {
    const [many, start, head, place, score] = [r.whole(), r.whole(), r.whole(), r.whole(), r.whole()];
    const step = r.whole(headBytes);
    const query = Array.from({ length: size / 4 }, () => r.four());
    const [weight, share] = [r.four(), r.four()];
    r.repeat(count.get, () => {
      r.set(many, w.plus(word(record, RECORD.position), w.whole(1)));
      r.set(start, w.times(word(record, RECORD.rowStart), w.whole(width * BYTES)));
      r.set(head, w.whole(0));
      r.repeat(heads, () => {
        for (const [i, part] of query.entries()) r.set(part, w.fourAt(w.plus(x.get, head.get), 16 * i));
        r.set(place, w.plus(keys.get, start.get));
        r.set(share, w.div(w.four(1), softened(r, query, place, size * BYTES, scores.get, many.get)));
        for (const sum of query) r.set(sum, w.four(0));
        r.set(place, w.plus(values.get, start.get));
        r.set(score, scores.get);
        r.repeat(many.get, () => {
          r.set(weight, w.sameAt(score.get));
          for (const [i, sum] of query.entries()) r.set(sum, w.multiplyAdd(weight.get, w.fourAt(place.get, 16 * i), sum.get));
          r.advance(score, BYTES);
          r.advance(place, size * BYTES);
        });
        for (const [i, sum] of query.entries()) r.put(w.plus(y.get, head.get), w.mul(sum.get, share.get), 16 * i);
        r.advance(head, size * BYTES);
        r.advance(start, step.get);
      });
      r.advance(record, recordLength(config) * BYTES);
      r.advance(x, from * BYTES);
      r.advance(y, to * BYTES);
    });
  });
}

/** gate(rows, results, count): the rows hold `up` and, for SwiGLU, the gate behind it. */
export function addGate(program: Program, gate: ModelConfig['gate'], size: number, from: number): void {
  program.add('gate', 3, (r, [x, y, count]) => {
    const column = r.whole();
    const [up, before, power, whole, small] = [r.four(), r.four(), r.four(), r.four(), r.four()];
    /** x · sigmoid(x) of a local. */
    const silu = (numbers: Local): Code => {
      r.set(power, w.min(w.negated(numbers.get), w.four(88)));
      r.set(power, exponential(r, power, whole, small));
      return w.div(numbers.get, w.add(w.four(1), power.get));
    };
    r.repeat(count.get, () => {
      r.set(column, w.whole(0));
      r.repeat(size / 4, () => {
        const place = w.plus(x.get, column.get);
        r.set(up, w.fourAt(place));
        if (gate === 'swiglu') {
          r.set(before, w.fourAt(place, size * BYTES));
          r.set(up, w.mul(up.get, silu(before)));
        } else if (gate === 'silu') r.set(up, silu(up));
        else r.set(up, w.max(up.get, w.four(0)));
        r.put(w.plus(y.get, column.get), gate === 'relu2' ? w.mul(up.get, up.get) : up.get);
        r.advance(column, 16);
      });
      r.advance(x, from * BYTES);
      r.advance(y, size * BYTES);
    });
  });
}

/** pick(records, rows, results, count): the rows whose logits are wanted, one after the other. */
export function addPick(program: Program, config: ModelConfig, stride: number): void {
  program.add('pick', 4, (r, [record, x, y, count]) => {
    r.repeat(count.get, () => {
      r.when(word(record, RECORD.last), () => {
        copied(r, x, y, stride);
        r.advance(y, stride * BYTES);
      });
      r.advance(record, recordLength(config) * BYTES);
      r.advance(x, stride * BYTES);
    });
  });
}

/** keep(records, rows, count, keys): puts the pointer's keys into the cache. */
export function addKeep(program: Program, config: ModelConfig, size: number, from: number): void {
  program.add('keep', 4, (r, [record, x, count, keys]) => {
    const place = r.whole();
    r.repeat(count.get, () => {
      const offset = w.times(w.plus(word(record, RECORD.rowStart), word(record, RECORD.position)), w.whole(size * BYTES));
      r.set(place, w.plus(keys.get, offset));
      copied(r, x, place, size);
      r.advance(record, recordLength(config) * BYTES);
      r.advance(x, from * BYTES);
    });
  });
}

/** point(records, queries, weights, count, keys): where the pointers of the wanted rows look; their weights sum to one. */
export function addPoint(program: Program, config: ModelConfig, size: number, from: number, to: number): void {
  program.add('point', 5, (r, [record, x, y, count, keys]) => {
    const [many, place, column] = [r.whole(), r.whole(), r.whole()];
    const query = Array.from({ length: size / 4 }, () => r.four());
    const share = r.four();
    r.repeat(count.get, () => {
      r.when(word(record, RECORD.last), () => {
        r.set(many, w.plus(word(record, RECORD.position), w.whole(1)));
        for (const [i, part] of query.entries()) r.set(part, w.mul(w.fourAt(x.get, 16 * i), w.four(1 / Math.sqrt(size))));
        r.set(place, w.plus(keys.get, w.times(word(record, RECORD.rowStart), w.whole(size * BYTES))));
        r.set(share, w.div(w.four(1), softened(r, query, place, size * BYTES, y.get, many.get)));
        r.set(column, y.get);
        r.repeat(w.shiftRight(w.plus(many.get, w.whole(3)), 2), () => {
          r.put(column.get, w.mul(w.fourAt(column.get), share.get));
          r.advance(column, 16);
        });
        r.advance(x, from * BYTES);
        r.advance(y, to * BYTES);
      });
      r.advance(record, recordLength(config) * BYTES);
    });
  });
}
