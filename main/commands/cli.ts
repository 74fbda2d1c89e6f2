// The lab without a window: `npm run lab -- <command>`. What becomes of the words is in main/commands/shared/run.ts; here is what a process of its own
// needs beside that.

process.env.ORT_DISABLE_TELEMETRY = '1'; // before anything can load onnxruntime: nothing leaves this machine

import { runCommand } from './shared/run.ts';

// A reader that has seen enough (`| head`) or a terminal that was closed is no failure: the work continues and decides the exit code.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') process.exitCode = 1;
  });
}

process.exitCode = await runCommand(process.argv.slice(2));
