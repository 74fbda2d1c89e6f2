// Settings in the real window: sizes against the disk, devices against the self-test, the import of WebShop data from the
// lab's catalog in the original's form (with its errors and its cancelling), and preferences that outlive a restart.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { resourceFile } from '../../main/base/paths.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { accessibilityProblems, launch, setTheme, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { findWorld } from '../catalog.ts';

let lab: Lab;
let webshop: string;
const button = (name: string) => lab.page.getByRole('button', { name, exact: true });
const section = (name: string) => lab.page.getByRole('region', { name, exact: true });

/** The lab's catalog under the names of the original's files. */
function webshopFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-webshop-'));
  copyFileSync(resourceFile('webshop', 'products.json'), join(folder, 'items_shuffle_1000.json'));
  copyFileSync(resourceFile('webshop', 'instructions.json'), join(folder, 'items_ins_v2_1000.json'));
  return folder;
}

beforeAll(async () => {
  webshop = webshopFolder();
  lab = await launch();
  await visit(lab, '/settings');
});
afterAll(async () => {
  await lab.close();
  rmSync(webshop, { recursive: true, force: true });
});
afterEach(() => lab.noComplaints());

describe('the data folder', () => {
  test('is named, with the size of its parts as they are on disk', async () => {
    await expect.poll(() => section('Data folder').getByTestId('folder').innerText()).toBe(lab.data);
    const database = readdirSync(lab.data)
      .filter((name) => name.startsWith('astrolab.db'))
      .reduce((sum, name) => sum + statSync(join(lab.data, name)).size, 0);
    const answer = await lab.page.evaluate(() => window.astrolab.call('storage.use', {}));
    const parts = answer.ok ? answer.value.parts : [];
    expect(parts.find(({ name }) => name === 'Database')?.bytes).toBe(database);
    expect(parts.find(({ name }) => name === 'Reserve')?.bytes).toBe(2 * 1024 * 1024);
    const row = section('Data folder').getByRole('row', { name: /^Reserve/ });
    await expect.poll(() => row.innerText()).toContain('2.1 MB');
    expect(await shown(section('Data folder').getByText('The trash is empty.'))).toBe(true);
  });
});

