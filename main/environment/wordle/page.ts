// A guess as coloured letters, with the places found so far and which letters are out.

import type { DrawnPage, PageCell } from '../page.ts';

const TONES: Readonly<Record<string, { readonly tone: PageCell['tone']; readonly label: string }>> = {
  '+': { tone: 'good', label: 'in its place' },
  '?': { tone: 'near', label: 'elsewhere in the word' },
  '-': { tone: 'wrong', label: 'not in the word' },
};

export function drawWordlePage(text: string): DrawnPage | undefined {
  const parts = /^(.*?)(?:((?:[a-z] [-+?] ){5})= )?((?:[a-z.] ){5})near (.*) absent (.*) left (\d+)$/s.exec(text);
  if (!parts) return undefined;
  const [, before = '', guess = '', places = '', near = '', absent = '', left = ''] = parts;
  const guessed = [...guess.matchAll(/([a-z]) ([-+?])/g)].map(([, letter = '', sign = '-']): PageCell => {
    const { tone, label } = TONES[sign] ?? { tone: 'plain', label: '' };
    return { text: letter, tone, label: `${letter}, ${label}` };
  });
  const known = places
    .trim()
    .split(' ')
    .map((letter): PageCell =>
      letter === '.' ? { text: '', tone: 'faint', label: 'unknown' } : { text: letter, tone: 'good', label: `${letter}, in its place` },
    );
  const list = (names: string): string[] => (names === 'none' ? [] : names.split(' '));
  const keys = [
    ...list(near).map((letter): PageCell => ({ text: letter, tone: 'near', label: `${letter} is in the word` })),
    ...list(absent).map((letter): PageCell => ({ text: letter, tone: 'wrong', label: `${letter} is not in the word` })),
  ];
  const caption = `${before.replace(/^TASK: /, '')}${left} guesses left`;
  return { kind: 'letters', caption, rows: guessed.length > 0 ? [guessed, known] : [known], keys };
}
