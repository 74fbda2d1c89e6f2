// @ts-check
// `node scripts/screenshot.mjs [--data DIR] [page=address …]`: the pictures of the documentation, taken from the real
// window in both themes and written to docs/images/. Without --data the window shows what a new user sees.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { windowEnvironment } from './electron.mjs';
import { aloud, setUp } from './setup.mjs';
import { main, root } from './stage.mjs';
import { sandboxSwitches, withVirtualDisplay } from './system.mjs';

const words = process.argv.slice(2);
const at = words.indexOf('--data');
const given = at >= 0 ? words[at + 1] : undefined;
const named = words.filter((word) => /^[a-z-]+=\//.test(word)).map((word) => word.split('=', 2));
const pages = named.length > 0 ? named : Object.entries({ runs: '/', 'new-run': '/new', settings: '/settings' });

await main(async () => {
  const electron = await setUp(aloud, { build: true, virtualDisplay: true });
  const { _electron } = await import('playwright-core');
  const data = given ?? mkdtempSync(join(tmpdir(), 'astrolab-screenshot-'));
  const images = join(root, 'docs', 'images');
  mkdirSync(images, { recursive: true });
  await withVirtualDisplay(async (env) => {
    const args = [...sandboxSwitches(electron).args, '--disable-gpu', '--log-level=3', root];
    const variables = { ...windowEnvironment(electron, env), ASTROLAB_DATA: data };
    const app = await _electron.launch({ executablePath: electron.executable, args, env: variables, colorScheme: null });
    try {
      const page = await app.firstWindow();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setContentSize(1360, 860));
      for (const theme of ['light', 'dark']) {
        await page.evaluate(`window.astrolab.call('system.setTheme', { theme: '${theme}' })`);
        for (const [name, address] of pages) {
          await page.evaluate(`window.location.hash = ${JSON.stringify(address)}`);
          await page.locator('main h1').first().waitFor();
          await page.mouse.move(0, 0);
          await page.waitForTimeout(1500); // charts draw themselves in
          const file = join(images, `${name}-${theme}.png`);
          await page.screenshot({ path: file });
          console.log(`Picture: ${file}`);
        }
      }
    } finally {
      // A run that trains would hold the window back: the question before quitting is answered.
      await app.evaluate(({ dialog }) => void (dialog.showMessageBoxSync = () => 1));
      await app.close();
    }
  });
  if (!given) rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});
