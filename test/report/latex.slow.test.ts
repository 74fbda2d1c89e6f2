// What the lab writes as LaTeX goes through the real pdflatex, where there is one (Debian: texlive-latex-recommended).

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { latexTable } from '../../main/report/report.ts';

const installed = spawnSync('pdflatex', ['--version']).status === 0;

test.skipIf(!installed)('a short and a long table compile', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-latex-'));
  const row = (index: number): string[] => [`run_${index} β₂ 100% “q” 🦊 $x^2$ \\end{document}`, '−3.1', '61.0–64.2%'];
  const tables = [5, 120].map((count) =>
    latexTable(
      ['run', 'difference', 'interval'],
      Array.from({ length: count }, (_, index) => row(index)),
    ),
  );
  const paper = ['\\documentclass{article}', '\\usepackage{booktabs,longtable}', '\\begin{document}', ...tables, '\\end{document}'];
  writeFileSync(join(folder, 'paper.tex'), paper.join('\n\n'));
  execFileSync('pdflatex', ['-interaction=nonstopmode', '-halt-on-error', 'paper.tex'], { cwd: folder });
  expect(existsSync(join(folder, 'paper.pdf'))).toBe(true);
  rmSync(folder, { recursive: true });
});
