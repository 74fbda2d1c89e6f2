// How numbers become colour on words. Two scales, both safe for colour-blind eyes: one colour that deepens (how unlikely,
// how undecided), and blue against orange around zero (log-ratio, advantage). Colour is never alone: the line under a word
// grows with the number, and is dotted below zero.

import type { ReplayStep, Word } from '../../main/lab/features/episodes.ts';
import { formatValue } from '../format.ts';

export const PAINTS = ['probability', 'logRatio', 'advantage', 'entropy'] as const;
export type Paint = (typeof PAINTS)[number];

interface PaintMeaning {
  readonly label: string;
  readonly explain: string;
  /** What the ends of the legend say, from least to most (or from below to above zero). */
  readonly ends: readonly [string, string];
  readonly signed: boolean;
}

export const MEANING: Readonly<Record<Paint, PaintMeaning>> = {
  probability: {
    label: 'Probability',
    explain: 'π(token): the probability of the token under the policy, among the tokens the grammar allows. Deeper = less probable.',
    ends: ['certain', 'unlikely'],
    signed: false,
  },
  logRatio: {
    label: 'Log-ratio',
    explain: 'ln π(token) − ln π_ref(token). Above 0 (blue): more probable than under the reference; below 0 (orange, dotted): less.',
    ends: ['less likely than reference', 'more likely'],
    signed: true,
  },
  advantage: {
    label: 'Advantage',
    explain: 'The advantage the algorithm assigned to the token. Above 0 (blue): reinforced; below 0 (orange, dotted): discouraged.',
    ends: ['discouraged', 'reinforced'],
    signed: true,
  },
  entropy: {
    label: 'Entropy',
    explain: 'Entropy of the policy’s next-token distribution, in nats. Deeper = higher entropy.',
    ends: ['low entropy', 'high entropy'],
    signed: false,
  },
};

/** What is painted: in 0 … 1, or −1 … 1 for the signed ones; null where there is no number. `scale` is the largest size seen. */
export function strength(word: Word, paint: Paint, scale: number): number | null {
  const value = word[paint];
  if (value === null || Number.isNaN(value)) return null;
  if (paint === 'probability') return 1 - Math.max(0, Math.min(1, value));
  if (scale === 0) return 0;
  return Math.max(-1, Math.min(1, value / scale));
}

/** The size that gets the deepest colour: the largest in the episode, but not so small that noise looks like a signal. */
export function scaleOf(words: readonly Word[], paint: Paint): number {
  const floor = paint === 'entropy' ? 1 : paint === 'logRatio' ? 0.5 : 0.1;
  let most = floor;
  for (const word of words) {
    const value = word[paint];
    if (value !== null && Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  }
  return most;
}

/** Deepest tint, in percent: text on it still has contrast 4.5 in both themes. */
const DEEPEST = 46;

export function tint(amount: number | null): { background: string; boxShadow: string } | undefined {
  if (amount === null) return undefined;
  const size = Math.abs(amount);
  const colour = amount < 0 ? 'var(--run-1)' : 'var(--run-0)';
  const percent = (size * DEEPEST).toFixed(1);
  return {
    background: `color-mix(in srgb, ${colour} ${percent}%, transparent)`,
    boxShadow: amount < 0 ? 'none' : `inset 0 -${(size * 3).toFixed(1)}px 0 ${colour}`,
  };
}

export function numberOf(word: Word, paint: Paint): string {
  const value = word[paint];
  if (value === null) return '–';
  return paint === 'probability' ? formatValue(value, 'share') : signed(value, MEANING[paint].signed);
}

function signed(value: number, plus: boolean): string {
  return `${plus && value > 0 ? '+' : ''}${formatValue(Math.abs(value) < 5e-5 ? 0 : value)}`;
}

/**
 * Whether the tokens say something else than the recorded action: in training names may trade places (policy.aids), and tokens are kept as the
 * agent saw and wrote them, actions as what they mean in the world.
 */
export function renamed({ words, action }: Pick<ReplayStep, 'words' | 'action'>): boolean {
  const letters = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  const said = words.flatMap(({ part, text }) => (part === 'action' && !/^<.*>$/.test(text.trim()) ? [text] : [])).join('');
  return said !== '' && !letters(said).includes(letters(action));
}

/** A token of nothing but white space would be blank on the screen. */
export const visible = (text: string): string =>
  text.trim() === '' ? text.replaceAll('\n', '↵').replaceAll('\t', '⇥').replaceAll(' ', '␣') : text;
