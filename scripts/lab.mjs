// @ts-check
// `npm run lab -- <command>`: the command line in Electron's Node, straight from the TypeScript sources. Input,
// output, signals and the exit code are the command's own; set-up lines, when there is work to do, go to stderr.
// npm changes to the project's folder: relative paths are meant from where it was called.

import { join } from 'node:path';
import { nodeEnvironment } from './electron.mjs';
import { aside, setUp } from './setup.mjs';
import { foreground, main, root } from './stage.mjs';

await main(async () => {
  const electron = await setUp(aside, { build: false, virtualDisplay: false });
  const words = [join(root, 'main', 'cli.ts'), ...process.argv.slice(2)];
  return foreground(electron.executable, words, nodeEnvironment(electron), process.env.INIT_CWD);
});
