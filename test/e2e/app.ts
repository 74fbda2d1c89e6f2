// Starts the built application for a test: the real Electron, a fresh data folder, every complaint of the page
// collected. Needs a display (npm test brings a virtual one) and the bundle in out/ (npm test builds it).

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { _electron } from 'playwright-core';
import type { ElectronApplication, Locator, Page } from 'playwright-core';
import { projectFolder } from '../../main/base/paths.ts';
import { Store } from '../../main/store/store.ts';

export interface Lab {
  readonly app: ElectronApplication;
  readonly page: Page;
  readonly data: string;
  /** Errors and warnings of the page's console, and what it threw; taking them empties the list. */
  takeComplaints(): string[];
  /** Throws if the page complained since the last look. */
  noComplaints(): void;
  /** Closes the window; the data folder stays for a second start unless `remove` is asked for. */
  close(options?: { keep?: boolean }): Promise<void>;
}

/** A limit for what never comes, not a measure of how fast it comes. */
const PATIENCE_MS = 100_000;

/** As root Chromium's sandbox must be off; elsewhere the tests run with it. */
export const SWITCHES: readonly string[] = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--log-level=3'];

export function freshDataFolder(): string {
  return mkdtempSync(join(tmpdir(), 'astrolab-e2e-'));
}

/** Reads the database as it is on disk, beside the application. */
export function readStore<T>(data: string, read: (store: Store) => T): T {
  const store = Store.read(data);
  try {
    return read(store);
  } finally {
    store.close();
  }
}

/** Vitest itself runs in Electron's Node, so the executable is at hand. */
export function electronExecutable(): string {
  if (!process.versions.electron) throw new Error('The end-to-end tests run inside Electron’s Node: start them with npm test');
  return process.execPath;
}

export function launchEnvironment(data: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const environment = Object.fromEntries(inherited.filter(([name]) => name !== 'ELECTRON_RUN_AS_NODE' && !name.startsWith('VITEST')));
  return { ...environment, ASTROLAB_DATA: data };
}

export interface LaunchOptions {
  readonly data?: string;
  readonly switches?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export async function launch(options: LaunchOptions = {}): Promise<Lab> {
  if (!existsSync(join(projectFolder(), 'out/main/index.js'))) throw new Error('There is no bundle in out/: npm test builds it first');
  const data = options.data ?? freshDataFolder();
  const app = await _electron.launch({
    executablePath: electronExecutable(),
    args: [...SWITCHES, ...(options.switches ?? []), projectFolder()],
    env: { ...launchEnvironment(data), ...options.environment },
    timeout: PATIENCE_MS,
    colorScheme: null, // or Playwright would pretend a light system
  });
  const page = await app.firstWindow();
  page.setDefaultTimeout(PATIENCE_MS);
  if (process.env.ASTROLAB_TEST_SLOW) await slowDown(app, page, Number(process.env.ASTROLAB_TEST_SLOW));
  const complaints: string[] = [];
  page.on('console', (message) => {
    if ((message.type() === 'error' || message.type() === 'warning') && !message.text().includes('willReadFrequently'))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.evaluate(holdMessages, SHORTEST_MESSAGE_MS);
  return {
    app,
    page,
    data,
    takeComplaints: () => complaints.splice(0),
    noComplaints: () => {
      if (complaints.length > 0) throw new Error(`The page complained:\n${complaints.splice(0).join('\n')}`);
    },
    close: async ({ keep = false } = {}) => {
      // A run may still train: the question before quitting is answered.
      await app.evaluate(({ dialog }) => {
        dialog.showMessageBoxSync = () => 1;
      });
      await app.close();
      if (!keep) rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Messages at the window's edge stay at least so long (renderer/state/toasts.ts). */
const SHORTEST_MESSAGE_MS = 5000;

/** In the page: messages stay until they are closed, so that no test has to be faster than they are. */
function holdMessages(shortest: number): void {
  const { setTimeout: real } = window;
  const held = (run: TimerHandler, milliseconds = 0, ...given: unknown[]): number =>
    milliseconds >= shortest ? 0 : real(run, milliseconds, ...given);
  window.setTimeout = Object.assign(held, real);
}

/**
 * The window of a machine so many times slower: its page computes that much slower, and the lab answers each call so many tenths of a
 * second later. What fails then depends on speed.
 */
async function slowDown(app: ElectronApplication, page: Page, factor: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: factor });
  await app.evaluate(({ ipcMain }, late) => {
    const handlers: Map<string, (...given: unknown[]) => unknown> = Reflect.get(ipcMain, '_invokeHandlers');
    for (const [channel, handler] of handlers) {
      handlers.set(channel, async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, late));
        return handler(...given);
      });
    }
  }, 100 * factor);
}

/** Waits until it is on screen. */
export async function shown(locator: Locator): Promise<true> {
  await locator.waitFor();
  return true;
}

/** Waits until it is no longer there. */
export async function gone(locator: Locator): Promise<true> {
  await locator.waitFor({ state: 'detached' });
  return true;
}

/** What of a page differs between the themes. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** What axe finds wrong on the page as it is now, in short lines; empty when all is well. In the dark theme, which differs in its colours alone, these. */
export async function accessibilityProblems({ page }: Lab, theme: 'light' | 'dark' = 'light'): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations, passes } = await (theme === 'dark' ? axe.withRules(COLOUR_RULES) : axe).analyze();
  if (passes.length < (theme === 'dark' ? 1 : 10)) throw new Error(`axe checked only ${passes.length} rules: it did not see the page`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}

