// The documentation keeps up with the code: the tree names what is there, every link leads somewhere, every command is listed.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { families } from '../../main/commands/shared/families.mjs';
import { projectFolder } from '../../main/base/paths.ts';
import { LAYERS } from '../../import-rules.config.mjs';

const root = projectFolder();
const text = (file: string): string => readFileSync(join(root, file), 'utf8');
const readme = text('README.md');
const code = text('docs/CODE.md');
const tree = /```\nmain\/[\s\S]*?```/.exec(code)?.[0] ?? '';
const commandPage = text('docs/COMMANDS.md');

function markdownFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'out', 'dist', '.git', '.cache'].includes(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

test('the tree in docs/CODE.md has a line for everything in main/, for every page folder and for every script', () => {
  const wanted = ['main', 'renderer'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      if (entry.isDirectory()) return [`${entry.name}/`];
      return folder === 'main' ? [entry.name] : [];
    }),
  );
  const scripts = readdirSync(join(root, 'scripts')).filter((name) => name.endsWith('.mjs') && !name.startsWith('make-'));
  expect([...wanted, ...scripts].filter((name) => !tree.includes(name))).toEqual([]);
});

test('the README is short, and its picture of the layers is the order that the import check keeps', () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(900);
  const picture = /```\n(commands[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const rows = picture.trimEnd().split('\n');
  expect(rows.length).toBeLessThanOrEqual(10);
  const height = (layer: string): number => rows.length - rows.findIndex((row) => row.slice(0, 34).trim().split(/\s+/).includes(layer));
  for (const layer of LAYERS)
    expect(
      rows.some((row) => row.slice(0, 34).trim().split(/\s+/).includes(layer)),
      layer,
    ).toBe(true);
  for (const [index, layer] of LAYERS.entries()) {
    for (const above of LAYERS.slice(index + 1))
      expect(height(above), `${above} is drawn below ${layer}`).toBeGreaterThanOrEqual(height(layer));
  }
});

test('what the tree names exists', () => {
  const named = [...tree.matchAll(/^ {2}([\w.-]+\.(?:tsx|ts|mjs))/gm)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !['main', 'renderer', 'scripts'].some((folder) => existsSync(join(root, folder, name))))).toEqual([]);
});

test('every relative link in every text leads to a file', () => {
  const broken = markdownFiles('.').flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].flatMap((match) => {
      const target = join(root, dirname(file), match[1] ?? '');
      return existsSync(target) ? [] : [`${file} → ${match[1]}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('every command of the command line is in docs/COMMANDS.md', () => {
  const commands = families.flatMap((family) => Object.keys(family.commands).map((term) => term.replace(/ .*$/, '')));
  expect(commands).toContain('doctor');
  expect(commands.filter((name) => !new RegExp(`\`${name}[ \`]`).test(commandPage))).toEqual([]);
});

test.each([
  ['docs/STATISTICS.md', 'Which test holds which number'],
  ['docs/WINDOW.md', 'Which test holds which behaviour'],
])('every test that %s names exists', (page, heading) => {
  const [, table = ''] = text(page).split(`## ${heading}`);
  const named = [...table.matchAll(/`(test\/[^`]+)`: ((?:\*(?:[^*\\]|\\\*)+\*(?:, )?)+)/g)];
  expect(named.length).toBeGreaterThan(15);
  for (const [, file = '', names = ''] of named)
    for (const [, name = ''] of names.matchAll(/\*((?:[^*\\]|\\\*)+)\*/g))
      expect(text(file), file).toContain(name.replaceAll('\\*', '*').replace(/ …$/, ''));
});

test('printed commands name presets, studies and definition files that exist', () => {
  const lines = markdownFiles('.').flatMap((file) => text(file).split('\n'));
  const presets = new Set(readdirSync(join(root, 'resources/presets')).map((name) => name.replace('.json', '')));
  const studies = new Set(readdirSync(join(root, 'resources/studies')).map((name) => name.replace('.json', '')));
  const named = (pattern: RegExp): string[] => lines.flatMap((line) => [...line.matchAll(pattern)].map(([, name = '']) => name));
  const used = named(/--preset ([a-z][\w-]+)/g);
  expect(used.length).toBeGreaterThan(15);
  expect(used.filter((name) => !presets.has(name))).toEqual([]);
  const [defined, run] = [named(/--definition ([\w./-]+\.json)/g), lines.filter((line) => !line.includes('--definition')).join('\n')];
  expect(defined.length).toBeGreaterThan(0);
  expect(defined.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const started = [...run.matchAll(/lab -- study run ([a-z][\w-]*)/g)].map(([, name = '']) => name);
  expect(started.length).toBeGreaterThan(4);
  expect(started.filter((name) => !studies.has(name))).toEqual([]);
});
