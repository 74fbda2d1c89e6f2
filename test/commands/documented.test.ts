// The commands that the documentation prints are ones that the command line takes: the command, its options, its presets, settings and
// study definitions exist. Nothing is run.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { studyIds } from '../../main/study/definition.ts';
import { applyOverrides, loadPreset } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const root = projectFolder();
/** The pages that teach how to add something print commands for what is not there yet. */
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') && !name.startsWith('ADD_') ? [`docs/${name}`] : [])),
];

/** `npm run lab -- …` in blocks and in running text, without comments, optional parts and what the shell adds. */
function printedCommands(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/(?:^|`)npm run (?:-s )?lab -- ([^`\n]*)/gm)].map(([, rest = '']) =>
    rest
      .replace(/\s#.*$/, '')
      .replace(/\s[|>].*$/, '')
      .replace(/\[[^\]]*\]/g, '')
      .trim(),
  );
}

async function allCommands(): Promise<Command> {
  const program = new Command('lab').option('--data <dir>').option('--plugin <dir>').option('--json');
  for (const name of readdirSync(join(root, 'main/commands')).filter((file) => file.endsWith('.ts'))) {
    const family: object = await import(`../../main/commands/${name.slice(0, -'.ts'.length)}.ts`);
    if ('register' in family && typeof family.register === 'function') family.register(program);
  }
  return program;
}

/** The command that the first words name, and the words after it. */
function find(command: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const next = command.commands.find((candidate) => candidate.name() === words[0]);
  return next ? find(next, words.slice(1)) : { command, rest: words };
}

const valuesOf = (words: readonly string[], option: string): string[] => words.filter((_, at) => words[at - 1] === option);
/** Placeholders such as RUN, DIR or NAME. */
const isPlaceholder = (word: string): boolean => /^([A-Z][A-Z_]*|<.*>)$/.test(word);

test('every printed command is understood', async () => {
  const program = await allCommands();
  const printed = pages.flatMap((page) => printedCommands(page).map((line) => ({ page, line })));
  expect(printed.length).toBeGreaterThan(40);
  const faults = printed.flatMap(({ page, line }) => {
    const words = line.split(/\s+/).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
    const { command, rest } = find(program, words);
    const fault = (what: string): string[] => [`${page}: ${line}: ${what}`];
    if (command === program) return isPlaceholder(words[0] ?? '') || words[0] === '' || words[0] === 'help' ? [] : fault('no such command');
    const flags = new Set([...command.options, ...program.options].flatMap(({ short, long }) => [short, long]));
    const unknown = rest.filter((word) => /^--?[a-z]/.test(word) && !flags.has(word.replace(/=.*$/, '')) && word !== '--help');
    return [
      ...unknown.flatMap((word) => fault(`no option ${word}`)),
      ...valuesOf(rest, '--definition').flatMap((file) =>
        isPlaceholder(file) || existsSync(join(root, file)) ? [] : fault(`no file ${file}`),
      ),
      ...presetFaults(command.name(), rest).flatMap(fault),
      ...(command.parent?.name() === 'study' &&
      rest[0] &&
      !rest[0].startsWith('-') &&
      !isPlaceholder(rest[0]) &&
      !studyIds(BUILT_IN).includes(rest[0]) &&
      !rest.includes('--definition')
        ? fault(`no study ${rest[0]}`)
        : []),
    ];
  });
  expect(faults).toEqual([]);
});

function presetFaults(command: string, words: readonly string[]): string[] {
  return valuesOf(words, '--preset').flatMap((preset) => {
    if (isPlaceholder(preset)) return [];
    try {
      const { config } = loadPreset(preset);
      if (command === 'train')
        applyOverrides(
          config,
          valuesOf(words, '--set').filter((set) => !/=[A-Z…]+$/.test(set)),
        );
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
}
