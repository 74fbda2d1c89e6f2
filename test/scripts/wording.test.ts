// Texts that people read (window, command line, errors, settings, documentation) use the field's terms: a few words that had become a
// private dialect are kept out. Comments and identifiers are not looked at.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { projectFolder } from '../../main/paths.ts';

const DIALECT =
  /\b(tells?|told|telling|mend(s|ed)?|go(es)? on\b(?! a)|went on|how often|decisive|what is left|by hand|wits|held[- ]out tasks)\b|(['’]s|\b(its|their|our|your)) own\b/i;
/** Pages that were generated from stored studies, whose frozen definitions keep their words. */
const GENERATED = ['docs/STUDY.md', 'docs/AIDS.md'];
const ALLOWED = ['# Bring your own'];

const files = (folder: string, kind: RegExp): string[] =>
  readdirSync(join(projectFolder(), folder), { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && kind.test(entry.name) ? [join(entry.parentPath, entry.name)] : [],
  );
const short = (file: string): string => file.slice(projectFolder().length + 1);
const read = (file: string): string => readFileSync(file, 'utf8');

/** All texts of a source file: string literals, template parts and what stands between tags. */
function textsOf(file: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const fields = new Map<string, unknown>(Object.entries(node));
    const value = fields.get('value');
    const type = fields.get('type');
    if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') found.push(value);
    if (type === 'TemplateElement' && typeof value === 'object' && value !== null && 'raw' in value) found.push(String(value.raw));
    for (const child of fields.values()) visit(child);
  };
  visit(parseSync(file, read(file)).program);
  return found;
}

test('window, command line, errors and settings', () => {
  const sources = ['main', 'preload', 'renderer', 'scripts'].flatMap((folder) => files(folder, /\.(ts|tsx|mjs)$/));
  expect(sources.length).toBeGreaterThan(300);
  const suspects = sources.filter((file) => DIALECT.test(read(file)));
  const texts = suspects.flatMap((file) => textsOf(file).map((text) => [short(file), text] as const));
  expect(texts.filter(([, text]) => text.includes(' ') && DIALECT.test(text))).toEqual([]);
});

test('documentation and presets', () => {
  const pages = [join(projectFolder(), 'README.md'), ...files('docs', /\.md$/), ...files('main', /\.md$/)];
  const lines = [...pages, ...files('resources/presets', /\.json$/)].flatMap((file) =>
    GENERATED.includes(short(file))
      ? []
      : read(file)
          .split('\n')
          .map((line, index) => `${short(file)}:${index + 1}: ${line}`),
  );
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines.filter((line) => DIALECT.test(line) && !ALLOWED.some((allowed) => line.includes(allowed)))).toEqual([]);
});
