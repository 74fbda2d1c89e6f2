// Text from elsewhere in every format that leaves the lab, and the numbers as people read them.

import { expect, test } from 'vitest';
import {
  bytes,
  codeLine,
  csvCell,
  duration,
  html,
  interval,
  latex,
  markdown,
  percent,
  points,
  pValue,
  signedPoints,
  terminal,
} from '../main/base/format.ts';

test('shares, points, intervals, p-values, durations and sizes read the same wherever they appear', () => {
  expect([percent(0.6241), points(-0.031), signedPoints(0.031), signedPoints(-0.0001)]).toEqual(['62.4%', '−3.1', '+3.1', '0.0']);
  expect([interval({ low: 0.5, high: 0.75 }), pValue(0.04), pValue(0.00012)]).toEqual(['50.0%–75.0%', '0.040', '1.2e−4']);
  expect([8.25, 42, 200, 7500, NaN].map(duration)).toEqual(['8.3 s', '42 s', '3 min 20 s', '2 h 05 min', '–']);
  expect([999, 1500, 3.2e9].map(bytes)).toEqual(['999 B', '1.5 kB', '3.2 GB']);
});

test('a name cannot steer the terminal: no escape sequence, no carriage return, no turned direction', () => {
  expect(terminal('a\u001b[2Jb\rc\u009b31md\u202eexe.txt')).toBe('a␛[2Jb␍c�31md�exe.txt');
  expect(terminal('two\nlines\tand a tab')).toBe('two\nlines\tand a tab');
});

test('a name cannot become HTML, a link, a heading or a second cell of Markdown, nor end a block of code', () => {
  expect(markdown('<script>alert(1)</script>')).toBe('&lt;script>alert(1)&lt;/script>');
  expect(markdown('![x](http://e/) | *V* `c`\n# new')).toBe('!\\[x](http://e/) \\| \\*V\\* \\`c\\` # new');
  expect(codeLine('a\n```\n<b>')).toBe('a ` ` ` <b>');
});

test('a name cannot become a formula, an element or a LaTeX command', () => {
  expect(['=1+1', '+1', '-1', '@x', '\t=1'].map(csvCell)).toEqual(["'=1+1", "'+1", "'-1", "'@x", "'\t=1"]);
  expect([csvCell(-1), csvCell('a,"b"'), csvCell(null)]).toEqual(['-1', '"a,""b"""', '']);
  expect(html(`<a href="x" onclick='y'>&</a>`)).toBe('&#60;a href=&#34;x&#34; onclick=&#39;y&#39;&#62;&#38;&#60;/a&#62;');
  expect(latex('\\input{x} 5% – a_b')).toBe('\\textbackslash{}input\\{x\\} 5\\% -- a\\_b');
});
