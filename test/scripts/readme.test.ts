// The documentation keeps up with the code: the tree names what is there, every link leads somewhere, every command is listed.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../../main/paths.ts';

const root = projectFolder();
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tree = /```\nmain\/[\s\S]*?```/.exec(readme)?.[0] ?? '';

function markdownFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'out', 'dist', '.git', '.cache'].includes(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

test('the tree in the README has a line for everything in main/, for every page folder and for every script', () => {
  const wanted = ['main', 'renderer'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      if (entry.isDirectory()) return [`${entry.name}/`];
      return folder === 'main' ? [entry.name] : [];
    }),
  );
  const scripts = readdirSync(join(root, 'scripts')).filter((name) => name.endsWith('.mjs') && !name.startsWith('make-'));
  expect([...wanted, ...scripts].filter((name) => !tree.includes(name))).toEqual([]);
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

test('every command of the command line is in the README', () => {
  const source = readFileSync(join(root, 'main/cli.ts'), 'utf8');
  const commands = [...source.matchAll(/commands: \[([^\]]*)\]/g)].flatMap((match) =>
    [...(match[1] ?? '').matchAll(/'([a-z]+)'/g)].map(([, name]) => name ?? ''),
  );
  expect(commands).toContain('doctor');
  expect(commands.filter((name) => !new RegExp(`\`${name}[ \`]`).test(readme))).toEqual([]);
});