/** What Playwright says when V8 has collected the promise of an answer before it came; the question may be asked again. */
const COLLECTED = /promise was (garbage )?collected/i;

/** Playwright's waitForFunction needs eval, which the page's policy forbids; so conditions are asked for from here. */
export async function until<T>(what: string, ask: () => Promise<T>): Promise<NonNullable<T>> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (!COLLECTED.test(String(error))) throw error;
      return undefined;
    });
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`Waited ${PATIENCE_MS} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Opens the palette and waits until it takes letters: keys pressed earlier would go to the page. */
export async function openPalette({ page }: Lab): Promise<Locator> {
  await page.keyboard.press('Control+k');
  const input = page.getByRole('combobox', { name: 'Search everything' });
  await input.waitFor();
  await until('focus in the palette', () => input.evaluate((element) => element === document.activeElement));
  return input;
}

/** Clicks an entry of the application's menu. */
export async function chooseInMenu({ app }: Lab, menu: string, entry: string): Promise<void> {
  await app.evaluate(
    ({ Menu }, [heading, label]) => {
      const items = Menu.getApplicationMenu()?.items.find((item) => item.label === heading)?.submenu?.items;
      const found = items?.find((item) => item.label === label);
      if (!found) throw new Error(`The menu ${heading} has no entry ${label}`);
      found.click();
    },
    [menu, entry],
  );
}

/** Closes the open dialog and waits until it has gone: a key pressed before that still belongs to it. */
export async function closeDialog({ page }: Lab): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

export async function setTheme({ page }: Lab, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate((value) => window.astrolab.call('system.setTheme', { theme: value }), theme);
  await until(`the ${theme} theme`, () =>
    page.evaluate((dark) => matchMedia('(prefers-color-scheme: dark)').matches === dark, theme === 'dark'),
  );
}

/** Closes the messages at the window's edge. */
export async function dismissMessages({ page }: Lab): Promise<void> {
  const dismiss = page.getByRole('button', { name: 'Dismiss' });
  while ((await dismiss.count()) > 0) await dismiss.first().click();
}

/** Keys that belong together, such as `g r`, are all sent before any is waited for: the page forgets the first one after a second. */
export async function pressTogether({ page }: Lab, ...keys: string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

/** Goes to an address by the page's hash, as a link would, and waits until the page has drawn it. */
export async function visit({ page }: Lab, address: string): Promise<void> {
  await page.evaluate(async (hash) => {
    if (window.location.hash === hash) return;
    const changed = new Promise((resolve) => window.addEventListener('hashchange', resolve, { once: true }));
    window.location.hash = hash;
    await changed;
  }, `#${address}`);
  await page.locator('main h1').first().waitFor();
}

/** The inside of the window in pixels; half of a size is what 200% zoom leaves. */
export async function resize({ app }: Lab, width: number, height: number): Promise<void> {
  await app.evaluate(
    ({ BrowserWindow }, size) => {
      const window = BrowserWindow.getAllWindows()[0];
      window?.setMinimumSize(100, 100);
      window?.setContentSize(size[0] ?? 0, size[1] ?? 0);
    },
    [width, height],
  );
}

/** Parts of the page that would have to be scrolled sideways. */
export function stickingOut({ page }: Lab): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, main > div > div')]
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => box.className),
  );
}
