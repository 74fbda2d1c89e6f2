// Numbers and texts as they leave the lab, in one place: shares, points, intervals, durations and sizes for people, and one
// function per output format (terminal, Markdown, HTML, CSV, LaTeX) that makes text from elsewhere harmless in it. Names, notes
// and tasks may come from an imported file, so no format writes them unescaped. Imports nothing: the page uses it too.

const MINUS = '−';

/** A share as 62.4%. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** A share or a difference of shares in points: 62.4, −3.1. */
export const points = (share: number): string => (100 * share).toFixed(1).replace('-', MINUS);

/** A difference in points with its sign: +3.1, −3.1, and 0.0 without one. */
export function signedPoints(share: number): string {
  const text = Math.abs(100 * share).toFixed(1);
  return text === '0.0' ? text : `${share < 0 ? MINUS : '+'}${text}`;
}

/** 61.0%–64.2% */
export const interval = ({ low, high }: { readonly low: number; readonly high: number }): string => `${percent(low)}–${percent(high)}`;

/** 0.031, or 1.2e-4 where three places would say nothing. */
export const pValue = (p: number): string => (p < 0.001 ? p.toExponential(1).replace('-', MINUS) : p.toFixed(3));

/** 8.2 s, 42 s, 3 min 20 s, 2 h 05 min: two units at most. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const total = Math.round(seconds);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  if (total < 60) return `${total} s`;
  if (total < 3600) return `${Math.floor(total / 60)} min ${two(total % 60)} s`;
  return `${Math.floor(total / 3600)} h ${two((total % 3600) / 60)} min`;
}

/** 999 B, 1.5 kB, 3.2 GB. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const power = Math.min(4, Math.floor(Math.log10(count) / 3));
  return `${(count / 1000 ** power).toFixed(1)} ${['', 'kB', 'MB', 'GB', 'TB'][power]}`;
}

/** Control characters (escape sequences begin with one), and those that turn the direction of the text around. */
// oxlint-disable-next-line no-control-regex -- these are what must not pass
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text for a terminal: a control character is shown as a picture of itself; lines and tabs stay. */
export function terminal(text: string): string {
  return text.replace(CONTROLS, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '�';
  });
}

/** One line without control characters. */
export const oneLine = (text: string): string => terminal(text.replace(/[\r\n\t\u2028\u2029]+/g, ' '));

/** Text inside Markdown: no markup, no HTML, no link, no second line. */
export const markdown = (text: string): string =>
  oneLine(text)
    .replace(/[\\`*[|]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');

/** A line inside a fenced block of code, which it cannot end. */
export const codeLine = (text: string): string => oneLine(text).replaceAll('```', '` ` `');

/** Text inside HTML and SVG, in an element or an attribute. */
export const html = (text: string): string => terminal(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

export type Cell = string | number | boolean | null;

/** A cell of CSV (RFC 4180). A text that a spreadsheet would run as a formula becomes plain text; numbers stay numbers. */
export function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line of CSV; lines end with CRLF. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

const LATEX: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  ...Object.fromEntries([...'&%$#_{}'].map((character) => [character, `\\${character}`])),
};

/** Signs that pdfLaTeX knows by another name. */
const LATEX_SIGNS: Readonly<Record<string, string>> = {
  '–': '--',
  '—': '---',
  '−': '$-$',
  '×': '$\\times$',
  '±': '$\\pm$',
  '≤': '$\\le$',
  '≥': '$\\ge$',
  '→': '$\\to$',
  '…': '\\ldots{}',
  '“': '``',
  '”': "''",
  '‘': '`',
  '’': "'",
  α: '$\\alpha$',
  β: '$\\beta$',
  γ: '$\\gamma$',
  λ: '$\\lambda$',
  π: '$\\pi$',
};

/** Text inside LaTeX; what pdfLaTeX has no letter for becomes a question mark, because one such letter stops a whole paper. */
export const latex = (text: string): string =>
  oneLine(text)
    .replace(/[\\&%$#_{}~^]/g, (character) => LATEX[character] ?? character)
    .replace(/[^\u0020-\u007e\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f]/gu, (character) => LATEX_SIGNS[character] ?? '?');
