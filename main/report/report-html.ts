// The report as one HTML file that needs nothing else (figures inside), and as slides that lead with the verdict and the curve.
// Both print well: the window makes the PDFs from these files.

import type { ReportTable, StudyReport } from './study-report.ts';
import { html as escape, percent } from '../base/format.ts';

const BASE = `
  body { font: 15px/1.5 system-ui, 'Segoe UI', 'Liberation Sans', sans-serif; color: #1c1d1f; background: #fff; margin: 0; font-variant-numeric: tabular-nums; }
  h1 { font-size: 26px; margin: 0 0 6px; letter-spacing: -0.01em; } h2 { font-size: 17px; margin: 28px 0 8px; }
  table { border-collapse: collapse; font-size: 13px; } th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid #e5e4e1; text-align: left; vertical-align: top; }
  th { color: #57595e; font-weight: 600; } th.number, td.number { text-align: right; }
  .short { white-space: nowrap; } th, td { overflow-wrap: break-word; } .muted { color: #57595e; } pre { background: #f3f3f1; padding: 12px; border-radius: 6px; font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
  .wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
  @media print { .wide { overflow: visible; } table { font-size: 10.5px; } th, td { padding-right: 8px; } tr, svg { break-inside: avoid; } }`;

function page(title: string, style: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title><style>${BASE}${style}</style></head>
<body>${body}</body></html>
`;
}

/** Characters of a cell that stays on one line. */
const SHORT = 18;

function table({ header, rows }: ReportTable): string {
  // Numbers stand to the right, words to the left.
  const numbers = header.map((_, column) => column > 0 && rows.every((row) => /^[-–−+\d]|^$|^baseline$/.test(row[column] ?? '')));
  // A short cell is never broken, a heading may be.
  const classOf = (cell: string, column: number, tag: string): string =>
    [...(numbers[column] ? ['number'] : []), ...(tag === 'td' && cell.length <= SHORT ? ['short'] : [])].join(' ');
  const cells = (row: readonly string[], tag: string): string =>
    row.map((cell, column) => `<${tag} class="${classOf(cell, column, tag)}">${escape(cell)}</${tag}>`).join('');
  return `<div class="wide"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')}</tbody></table></div>`;
}

const list = (items: readonly string[]): string => `<ul>${items.map((item) => `<li>${escape(item)}</li>`).join('')}</ul>`;

export function reportHtml(report: StudyReport): string {
  const failures = report.failures
    .map(
      ({ failure, meaning, count, share, example }) =>
        `<p><strong>${escape(failure)}</strong> (${count}, ${percent(share)}): ${escape(meaning)}.<br><span class="muted">Example: ${escape(example)}</span></p>`,
    )
    .join('');
  const body = [
    `<main><h1>${escape(report.title)}</h1>`,
    list(report.about),
    report.verdicts.rows.length > 0 ? `<h2>Verdicts</h2>${table(report.verdicts)}` : '',
    report.summary.rows.length > 0 ? `<h2>Arms</h2>${table(report.summary)}` : '',
    `<h2>Results</h2>${table(report.results)}`,
    `<p>${report.figures.final}</p><p>${report.figures.learning}</p>`,
    report.figures.profiles === null ? '' : `<h2>Performance profiles</h2><p>${report.figures.profiles}</p>`,
    report.paired.rows.length > 0 ? `<h2>Paired by task</h2>${list(report.words)}${table(report.paired)}` : '',
    report.categories.rows.length > 0 ? `<h2>Success per category</h2>${table(report.categories)}` : '',
    `<h2>Failure analysis</h2><p>${report.failed} of ${report.episodes} episodes failed.</p>${failures}`,
    `<h2>Settings that differ</h2>${report.settings.rows.length === 0 ? '<p>The settings are identical.</p>' : table(report.settings)}`,
    `<h2>How to reproduce these numbers</h2><pre>${report.commands.map(escape).join('\n')}</pre></main>`,
  ];
  return page(
    report.title,
    ' main { max-width: 960px; margin: 40px auto; padding: 0 24px; } main > ul, main > p { overflow-wrap: anywhere; } @media print { main { margin: 0 auto; } }',
    body.join('\n'),
  );
}

const BOXES = ['task', 'environment', 'policy', 'rollout', 'trajectory', 'store'];

