// @ts-check
// `npm run lab -- <command>`: the command line in Electron's Node, straight from the TypeScript sources. Input,
// output, signals and the exit code are the command's own; set-up lines, when there is work to do, go to stderr.
// npm changes to the project's folder: relative paths are meant from where it was called.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nodeEnvironment } from './electron.mjs';
import { aside, setUp } from './setup.mjs';
import { foreground, main, root } from './stage.mjs';

const args = process.argv.slice(2);

await main(async () => {
  // The overview needs only commander: where that is installed, it is written without starting Electron.
  if (args.length === 1 && ['--help', '-h', 'help'].includes(args[0] ?? '') && existsSync(join(root, 'node_modules/commander'))) {
    const { addOverview, bareProgram } = await import('../main/commands/shared/families.mjs');
    addOverview(bareProgram()).outputHelp();
    return 0;
  }
  const electron = await setUp(aside, { build: false, virtualDisplay: false });
  const words = [join(root, 'main', 'commands', 'cli.ts'), ...args];
  return foreground(electron.executable, words, nodeEnvironment(electron), process.env.INIT_CWD);
});
