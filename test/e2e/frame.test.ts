// The frame in the real window: navigation, keys, palette, themes, the error boundary, messages with undo, and the
// window's place across restarts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Store } from '../../main/store/store.ts';
import {
  accessibilityProblems,
  chooseInMenu,
  closeDialog,
  launch,
  openPalette,
  pressTogether,
  setTheme,
  shown,
  until,
  visit,
  resize,
  stickingOut,
} from './app.ts';
import type { Lab } from './app.ts';

const PAGES = [
  ['/', 'Runs', 'r'],
  ['/new', 'New run', 'n'],
  ['/queue', 'Queue', 'q'],
  ['/replay', 'Replay', 'e'],
  ['/compare', 'Compare', 'c'],
  ['/studies', 'Studies', 't'],
  ['/play', 'Play', 'p'],
  ['/settings', 'Settings', 's'],
] as const;

let lab: Lab;
const heading = (name: string) => lab.page.locator('main').getByRole('heading', { level: 1, name, exact: true });

describe('the frame', () => {
  beforeAll(async () => {
    lab = await launch();
  });
  afterAll(() => lab.close());
  beforeEach(() => visit(lab, '/'));
  afterEach(() => lab.noComplaints());

  test('opens on an empty list that invites the first run', async () => {
    await lab.page.getByRole('heading', { name: 'Train your first agent' }).waitFor();
    await lab.page.getByText(lab.data).waitFor();
    for (const name of ['Train the demo now', 'Open the sample study', 'Import runs…'])
      await lab.page.getByRole('button', { name }).waitFor();
    await lab.page.getByRole('link', { name: 'Set up a run' }).click();
    expect(await shown(heading('New run'))).toBe(true);
  });

  test.each(PAGES)('%s is reached by the navigation and marked as current', async (_address, name) => {
    const link = lab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });
    await link.click();
    await heading(name).waitFor();
    await expect.poll(() => link.getAttribute('aria-current')).toBe('page');
    await expect.poll(() => lab.page.title()).toBe(`${name} – Astrolab`);
  });

  test.each(PAGES)('%s is reached by g and a letter', async (_address, name, key) => {
    await pressTogether(lab, 'g', key);
    expect(await shown(heading(name))).toBe(true);
  });

  test('Back returns to the page before', async () => {
    await visit(lab, '/settings');
    await visit(lab, '/compare');
    await lab.page.goBack();
    expect(await shown(heading('Settings'))).toBe(true);
  });

  test('the palette finds a page by a few letters, and Escape leaves everything as it was', async () => {
    await openPalette(lab);
    await lab.page.keyboard.type('compa');
    await lab.page.keyboard.press('Enter');
    await heading('Compare').waitFor();
    await openPalette(lab);
    await closeDialog(lab);
    expect(await shown(heading('Compare'))).toBe(true);
  });

  test('the palette stays when its keys are pressed again before the browser has told of its closing', async () => {
    const input = await openPalette(lab);
    await lab.page.evaluate(async () => {
      const dialog = document.activeElement?.closest('dialog');
      const told = new Promise((resolve) => dialog?.addEventListener('close', resolve, { once: true }));
      for (let time = 0; time < 2; time++) {
        document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', code: 'KeyK', ctrlKey: true, bubbles: true }));
        for (let turn = 0; turn < 50; turn++) await Promise.resolve(); // the page draws, and no event comes in between
      }
      await told;
    });
    expect(await input.isVisible()).toBe(true);
    await closeDialog(lab);
  });

  test('Escape and at once Ctrl K again: the palette is open, as the keys say', async () => {
    const input = await openPalette(lab);
    await lab.page.evaluate(() => {
      const dialog = document.activeElement?.closest('dialog');
      if (!dialog) throw new Error('The palette is no dialog');
      dialog.addEventListener('close', () => Reflect.set(window, 'toldOfClosing', true), { once: true });
      const pressed = (): boolean =>
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', code: 'KeyK', ctrlKey: true, bubbles: true }));
      // As soon as it is closed, before the browser tells of it.
      const watch = new MutationObserver(() => {
        watch.disconnect();
        pressed();
      });
      watch.observe(dialog, { attributeFilter: ['open'] });
    });
    await lab.page.keyboard.press('Escape');
    await until('the news of its closing', () => lab.page.evaluate(() => Reflect.get(window, 'toldOfClosing') === true));
    expect(await input.isVisible()).toBe(true);
    await closeDialog(lab);
  });

  test('the palette finds metrics and settings', async () => {
    await openPalette(lab);
    await lab.page.keyboard.type('training.learningRate');
    await lab.page
      .getByRole('option', { name: /Learning rate/ })
      .first()
      .waitFor();
    await lab.page.keyboard.press('Enter');
    await heading('New run').waitFor();
    await expect.poll(() => lab.page.getByLabel('Find a setting').inputValue()).toBe('training.learningRate');
    await lab.page.getByLabel('Find a setting').fill('');
    await openPalette(lab);
    await lab.page.keyboard.type('gradient norm');
    expect(await shown(lab.page.getByRole('option', { name: 'Gradient norm' }).first())).toBe(true);
    await closeDialog(lab);
  });

  test('letters typed into a field are not shortcuts', async () => {
    await openPalette(lab);
    await lab.page.keyboard.type('gs');
    await expect.poll(() => lab.page.getByRole('combobox', { name: 'Search everything' }).inputValue()).toBe('gs');
    await closeDialog(lab);
    expect(await shown(heading('Runs'))).toBe(true);
  });

  test('? lists every key that works', async () => {
    await visit(lab, '/settings'); // a page without key bindings
    await lab.page.keyboard.press('Shift+?');
    const dialog = lab.page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    for (const [, name] of PAGES) await dialog.getByText(name, { exact: true }).waitFor();
    // The page of clusters is in the navigation only where there is one, and always reached by its key.
    const pages = [...'rnqectkps'].flatMap((key) => ['G', key.toUpperCase()]);
    await expect.poll(() => dialog.locator('kbd').allInnerTexts()).toEqual([...pages, 'Ctrl', 'K', '?']);
    await closeDialog(lab);
  });

  test('the menu lists the pages in the order of the sidebar, numbered, and opens them', async () => {
    const entries = await lab.app.evaluate(({ Menu }) => {
      const go = Menu.getApplicationMenu()?.items.find(({ label }) => label === 'Go');
      return go?.submenu?.items.map(({ label, accelerator }) => [label, accelerator ?? '']) ?? [];
    });
    const pages = ['Runs', 'New run', 'Queue', 'Replay', 'Compare', 'Studies', 'Clusters', 'Play'];
    expect(entries.slice(0, 9)).toEqual([...pages.map((page, index) => [page, `CmdOrCtrl+${index + 1}`]), ['Settings', '']]);
    for (const [, name] of PAGES) {
      await chooseInMenu(lab, 'Go', name);
      await heading(name).waitFor();
    }
  });

  test('a second window opens from the menu, shows another page, and closes by itself', async () => {
    const opening = lab.app.waitForEvent('window');
    await chooseInMenu(lab, 'File', 'New window');
    const second = await opening;
    await second.getByRole('link', { name: 'Settings', exact: true }).click();
    await second.locator('main').getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor();
    expect(await shown(heading('Runs'))).toBe(true);
    await second.close();
    await until('one window', async () => (await lab.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)) === 1);
  });

  test('light and dark are set from Settings, shown at once and kept in the settings file', async () => {
    await visit(lab, '/settings');
    const canvas = () => lab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await lab.page.getByRole('radio', { name: 'Dark' }).click();
    await until('the dark canvas', async () => (await canvas()) === 'rgb(22, 24, 27)');
    await lab.page.getByRole('radio', { name: 'Light' }).click();
    await until('the light canvas', async () => (await canvas()) === 'rgb(251, 251, 250)');
    expect(JSON.parse(readFileSync(join(lab.data, 'settings.json'), 'utf8'))).toMatchObject({ theme: 'light' });
    await lab.page.getByRole('radio', { name: 'System' }).click();
    await until('the system theme', () => lab.app.evaluate(({ nativeTheme }) => nativeTheme.themeSource === 'system'));
  });

  test('a page that breaks says what happened, can be copied, and heals', async () => {
    await visit(lab, '/gallery');
    await lab.page.getByRole('button', { name: 'Break this page' }).click();
    await lab.page.getByRole('heading', { name: 'This page stopped working' }).waitFor();
    await lab.page.getByText('Broken on purpose, to show the error boundary', { exact: true }).waitFor();
    await lab.page.getByRole('button', { name: 'Copy details' }).click();
    const copied = await until('the copied report', () => lab.app.evaluate(({ clipboard }) => clipboard.readText()));
    expect(copied).toContain('Error: Broken on purpose, to show the error boundary');
    expect(copied).toContain('page: #/gallery');
    expect(copied).toContain('astrolab 0.2.0, electron 42.0.0');
    await lab.page.getByRole('button', { name: 'Try again' }).click();
    await heading('Component gallery').waitFor();
    expect(lab.takeComplaints().join('\n')).toContain('Broken on purpose'); // React reports what a boundary catches
  });

  test('what was removed comes back with Undo', async () => {
    await visit(lab, '/gallery');
    await lab.page.getByRole('button', { name: 'Remove one of 3' }).click();
    await lab.page.getByRole('button', { name: 'Remove one of 2' }).waitFor();
    await lab.page.getByRole('button', { name: 'Undo' }).click();
    expect(await shown(lab.page.getByRole('button', { name: 'Remove one of 3' }))).toBe(true);
  });

  test('an address that leads nowhere says so', async () => {
    await visit(lab, '/nowhere');
    expect(await shown(lab.page.getByRole('heading', { name: 'This page does not exist' }))).toBe(true);
  });

  test.each([
    [1024, 700],
    [1280, 800],
    [640, 400], // 1280 × 800 at 200% zoom
  ])('nothing sticks out sideways at %i × %i', async (width, height) => {
    await resize(lab, width, height);
    for (const [address] of [...PAGES, ['/clusters'], ['/gallery']] as const) {
      await visit(lab, address);
      expect([address, await stickingOut(lab)]).toEqual([address, []]);
    }
  });

  test.each(['light', 'dark'] as const)('axe finds nothing on any page in the %s theme', async (theme) => {
    await lab.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setContentSize(1280, 800));
    await setTheme(lab, theme);
    for (const [address] of [...PAGES, ['/clusters'], ['/gallery']] as const) {
      await visit(lab, address);
      expect([address, await accessibilityProblems(lab, theme)]).toEqual([address, []]);
    }
    await openPalette(lab);
    expect(await accessibilityProblems(lab, theme)).toEqual([]);
    await closeDialog(lab);
    // Focus returns a moment after the palette has gone: the key is pressed where no field takes it, and again if it came too early.
    await visit(lab, '/queue');
    await lab.page.locator('main h1').first().click();
    const keys = lab.page.getByRole('dialog');
    await until('the list of keys', async () => {
      await lab.page.keyboard.press('Shift+?');
      return keys.waitFor({ timeout: 5000 }).then(
        () => true,
        () => false,
      );
    });
    expect(await accessibilityProblems(lab, theme)).toEqual([]);
    await closeDialog(lab);
  });
});

