import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenMask } from '../../main/policy/grammar-mask.ts';
import type { EncodedRow } from '../../main/policy/prompt.ts';
import { microBatches, sessionShape } from '../../main/training/minibatch.ts';

const mask = tokenMask([1, 2]);
const row = (length: number): EncodedRow => ({ tokens: [], flags: [], agent: [{ position: length - 1, target: 1, mask }] });
const samples = fc.array(fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 150 });

test('micro-batches hold every episode once, in 8 or 32 rows, within the budget', () => {
  const budget = 8192;
  fc.assert(
    fc.property(samples, (lengths) => {
      const episodes = lengths.map((rows, index) => ({ index, rows: rows.map(row) }));
      const parts = microBatches(episodes, budget);
      expect(
        parts
          .flat()
          .map(({ index }) => index)
          .sort((a, b) => a - b),
      ).toEqual(episodes.map(({ index }) => index));
      for (const part of parts) {
        const shape = sessionShape(part, 256);
        expect([8, 32]).toContain(shape.rows);
        expect(shape.rows * shape.time).toBeLessThanOrEqual(budget);
        expect(part.reduce((sum, { rows }) => sum + rows.length, 0)).toBeLessThanOrEqual(shape.rows);
      }
    }),
    { numRuns: 100, examples: [[Array.from({ length: 100 }, () => [8])]] },
  );
});
