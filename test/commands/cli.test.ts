// The command line as people script against it: exit codes, one JSON document, errors as data.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { lab as labHere } from './lab.ts';

function lab(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(projectFolder(), 'main/commands/cli.ts'), ...args], {
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

test('doctor answers with one JSON document in the shape that DESIGN.md promises', () => {
  const { code, out } = lab('--data', '/tmp/astrolab-elsewhere', 'doctor', '--json');
  const diagnosis = JSON.parse(out);
  expect(code).toBe(0);
  expect(diagnosis.dataFolder).toBe('/tmp/astrolab-elsewhere');
  expect(diagnosis).toMatchObject({ ok: true, versions: { electron: '42.0.0', onnxruntime: '1.30.0' }, problems: expect.any(Array) });
  expect(Object.keys(diagnosis.versions)).toEqual(['astrolab', 'electron', 'chromium', 'node', 'onnxruntime', 'sqlite', 'os']);
  for (const device of diagnosis.devices) {
    expect(device).toEqual({
      ...device,
      id: expect.any(String),
      name: expect.any(String),
      ok: expect.any(Boolean),
      reason: expect.any(String),
    });
  }
  expect(diagnosis.devices.find(({ id }: { id: string }) => id === 'cpu')).toMatchObject({ ok: true });
  for (const problem of diagnosis.problems) expect(problem.fix.length).toBeGreaterThan(10);
  expect(diagnosis.freeDisk).toBeGreaterThan(0);
});

test('doctor prints the same as text, and --data is obeyed after the command too', () => {
  const after = lab('doctor', '--data', '/tmp/astrolab-elsewhere');
  expect(after.out).toMatch(/electron {5}42\.0\.0[\s\S]*folder {7}\/tmp\/astrolab-elsewhere[\s\S]*ok +cpu[\s\S]*The lab is ready\./);
});

test('a data folder that can not be used is an error with its fix, and exit code 1', () => {
  const { code, out } = lab('doctor', '--json', '--data', '/dev/null/lab');
  const { ok, problems } = JSON.parse(out);
  expect(code).toBe(1);
  expect(ok).toBe(false);
  expect(problems.find(({ severity }: { severity: string }) => severity === 'error')?.message).toContain('/dev/null/lab');
});

test.each([
  [['docter'], "unknown command 'docter'"],
  [['doctor', '--nope'], "unknown option '--nope'"],
  [['doctor', 'surplus'], 'too many arguments'],
  [['doctor', '--data'], "option '--data <dir>' argument missing"],
])('the wrong call %j ends with exit code 2 and says why, as data with --json', async (args, message) => {
  const { code, out } = await labHere('--json', ...args);
  expect(code).toBe(2);
  expect(JSON.parse(out)).toEqual({
    error: { code: 'wrong-call', message: expect.stringContaining(message), hint: expect.stringContaining('--help') },
  });
});

test('without --json a wrong call is reported on stderr, and stdout stays empty', () => {
  const { code, out, err } = lab('doctor', '--nope');
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(err).toMatch(/^unknown option '--nope'\n/);
});

test('without a command the help goes to stderr with exit code 2; asked for, to stdout with 0', () => {
  const nothing = lab();
  expect(nothing).toMatchObject({ code: 2, out: '' });
  const help = lab('--help');
  expect(help.code).toBe(0);
  expect(help.out).toBe(nothing.err);
  expect(help.out).toContain('doctor');
});
