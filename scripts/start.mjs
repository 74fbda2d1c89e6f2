// @ts-check
// `npm start`: from a fresh clone to the open window. Without a display it says so and runs the demo in the terminal.

import { join } from 'node:path';
import { nodeEnvironment, windowEnvironment } from './electron.mjs';
import { aloud, setUp } from './setup.mjs';
import { foreground, main, root } from './stage.mjs';
import { hasDisplay, sandboxSwitches } from './system.mjs';

await main(async () => {
  const display = hasDisplay();
  const electron = await setUp(aloud, { build: display, virtualDisplay: false });
  if (!display) {
    console.log('No display (neither DISPLAY nor WAYLAND_DISPLAY is set): running "lab demo" in the terminal instead of the window.');
    return foreground(
      electron.executable,
      [join(root, 'main', 'commands', 'cli.ts'), 'demo', ...process.argv.slice(2)],
      nodeEnvironment(electron),
    );
  }
  const { args, warning } = sandboxSwitches(electron);
  if (warning) console.log(warning);
  console.log('Window: opening Astrolab; close it to end');
  return foreground(electron.executable, [...args, '--log-level=3', root, ...process.argv.slice(2)], windowEnvironment(electron));
});
