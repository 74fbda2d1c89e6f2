import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimate } from '../../main/store/metrics.ts';
import { openStore } from './helpers.ts';
import { newRun } from './samples.ts';

const value = fc.oneof(fc.double(), fc.float(), fc.constantFrom(NaN, Infinity, -Infinity, -0, 5e-324));

describe('metrics', () => {
  it('come back bit for bit, whatever the numbers, the gaps and the number of updates', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ gap: fc.integer({ min: 1, max: 9 }), a: value, b: fc.option(value) }), { maxLength: 700, minLength: 200 }),
        (points) => {
          const store = openStore();
          const run = store.runs.create(newRun()).id;
          let update = 0;
          const expected = { a: [] as [number, number][], b: [] as [number, number][] };
          store.write(() => {
            for (const { gap, a, b } of points) {
              update += gap;
              store.metrics.append(run, update, b === null ? { a } : { a, b });
              expected.a.push([update, a]);
              if (b !== null) expected.b.push([update, b]);
            }
          });
          for (const name of ['a', 'b'] as const) {
            const { updates, values } = store.metrics.series(run, name);
            expect(updates.length).toBe(expected[name].length);
            expect(expected[name].every(([at, v], i) => updates[i] === at && Object.is(values[i], v))).toBe(true);
          }
          store.close();
        },
      ),
      { numRuns: 8 },
    );
  });

  it('of one update can be added in parts, and a name noted twice keeps the later value', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    store.metrics.append(run, 1, { loss: 1, entropy: 2 });
    store.metrics.append(run, 1, { loss: 3 });
    expect(store.metrics.latest(run)).toEqual({ loss: [1, 3], entropy: [1, 2] });
  });

  it('can be cut after any update and continued from there', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    store.write(() => {
      for (let update = 1; update <= 1000; update++) store.metrics.append(run, update, { loss: update });
    });
    for (const last of [900, 480, 479, 241, 1, 0]) {
      store.metrics.truncate(run, last);
      expect(store.metrics.series(run, 'loss').values.length).toBe(last);
      expect(store.metrics.series(run, 'loss').values.at(-1) ?? 0).toBe(last);
    }
    store.metrics.append(run, 1, { loss: -1 });
    expect([...store.metrics.series(run, 'loss').values]).toEqual([-1]);
  });

  it('are found by range and by name', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    store.write(() => {
      for (let update = 1; update <= 600; update++)
        store.metrics.append(run, update, { loss: update / 3, ...(update % 100 === 0 && { evaluated: update }) });
    });
    expect(store.metrics.names(run)).toEqual(['evaluated', 'loss']);
    const { updates } = store.metrics.series(run, 'loss', { from: 235, to: 245 });
    expect([...updates]).toEqual([235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245]);
    expect([...store.metrics.series(run, 'evaluated').updates]).toEqual([100, 200, 300, 400, 500, 600]);
    expect(store.metrics.series(run, 'no such metric').updates.length).toBe(0);
  });
});

describe('a decimated line', () => {
  it('keeps first and last point, every extreme of the whole, and signs of a gap', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 50, maxLength: 3000 }), (values) => {
        const series = { updates: Int32Array.from(values, (_, i) => i), values: Float64Array.from(values) };
        const small = decimate(series, 100);
        expect(small.updates.length).toBeLessThanOrEqual(150);
        expect([small.updates[0], small.updates.at(-1)]).toEqual([0, values.length - 1]);
        expect(
          small.updates.every(
            (update, i) => Object.is(small.values[i], values[update]) && (i === 0 || update > (small.updates[i - 1] ?? 0)),
          ),
        ).toBe(true);
        const numbers = values.filter((v) => !Number.isNaN(v));
        const kept = [...small.values].filter((v) => !Number.isNaN(v));
        expect([Math.min(...kept) + 0, Math.max(...kept) + 0]).toEqual([Math.min(...numbers) + 0, Math.max(...numbers) + 0]);
        expect(kept.length < small.values.length).toBe(numbers.length < values.length);
      }),
      { numRuns: 60 },
    );
  });

  it('leaves a short line as it is', () => {
    const series = { updates: Int32Array.of(1, 2, 3), values: Float64Array.of(1, 2, 3) };
    expect(decimate(series, 100)).toBe(series);
  });
});
