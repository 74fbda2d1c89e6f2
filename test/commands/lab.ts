// The command line within the process of a test: the same way from the words to answer and exit code as in main/commands/cli.ts, without a process for
// every call. What a process is needed for is tested with one, in cli.test.ts, play.test.ts and test/trust/.

import { vi } from 'vitest';
import { runCommand } from '../../main/commands/shared/run.ts';

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function lab(...args: string[]): Promise<Answer> {
  const said = { stdout: '', stderr: '' };
  const ears = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  process.exitCode = undefined; // of whatever ran in this process before
  try {
    const code = await runCommand(args);
    return { code, out: said.stdout, err: said.stderr };
  } finally {
    for (const ear of ears) ear.mockRestore();
    process.exitCode = undefined; // it was the command's
  }
}
