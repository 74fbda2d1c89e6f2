// How the window's application hears of the end of its worker processes.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { electronExecutable, freshDataFolder, launchEnvironment, SWITCHES } from './app.ts';

test('each process is said to have ended as it did, whatever ended before, and nothing of it stays', () => {
  const data = freshDataFolder();
  const program = fileURLToPath(new URL('utility-program.ts', import.meta.url));
  const { stdout, stderr } = spawnSync(electronExecutable(), [...SWITCHES, program], { env: launchEnvironment(data), encoding: 'utf8' });
  rmSync(data, { recursive: true, force: true });
  const line = stdout.split('\n').find((text) => text.startsWith('{'));
  expect(line, stderr).toBeDefined();
  expect(JSON.parse(line ?? '')).toEqual({
    reasons: {
      SIGSEGV: 'crashed, exit code 11',
      'refusal after SIGSEGV': 'exit code 1',
      SIGKILL: 'killed, exit code 9',
      'refusal after SIGKILL': 'exit code 1',
    },
    listeners: 1,
  });
});
