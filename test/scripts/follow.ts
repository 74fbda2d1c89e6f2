// Follows a page of docs/ to the letter: every code block that names a file is written to a copy of the tree, every block marked `diff` is
// applied there. So a page that says "add this" cannot fall behind the code without a test noticing.
//
//   ```ts main/algorithm/mine.ts      the whole file
//   ```diff main/algorithm/registry.ts   lines with + are added, lines with - removed, the others must be there

import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectFolder } from '../../main/base/paths.ts';

const COPIED = ['main', 'preload', 'renderer', 'resources', 'test', 'scripts', 'docs'];
const FILES = [
  'README.md',
  'LICENSE',
  '.gitignore',
  '.npmrc',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
  'import-rules.config.mjs',
  'knip.json',
  '.oxlintrc.json',
  '.oxfmtrc.json',
  'electron.vite.config.ts',
  'vitest.config.ts',
];

export interface Block {
  readonly kind: 'file' | 'diff';
  readonly path: string;
  readonly text: string;
}

/** The code blocks of a page that name a file, in order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+) ([\w./-]+)\n([\s\S]*?)^```$/gm)].map(([, language, path = '', text = '']) => ({
    kind: language === 'diff' ? ('diff' as const) : ('file' as const),
    path,
    text,
  }));
}

/** The file with the block's changes; what the block expects to find must be there exactly once. */
export function applyDiff(content: string, { path, text }: Block): string {
  const lines = text.trimEnd().split('\n');
  const before = lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
  const after = lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1));
  const parts = content.split(`${before.join('\n')}\n`);
  if (parts.length !== 2) {
    throw new Error(`${path}: expected once, found ${parts.length - 1} times:\n${before.join('\n')}`);
  }
  return parts.join(`${after.join('\n')}\n`);
}

/** A copy of the tree in a temporary folder, sharing the installed packages. */
export function copyTree(): string {
  const root = projectFolder();
  const copy = mkdtempSync(join(tmpdir(), 'astrolab-follow-'));
  for (const name of [...COPIED, ...FILES]) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Does what the page says in the copy; answers the files it touched. */
export function follow(page: string, copy: string): string[] {
  const blocks = blocksOf(readFileSync(join(projectFolder(), 'docs', page), 'utf8'));
  for (const block of blocks) {
    const file = join(copy, block.path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, block.kind === 'file' ? block.text : applyDiff(readFileSync(file, 'utf8'), block));
  }
  return [...new Set(blocks.map(({ path }) => path))];
}
