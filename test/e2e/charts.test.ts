// The line chart in the real window: it draws what it is given, reads it out, zooms by mouse and key, remembers the
// zoom, and opens the point that was clicked.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeDialog, gone, launch, setTheme, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';

let lab: Lab;
const success = () => lab.page.getByRole('figure', { name: 'Success' });
const plot = () => success().getByRole('group', { name: /Success, chart/ });
const entry = (name: string) => success().getByRole('button', { name: new RegExp(name.replace('*', '\\*')) });
const where = (name = 'Success') => lab.page.getByRole('figure', { name }).locator('output');

/** How many pixels of the plot are near a colour. */
function countPixels(rgb: readonly number[]): Promise<number> {
  return success()
    .locator('canvas')
    .evaluate((canvas, colour) => {
      if (!(canvas instanceof HTMLCanvasElement)) return 0;
      const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if ([0, 1, 2].every((channel) => Math.abs((data[i + channel] ?? 0) - (colour[channel] ?? 0)) < 12) && (data[i + 3] ?? 0) > 200)
          count++;
      }
      return count;
    }, rgb);
}

describe('the line chart', () => {
  beforeAll(async () => {
    lab = await launch();
    await setTheme(lab, 'light');
  });
  afterAll(async () => {
    lab.noComplaints();
    await lab.close();
  });
  beforeEach(async () => {
    await visit(lab, '/');
    await visit(lab, '/gallery');
    await plot().focus();
    await lab.page.keyboard.press('0');
  });

  test('draws each run in its colour, and again in the other theme', async () => {
    await until('the first run in blue', async () => (await countPixels([0, 114, 178])) > 300);
    expect(await countPixels([213, 94, 0])).toBeGreaterThan(150);
    await setTheme(lab, 'dark');
    await until('the dark theme’s blue', async () => (await countPixels([63, 160, 224])) > 300);
    await setTheme(lab, 'light');
  });

  test('reads out the last values, and with arrow keys any point of all runs, in every chart of the group', async () => {
    // the last point: 0.78 · (1 − e^(−4 · 9999 ÷ 10000)), smoothed
    await expect.poll(() => entry('a*-po, seed 1').innerText()).toContain('76.5%');
    await plot().focus();
    await lab.page.keyboard.press('ArrowRight');
    await lab.page.keyboard.press('ArrowRight');
    await expect.poll(() => where().innerText()).toBe('update 1');
    await expect.poll(() => where('KL to the reference').innerText()).toBe('update 1');
    await lab.page.keyboard.press('Escape');
    await expect.poll(() => where().innerText()).toBe('latest');
  });

  test('reads out under the pointer, with the marks that lie there', async () => {
    const box = await plot().boundingBox();
    if (!box) throw new Error('the plot has no place on the page');
    // The plot area begins after the 52-pixel axis; two fifths along lies update 4000, where level 2 began.
    for (let offset = -3; offset <= 3; offset++) {
      await lab.page.mouse.move(box.x + 52 + (box.width - 72) * 0.4 + offset, box.y + box.height / 2);
      await expect.poll(() => where().innerText()).toMatch(/^update (3,9|4,0)\d\d/);
    }
    await lab.page.mouse.move(0, 0);
    await expect.poll(() => where().innerText()).toBe('latest');
  });

  test('a drag zooms, the zoom survives leaving the page, and Reset zoom undoes it', async () => {
    const box = await plot().boundingBox();
    if (!box) throw new Error('the plot has no place on the page');
    await lab.page.mouse.move(box.x + 150, box.y + 60);
    await lab.page.mouse.down();
    await lab.page.mouse.move(box.x + 250, box.y + 60, { steps: 5 });
    await lab.page.mouse.up();
    await success().getByRole('button', { name: 'Reset zoom' }).waitFor();
    await visit(lab, '/');
    await visit(lab, '/gallery');
    await success().getByRole('button', { name: 'Reset zoom' }).click();
    expect(await gone(success().getByRole('button', { name: 'Reset zoom' }))).toBe(true);
  });

  test('keys zoom in and out', async () => {
    await plot().press('+');
    await success().getByRole('button', { name: 'Reset zoom' }).waitFor();
    await plot().press('-');
    expect(await gone(success().getByRole('button', { name: 'Reset zoom' }))).toBe(true);
  });

  test('a click opens the nearest run’s point', async () => {
    const box = await plot().boundingBox();
    if (!box) throw new Error('the plot has no place on the page');
    await lab.page.mouse.click(box.x + box.width - 30, box.y + 20);
    expect(await shown(lab.page.getByText(/^Opened a at update \d+$/))).toBe(true);
  });

  test('a double-click resets the zoom and opens nothing; a drag opens nothing either', async () => {
    const box = await plot().boundingBox();
    if (!box) throw new Error('the plot has no place on the page');
    await visit(lab, '/');
    await visit(lab, '/gallery');
    await lab.page.mouse.move(box.x + 150, box.y + 60);
    await lab.page.mouse.down();
    await lab.page.mouse.move(box.x + 250, box.y + 60, { steps: 5 });
    await lab.page.mouse.up();
    await success().getByRole('button', { name: 'Reset zoom' }).waitFor();
    await lab.page.mouse.dblclick(box.x + 200, box.y + 60);
    await gone(success().getByRole('button', { name: 'Reset zoom' }));
    // Each click waits equally long for a second one: had those before opened something, it would be there before this one's point.
    expect(await lab.page.getByText(/^Opened /).count()).toBe(0);
    const opened = await lab.page.evaluateHandle(() => {
      const texts: string[] = [];
      const watch = new MutationObserver(() => {
        const text = /Opened . at update \d+/.exec(document.body.innerText)?.[0];
        if (text !== undefined && text !== texts.at(-1)) texts.push(text);
      });
      watch.observe(document.body, { childList: true, characterData: true, subtree: true });
      return texts;
    });
    await lab.page.mouse.click(box.x + 200, box.y + 60);
    await until('the point of the click', () => opened.evaluate(({ length }) => length > 0));
    expect(await opened.jsonValue()).toEqual([await lab.page.getByText(/^Opened /).innerText()]);
  });

  test('the menu copies the picture, saves PNG, SVG and CSV with the drawn numbers, and enlarges', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'astrolab-chart-'));
    await lab.app.evaluate(({ dialog }, chosen) => {
      dialog.showSaveDialog = ((options: { defaultPath: string }) =>
        Promise.resolve({ canceled: false, filePath: `${chosen}/${options.defaultPath}` })) as typeof dialog.showSaveDialog;
    }, folder);
    const choose = async (item: string): Promise<void> => {
      await success().getByRole('button', { name: 'Menu of Success' }).click();
      await lab.page.getByRole('menuitem', { name: item }).click();
    };
    await choose('Copy image');
    await lab.page.getByText('Chart copied', { exact: true }).waitFor();
    expect(await lab.app.evaluate(({ clipboard }) => clipboard.readImage().getSize().width)).toBeGreaterThan(300);
    for (const [item, file] of [
      ['Save as PNG…', 'success.png'],
      ['Save as SVG…', 'success.svg'],
      ['Save data as CSV…', 'success.csv'],
    ] as const) {
      await choose(item);
      await until(file, async () => existsSync(join(folder, file)));
    }
    expect(readFileSync(join(folder, 'success.png')).subarray(1, 4).toString()).toBe('PNG');
    expect(readFileSync(join(folder, 'success.svg'), 'utf8')).toContain('stroke="#0072b2"');
    const rows = readFileSync(join(folder, 'success.csv'), 'utf8').trim().split('\r\n');
    expect(rows[0]).toBe('series,update,value,low,high');
    expect(rows.length).toBeGreaterThan(100);
    await choose('Enlarge');
    await lab.page.getByRole('dialog', { name: 'Success' }).locator('canvas').waitFor();
    await closeDialog(lab);
    rmSync(folder, { recursive: true });
  });

  test('a run can be hidden, and a log axis says what it cannot show', async () => {
    await until('orange', async () => (await countPixels([213, 94, 0])) > 150);
    await entry('grpo, seed 1').click();
    await until('no orange', async () => (await countPixels([213, 94, 0])) === 0);
    await entry('grpo, seed 1').click();
    await lab.page.getByRole('radio', { name: 'Log' }).first().click();
    expect(await shown(success().getByText(/\d+ values ≤ 0 not shown/))).toBe(true);
    await lab.page.getByRole('radio', { name: 'Linear' }).first().click();
  });
});
