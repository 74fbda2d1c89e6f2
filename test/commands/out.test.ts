// `--out` of every command that has it: what cannot be written is refused before the work begins and stays as it is; what is written to
// standard output is all that stands there.

import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { bareProgram, families } from '../../main/commands/shared/families.mjs';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { newRun, someUpdate } from '../store/samples.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { startLab } from '../trust/lab.ts';
import { lab } from './lab.ts';

/** A call of every command with `--out`; each would do its work if it began. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  export: ['export', '1'],
  graph: ['graph', '--preset', 'shop-tiny', '--rows', '2', '--length', '16'],
  'models export': ['models', 'export', '1'],
  sources: ['sources'],
  'study export': ['study', 'export', 'both'],
  'study report': ['study', 'report', 'both'],
  'study run': ['study', 'run', 'ladder', '--finished'],
  tune: ['tune', '--preset', 'shop-tiny'],
};

function filled(): string {
  const store = openStore();
  for (const seed of [1, 2]) {
    const { id } = store.runs.create(newRun({ seed }));
    const writer = new RunWriter(store, id);
    for (let update = 1; update <= 3; update++) writer.apply(someUpdate(seed, update));
    store.runs.change(id, { state: 'done', position: null });
  }
  store.studies.create('both', [1, 2]);
  return store.dataFolder;
}

function withOut(command: Command, words: readonly string[] = []): string[] {
  const own = command.options.some(({ long }) => long === '--out') ? [words.join(' ')] : [];
  return [...own, ...command.commands.flatMap((child) => withOut(child, [...words, child.name()]))];
}

test('every command that writes a file is in the table', async () => {
  const program = bareProgram();
  for (const { load } of families) (await load()).register(program);
  expect([...new Set(withOut(program))].toSorted()).toEqual(Object.keys(CALLS).toSorted());
});

describe('is refused with exit code 2, and stays:', () => {
  const places: [string, (folder: string) => string, RegExp][] = [
    ['a link to nothing', (folder) => join(folder, 'dangling'), /^--out: .*dangling (is a link to .*nothing|is no folder|exists already)/],
    ['a place below a file', (folder) => join(folder, 'file', 'name'), /^--out: .*a part of the path is a file where a folder is expected/],
  ];
  test.each(places.flatMap(([what, ...rest]) => Object.keys(CALLS).map((call) => [what, call, ...rest] as const)))(
    '%s, %s',
    async (_, call, place, message) => {
      const folder = temporaryFolder();
      symlinkSync('nothing', join(folder, 'dangling'));
      writeFileSync(join(folder, 'file'), 'kept');
      const { code, out } = await lab('--data', filled(), '--json', ...(CALLS[call] ?? []), '--out', place(folder));
      expect([code, JSON.parse(out).error.message]).toEqual([2, expect.stringMatching(message)]);
      expect(lstatSync(join(folder, 'dangling')).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('kept');
      expect(readdirSync(folder).toSorted()).toEqual(['dangling', 'file']);
    },
  );

  test.each(['export', 'graph', 'sources', 'study export', 'study run', 'models export'])(
    'a folder where a file belongs, %s',
    async (call) => {
      const folder = join(temporaryFolder(), 'folder');
      mkdirSync(folder);
      const { code, out } = await lab('--data', filled(), '--json', ...(CALLS[call] ?? []), '--out', folder);
      expect([code, JSON.parse(out).error.message]).toEqual([2, expect.stringMatching(/folder (is a folder; a file|exists already)/)]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test.each(['tune', 'study report', 'study run', 'models export'])('standard output where several files are written, %s', async (call) => {
    expect(await lab('--data', filled(), ...(CALLS[call] ?? []), '--out', '-')).toMatchObject({ code: 2, out: '' });
  });

  test.each(['-', '/dev/stdout'])('%s beside --json', async (out) => {
    const answered = await lab('--data', filled(), '--json', ...(CALLS.graph ?? []), '--out', out);
    expect([answered.code, JSON.parse(answered.out).error.message]).toEqual([2, '--json and --out both ask for standard output']);
  });
});

test.skipIf(process.platform === 'win32')('standard output holds the file alone, by each of its names', async () => {
  const data = filled();
  const file = join(temporaryFolder(), 'metrics.csv');
  const metrics = ['export', '1', '--format', 'metrics-csv', '--out'];
  expect((await lab('--data', data, ...metrics, file)).code).toBe(0);
  const expected = readFileSync(file, 'utf8');
  for (const name of ['-', '/dev/stdout', '/dev/fd/1']) {
    const { code, out, err } = await startLab(data, [...metrics, name]).ended;
    expect([code, out]).toEqual([0, expected]);
    expect(err).toContain(`${expected.length} bytes`);
  }
  const whole = join(temporaryFolder(), 'run.astrolab');
  expect((await lab('--data', data, 'export', '1', '--out', whole)).code).toBe(0);
  const handle = openSync(`${whole}-passed`, 'w');
  const passed = await lab('--data', data, '--json', 'export', '1', '--out', `/dev/fd/${handle}`);
  closeSync(handle);
  expect(JSON.parse(passed.out)).toEqual({ file: `/dev/fd/${handle}`, bytes: statSync(whole).size });
  expect(readFileSync(`${whole}-passed`).equals(readFileSync(whole))).toBe(true);
});