describe('the first start', () => {
  test('the demo trains after one click, and a file is imported after one', async () => {
    const first = await launch();
    await first.page.getByRole('button', { name: 'Train the demo now' }).click();
    await first.page.getByRole('region', { name: 'Run status' }).waitFor();
    const store = Store.read(first.data);
    expect(store.runs.list()).toMatchObject([{ id: 1, preset: 'shop-minute', seed: 1 }]);
    store.close();
    await first.close();

    const second = await launch();
    await second.app.evaluate(({ dialog }) => {
      dialog.showOpenDialog = (...given: unknown[]) => {
        process.env.ASKED = JSON.stringify(given.at(-1));
        return Promise.resolve({ canceled: true, filePaths: [] });
      };
    });
    await second.page.getByRole('button', { name: 'Import runs…' }).click();
    expect(await until('the question for a file', () => second.app.evaluate(() => process.env.ASKED))).toContain('astrolab');
    await second.close();
  });
});

describe('after a restart', () => {
  test('the window stands where it stood, on the page that was open, in the chosen theme', async () => {
    const first = await launch();
    await setTheme(first, 'dark');
    await visit(first, '/settings');
    const bounds = { x: 40, y: 60, width: 1010, height: 720 };
    await first.app.evaluate(({ BrowserWindow }, wanted) => BrowserWindow.getAllWindows()[0]?.setBounds(wanted), bounds);
    const settingsFile = join(first.data, 'settings.json');
    await until('the new place on disk', async () => JSON.parse(readFileSync(settingsFile, 'utf8')).window?.width === 1010);
    await first.close({ keep: true });

    const second = await launch({ data: first.data });
    await second.page.locator('main').getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await expect.poll(() => second.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds())).toEqual(bounds);
    await expect.poll(() => second.page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true);
    await second.close();
  });
});