describe('models', () => {
  test('a folder becomes a model of New run; one that has moved can be located; what is no model is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-tiny-'));
    const moved = `${folder}-moved`;
    try {
      const models = section('Models');
      await models.getByLabel('Model folder or GGUF file').fill(folder);
      await models.getByRole('button', { name: 'Add', exact: true }).click();
      await expect.poll(() => models.getByRole('alert').innerText()).toContain('config.json');
      writeTinyModel(folder);
      await models.getByLabel('Model name').fill('tiny');
      await models.getByRole('button', { name: 'Add', exact: true }).click();
      const row = models.locator('[data-model=tiny]');
      await row.getByText('ready').waitFor();
      await expect.poll(() => row.innerText()).toMatch(/llama, 0\.\d M parameters/);

      await visit(lab, '/new/shop-demo');
      const field = lab.page.locator('[data-key="policy.model.name"]');
      await lab.page.getByLabel('Find a setting').fill('policy.model.name');
      await field.getByRole('combobox').selectOption('tiny');

      renameSync(folder, moved);
      await visit(lab, '/settings');
      await row.getByText('moved', { exact: true }).waitFor();
      await lab.app.evaluate(({ dialog }, path) => {
        dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [path] });
      }, moved);
      await row.getByRole('button', { name: 'Locate…' }).click();
      await row.getByText(moved).waitFor();
      expect(await shown(row.getByText('ready'))).toBe(true);
      await row.getByRole('button', { name: 'Remove' }).click();
      await row.waitFor({ state: 'detached' });
      expect(existsSync(join(moved, 'config.json'))).toBe(true);
      expect(existsSync(join(lab.data, 'models', 'tiny'))).toBe(false);
    } finally {
      for (const path of [folder, moved]) rmSync(path, { recursive: true, force: true });
    }
  });

  test('adding a model can be cancelled, and nothing of it stays', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-large-'));
    try {
      writeTinyModel(folder);
      await lab.page.evaluate((path) => {
        void window.astrolab.call('models.add', { path, name: 'large' });
        return window.astrolab.call('models.cancel', {});
      }, folder);
      const after = await until('the end of it', async () => {
        const answer = await lab.page.evaluate(() => window.astrolab.call('models.list', {}));
        return answer.ok && answer.value.adding === null ? answer.value : null;
      });
      expect(after.models).toEqual([]);
      expect(existsSync(join(lab.data, 'models', 'large'))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('devices', () => {
  test('are tested once, and the CPU computes what it should', async () => {
    const devices = section('Devices');
    const check = devices.getByRole('table', { name: 'Self-test of cpu' });
    await check.waitFor();
    const numbers = await check.getByRole('row').evaluateAll((rows) => rows.map((row) => row.textContent ?? ''));
    expect(numbers.find((text) => text.startsWith('Loss, expected'))).toContain('3.63546');
    expect(numbers.find((text) => text.startsWith('Loss, measured'))).toContain('3.63546');
    expect(numbers.find((text) => text.startsWith('Gradient norm, measured'))).toContain('3.27984');
    expect(await shown(devices.getByText('available').first())).toBe(true);
    await button('Test devices').click();
    await until('the end of the test', () => button('Test devices').isEnabled());
    expect(await shown(check)).toBe(true);
  });

  test('are what a new run can choose from', async () => {
    await visit(lab, '/new/preset-shop-tiny');
    const select = lab.page.getByLabel('Device', { exact: true });
    await expect.poll(() => select.locator('option').first().innerText()).toMatch(/^cpu: /);
    await expect.poll(() => select.inputValue()).toBe('cpu');
    await visit(lab, '/settings');
  });
});

describe('WebShop data', () => {
  const fill = async (folder: string): Promise<void> => {
    await section('WebShop data').getByLabel('Folder', { exact: true }).fill(folder);
    await section('WebShop data').getByRole('button', { name: 'Import', exact: true }).click();
  };

  test('that is not there, not WebShop’s or broken is refused with what to do', async () => {
    const alert = section('WebShop data').getByRole('alert');
    await fill('/no/such/folder');
    await alert.getByText('There is no folder /no/such/folder.').waitFor();
    await fill(lab.data);
    await alert.getByText('holds no WebShop data: expected items_shuffle_1000.json').waitFor();
    await alert.getByText('Choose the `data` folder of the original WebShop').waitFor();
    const broken = join(webshop, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'items_shuffle_1000.json'), '[{"asin": "B000000001", "name": ');
    writeFileSync(join(broken, 'items_ins_v2_1000.json'), '{}');
    await fill(broken);
    await alert.getByText('items_shuffle_1000.json').waitFor();
    expect(await section('WebShop data').getByTestId('data-size').count()).toBe(0);
  });

  test('is imported with an index on disk, and then offered in Play', async () => {
    const { size } = { size: findWorld('webshop').create({ dataFolder: webshop }).tasks('test').length };
    expect(size).toBeGreaterThan(0);
    await fill(webshop);
    await section('WebShop data').getByTestId('data-size').waitFor();
    const products = Number((await section('WebShop data').getByTestId('data-size').innerText()).replace(/\D/g, ''));
    expect(products).toBeGreaterThanOrEqual(300);
    expect(existsSync(join(webshop, 'items_shuffle_1000.index', 'meta.json'))).toBe(true);
    await visit(lab, '/play/webshop');
    await lab.page.getByLabel('Data', { exact: true }).selectOption('imported');
    await lab.page.getByRole('region', { name: 'Episode' }).getByText('WebShop [SEP] Instruction:').waitFor();
    await until('the imported catalog in the game', async () => {
      const answer = await lab.page.evaluate(() => window.astrolab.call('play.game', {}));
      return answer.ok && answer.value.game?.choice.imported === true;
    });
    await button('Let the oracle finish').click();
    expect(await shown(lab.page.getByRole('status').getByText('success'))).toBe(true);
    await visit(lab, '/settings');
  });

  test.skipIf(process.platform === 'win32')('can be cancelled on the way, and says that the work is kept', async () => {
    // A pipe that nobody writes into: whoever reads the instructions waits, so the import is under way until it is cancelled.
    const held = join(webshop, 'held');
    mkdirSync(held);
    copyFileSync(join(webshop, 'items_shuffle_1000.json'), join(held, 'items_shuffle_1000.json'));
    execFileSync('mkfifo', [join(held, 'items_ins_v2_1000.json')]);
    await fill(held);
    await section('WebShop data').getByRole('progressbar').waitFor();
    await section('WebShop data').getByRole('button', { name: 'Cancel', exact: true }).click();
    expect(await shown(section('WebShop data').getByText('The import was cancelled. What was indexed is kept'))).toBe(true);
    // The data from before is still in use.
    await expect.poll(() => section('WebShop data').getByTestId('data-size').count()).toBe(1);
  });
});

describe('preferences for runs', () => {
  test('outlive a restart, and a preset starts with the chosen retention', async () => {
    // Both before the first one is answered: neither takes the other back.
    const concurrent = await section('Runs').getByLabel('Concurrent runs').elementHandle();
    await section('Runs')
      .getByLabel('Stored episodes')
      .evaluate((episodes, runs) => {
        for (const [field, value] of [
          [runs, '2'],
          [episodes, 'best-worst'],
        ] as const) {
          if (field instanceof HTMLSelectElement) field.value = value;
          field?.dispatchEvent(new Event('change', { bubbles: true }));
        }
      }, concurrent);
    await until('the preference to be stored', async () => {
      const answer = await lab.page.evaluate(() => window.astrolab.call('preferences.read', {}));
      return answer.ok && answer.value.concurrent === 2 && answer.value.retention === 'best-worst';
    });
    await lab.close({ keep: true });
    lab = await launch({ data: lab.data });
    await visit(lab, '/settings');
    await expect.poll(() => section('Runs').getByLabel('Concurrent runs').inputValue()).toBe('2');
    await visit(lab, '/new/preset-shop-tiny');
    const changes = lab.page.getByRole('table', { name: 'Changed from preset shop-tiny' });
    expect(await shown(changes.getByText('best-worst'))).toBe(true);
    expect(await shown(lab.page.getByText('--set retention.keep=best-worst'))).toBe(true);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing in the %s theme', async (theme) => {
    await setTheme(lab, theme);
    await visit(lab, '/settings');
    await section('Devices').getByRole('table').first().waitFor();
    await section('WebShop data').getByTestId('data-size').waitFor();
    expect(await accessibilityProblems(lab, theme)).toEqual([]);
  });
});

describe('diagnostics', () => {
  test('are copied with versions, disk, runs and crash reports; a crash leaves its report on this machine', async () => {
    const copied = async (): Promise<string> => {
      await button('Copy diagnostics').click();
      await shown(lab.page.getByText('Copied', { exact: true }).first());
      return lab.app.evaluate(({ clipboard }) => clipboard.readText());
    };
    const before = await until('the clipboard', copied);
    expect(before).toContain(`Data folder: ${lab.data}`);
    expect(before).toMatch(/^Runs: 0$/m);
    expect(before).toMatch(/^Crash reports: 0$/m);
    expect(await lab.app.evaluate(({ crashReporter }) => crashReporter.getUploadToServer())).toBe(false);
    // The lab's process dies hard, as a native fault would end it; the next one answers.
    const pid = await lab.app.evaluate(({ app }) => app.getAppMetrics().find(({ name }) => name === 'Astrolab lab')?.pid);
    process.kill(pid ?? 0, 'SIGSEGV');
    await lab.page.getByText('The lab is running again', { exact: true }).first().waitFor();
    await expect.poll(copied).toMatch(/^Crash reports: [1-9]\d*\n\S+ .*\.dmp$/m);
  });
});
