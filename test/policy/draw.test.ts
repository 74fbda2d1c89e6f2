// Drawing a token: the numbers are those of the distribution drawn from, and the draws follow it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Drawer } from '../../main/policy/sampling/draw.ts';
import { Random } from '../../main/base/random.ts';

const logits = Float32Array.of(0, 1, 2, 3, -1, 0.5);
const uniform = (value: number) => () => value;

describe('a drawn token', () => {
  it('has the log-probability and entropy of the masked, tempered distribution', () => {
    const allowed = Int32Array.of(1, 3, 5);
    const weights = [1, 3, 0.5].map((score) => Math.exp(score / 2));
    const sum = weights.reduce((a, b) => a + b);
    const probabilities = weights.map((weight) => weight / sum);
    const { token, logProb, policyLogProb, entropy, top } = new Drawer(6, { temperature: 2 }).draw(logits, allowed, uniform(0.5));
    expect(token).toBe(3);
    expect(logProb).toBeCloseTo(Math.log(probabilities[1] ?? 0), 12);
    expect(policyLogProb).toBeCloseTo(3 - Math.log(Math.exp(1) + Math.exp(3) + Math.exp(0.5)), 12);
    expect(entropy).toBeCloseTo(-probabilities.reduce((total, p) => total + p * Math.log(p), 0), 12);
    expect(top.map((entry) => entry.token)).toEqual([3, 1, 5]);
    expect(top.map((entry) => entry.probability).reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  it('follows the distribution: frequencies over 20,000 draws are within four standard errors', () => {
    const random = Random.from('draw');
    const drawer = new Drawer(6);
    const counts = new Array<number>(6).fill(0);
    for (let i = 0; i < 20_000; i++) counts[drawer.draw(logits, undefined, random.next).token]! += 1;
    const sum = logits.reduce((total, score) => total + Math.exp(score), 0);
    for (const [token, count] of counts.entries()) {
      const p = Math.exp(logits[token] ?? 0) / sum;
      expect(Math.abs(count / 20_000 - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 20_000));
    }
  });

  it('is the likeliest when greedy', () => {
    const greedy = new Drawer(6, { greedy: true, temperature: 5 });
    expect(greedy.draw(logits, undefined, uniform(0.99)).token).toBe(3);
    expect(greedy.draw(Float32Array.of(1, 1, 1, 0, 0, 0), undefined, uniform(0.99)).token).toBe(0);
  });

  it('is never one below min-p of the likeliest, and the others keep their proportions', () => {
    const random = Random.from('min-p');
    const drawer = new Drawer(6, { minP: Math.exp(-1.5) }); // of 3: only 2 and 3 are within 1.5 nats
    const counts = new Array<number>(6).fill(0);
    for (let i = 0; i < 20_000; i++) counts[drawer.draw(logits, undefined, random.next).token]! += 1;
    const p = 1 / (1 + Math.exp(-1));
    expect(counts.map((count) => count > 0)).toEqual([false, false, true, true, false, false]);
    expect(Math.abs((counts[3] ?? 0) / 20_000 - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 20_000));
    const drawn = drawer.draw(logits, undefined, uniform(0.99));
    const whole = new Drawer(6).draw(logits, undefined, uniform(0.9));
    expect(drawn.token).toBe(3);
    expect(drawn.logProb).toBeCloseTo(Math.log(p), 12);
    // What losses and replay are about is the policy itself.
    expect(drawn).toMatchObject({ policyLogProb: whole.policyLogProb, entropy: whole.entropy, top: whole.top });
    expect(new Drawer(6, { minP: 1 }).draw(logits, undefined, uniform(0)).token).toBe(3);
  });

  it('is allowed, whatever the logits, mask and temperature', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ min: -100, max: 100, noNaN: true }), { minLength: 6, maxLength: 6 }),
        fc.uniqueArray(fc.nat({ max: 5 }), { minLength: 1 }),
        fc.double({ min: 0.05, max: 10, noNaN: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (scores, mask, temperature, u) => {
          const allowed = Int32Array.from(mask).sort();
          const drawn = new Drawer(6, { temperature }).draw(Float32Array.from(scores), allowed, uniform(u));
          expect(mask).toContain(drawn.token);
          expect(drawn.logProb).toBeLessThanOrEqual(1e-12);
          expect(drawn.entropy).toBeLessThanOrEqual(Math.log(mask.length) + 1e-9);
          expect(drawn.entropy).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  it('of a large vocabulary has the numbers of a plain sum and sort, with every token allowed or all of them named', () => {
    const random = Random.from('large');
    for (const size of [7, 8, 9, 1000, 49_153]) {
      // Whole numbers tie, also from one group of eight to the next.
      const scores = Float32Array.from({ length: size }, (_, i) =>
        size % 2 === 0 ? Math.round(2 * random.normal()) : random.normal() + (i % 3),
      );
      const weights = Array.from(scores, (score) => Math.exp(score / 0.7));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const likeliest = Array.from(scores.keys()).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
      for (const u of [0, random.next(), 1 - 1e-12]) {
        const drawn = new Drawer(size, { temperature: 0.7 }).draw(scores, undefined, uniform(u));
        const named = new Drawer(size, { temperature: 0.7 }).draw(scores, Int32Array.from(scores.keys()), uniform(u));
        expect(drawn).toEqual(named);
        expect(drawn.logProb).toBeCloseTo((scores[drawn.token] ?? 0) / 0.7 - Math.log(total), 10);
        expect(drawn.top.map(({ token }) => token)).toEqual(likeliest.slice(0, 4));
        const below = weights.slice(0, drawn.token).reduce((sum, weight) => sum + weight, 0);
        expect(below).toBeLessThanOrEqual(u * total * (1 + 1e-9));
        expect(below + (weights[drawn.token] ?? 0)).toBeGreaterThanOrEqual(u * total * (1 - 1e-9));
      }
    }
  });

  it('is refused with the reason when nothing is allowed or the weights are damaged', () => {
    expect(() => new Drawer(6).draw(logits, new Int32Array(0), uniform(0))).toThrow('No token is allowed here');
    expect(() => new Drawer(2).draw(Float32Array.of(Number.NaN, 0), undefined, uniform(0))).toThrow('not finite');
    expect(() => new Drawer(2, { temperature: 0 })).toThrow('use greedy');
    expect(() => new Drawer(2, { minP: 1.5 })).toThrow('min-p must be a share from 0 to 1, found 1.5');
  });
});
