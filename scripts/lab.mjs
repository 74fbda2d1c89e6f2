// @ts-check
// `npm run lab -- <command>`: the command line in Electron's Node, straight from the TypeScript sources. Input,
// output, signals and the exit code are the command's own; set-up lines, when there is work to do, go to stderr.

import { join } from 'node:path';
import { nodeEnvironment } from './electron.mjs';
import { aside, setUp } from './setup.mjs';
import { foreground, main, root } from './stage.mjs';

await main(async () => {
  const electron = await setUp(aside, { build: false, virtualDisplay: false });
  return foreground(electron.executable, [join(root, 'main', 'cli.ts'), ...process.argv.slice(2)], nodeEnvironment(electron));
});
