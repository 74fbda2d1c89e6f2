// @ts-check
// `npm run bench -- engine|env|store|window|train|cluster|device|llm|memory|estimate|presets|times [--json]`: runs test/bench/<name>.ts in Electron's Node. The
// window's benchmark drives the real application, so it gets the bundle and a virtual display where there is none.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nodeEnvironment } from './electron.mjs';
import { aside, setUp } from './setup.mjs';
import { foreground, main, root } from './stage.mjs';
import { hasDisplay, withVirtualDisplay } from './system.mjs';

const folder = join(root, 'test', 'bench');
const known = readdirSync(folder).flatMap((file) => (/^[a-z]+\.ts$/.test(file) && file !== 'report.ts' ? [file.slice(0, -3)] : []));

await main(async () => {
  const [name, ...options] = process.argv.slice(2);
  if (!name || !existsSync(join(folder, `${name}.ts`)) || !known.includes(name)) {
    console.error(`${name ? `There is no benchmark "${name}".` : 'Which benchmark?'} npm run bench -- ${known.join('|')} [--json]`);
    return 2;
  }
  const inWindow = name === 'window';
  const electron = await setUp(aside, { build: inWindow, virtualDisplay: inWindow && !hasDisplay(), peers: name === 'llm' });
  const start = (/** @type {NodeJS.ProcessEnv} */ env) =>
    foreground(electron.executable, [join(folder, `${name}.ts`), ...options], nodeEnvironment(electron, env));
  return inWindow && !hasDisplay() ? withVirtualDisplay(start) : start(process.env);
});