/** The way of the data, as the design draws it. */
function overview(): string {
  const width = 150;
  const boxes = BOXES.map((name, index) => {
    const x = 10 + index * (width + 32);
    const arrow = index === 0 ? '' : `<path d="M${x - 30} 60h24m-7-5 7 5-7 5" stroke="#57595e" fill="none" stroke-width="1.6"/>`;
    return `${arrow}<rect x="${x}" y="34" width="${width}" height="52" rx="8" fill="#f3f3f1" stroke="#c9c7c2"/><text x="${x + width / 2}" y="66" text-anchor="middle" font-size="18" fill="#1c1d1f">${name}</text>`;
  });
  const [policy, trajectory] = [10 + 2 * (width + 32) + width / 2, 10 + 4 * (width + 32) + width / 2];
  const loop = [
    `<path d="M${trajectory} 86v60H${policy + 235}M${policy + 85} 146H${policy}V90m-5 8 5-8 5 8" stroke="#4b52d1" fill="none" stroke-width="1.8"/>`,
    `<rect x="${policy + 85}" y="122" width="150" height="48" rx="8" fill="#eef0ff" stroke="#4b52d1"/><text x="${policy + 160}" y="152" text-anchor="middle" font-size="18" fill="#3d43b8">algorithm</text>`,
    `<text x="${policy + 10}" y="190" font-size="14" fill="#57595e">engine: one ONNX graph (forward, backward, AdamW)</text>`,
  ];
  return `<svg viewBox="0 0 1092 200" role="img" aria-label="The way of the data">${boxes.join('')}${loop.join('')}</svg>`;
}

const SLIDES = `
  @page { size: 13.333in 7.5in; margin: 0; }
  html, body { overflow-x: hidden; }
  section { box-sizing: border-box; width: 13.333in; height: 7.5in; padding: 0.55in 0.75in; page-break-after: always; overflow: hidden; display: flex; flex-direction: column; gap: 14px; }
  section + section { border-top: 1px solid #e5e4e1; } section:last-child { page-break-after: auto; }
  h1 { font-size: 36px; overflow-wrap: anywhere; } table { font-size: 17px; } th, td { padding: 5px 18px 5px 0; } ul { margin: 0; padding-left: 22px; font-size: 19px; }
  .columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 32px; min-height: 0; flex: 1; }
  .columns svg { width: 100%; height: 100%; max-height: 4.9in; } footer { margin-top: auto; color: #57595e; font-size: 13px; overflow-wrap: anywhere; }
  .wide { overflow: hidden; }`;

/** Rows of a table that fit a slide; the rest goes to the next one. */
const ROWS = 13;

/** The answer first: what the study found, and the curve. Then every row of the results, then how the system works. */
export function slidesHtml(report: StudyReport): string {
  const { header, rows } = report.summary.rows.length > 0 ? report.summary : report.results;
  const columns = header === report.summary.header ? 8 : 7;
  const pages = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, page) => rows.slice(page * ROWS, (page + 1) * ROWS));
  const results = pages.map((own, page) => {
    const part = { header: header.slice(0, columns), rows: own.map((row) => row.slice(0, columns)) };
    const number = pages.length > 1 ? ` <span class="muted">${page + 1} of ${pages.length}</span>` : '';
    return `<section><h1>Results${number}</h1>${table(part)}</section>`;
  });
  const body = [
    `<section><h1>${escape(report.title)}</h1><div class="columns"><div>${report.figures.learning}</div><div>${list(findings(report))}</div></div>`,
    `<footer>${escape(report.about.slice(0, 2).join('. '))}.${report.about.length > 2 ? ' What differs between the runs besides is in the report.' : ''}</footer></section>`,
    ...results,
    `<section><h1>Final success</h1><div class="columns"><div>${report.figures.final}</div><div>${list(clearFirst(report.words).slice(0, 3))}</div></div>`,
    `<footer>${escape(report.commands.at(-1) ?? '')}</footer></section>`,
    `<section><h1>System</h1>${overview()}`,
    list([
      'Policies generate their actions token by token under a grammar; log-probabilities are exact',
      'Success is measured on tasks whose targets never occur in training; intervals of arms are over seeds and clusters of tasks',
    ]),
    '<footer>Astrolab: trained and measured on one machine, offline.</footer></section>',
  ];
  return page(report.title, SLIDES, body.join('\n'));
}

/** What is decided comes before what is not. */
function clearFirst(words: readonly string[]): string[] {
  const unclear = (sentence: string): boolean => sentence.includes('is not clearly different') || sentence.includes('may be chance');
  return words.toSorted((a, b) => Number(unclear(a)) - Number(unclear(b)));
}

/** The verdicts of a study (corrected where they are), decided ones first, or the first sentences of the statistics. */
function findings({ verdicts, words }: StudyReport): string[] {
  if (verdicts.rows.length === 0) return clearFirst(words).slice(0, 4);
  const claims = verdicts.rows.map(([claim = '', , verdict = '', corrected = '–']) => ({
    claim,
    verdict: corrected === '–' ? verdict : corrected,
  }));
  const kinds = ['supported', 'refuted', 'equivalent', 'inconclusive'];
  const counts = kinds.map((kind) => `${claims.filter(({ verdict }) => verdict === kind).length} ${kind}`);
  const order = claims.toSorted((a, b) => Number(a.verdict === 'inconclusive') - Number(b.verdict === 'inconclusive'));
  return [
    `${claims.length} ${claims.length === 1 ? 'claim' : 'claims'}: ${counts.join(', ')}`,
    ...order.slice(0, 4).map(({ claim, verdict }) => `${claim} (${verdict})`),
  ];
}
