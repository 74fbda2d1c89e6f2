// The way of the full set (1.18 million products), walked with 50,000 made-up ones: time, memory, and the same results.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { locate, openCatalog } from '../../../main/environment/webshop/search/catalog.ts';
import { follow } from '../../../main/environment/webshop/rules.ts';
import { createWebShop } from '../../../main/environment/webshop/webshop.ts';
import { Random } from '../../../main/base/random.ts';

const PRODUCTS = 50_000;
const folder = mkdtempSync(join(tmpdir(), 'astrolab-webshop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The built-in products over and over, each with distinct words and a description of the usual length. */
function makeFiles(): void {
  const own = locate('', 'auto');
  const products: readonly Readonly<Record<string, unknown>>[] = JSON.parse(readFileSync(own.products, 'utf8'));
  const entries: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(own.instructions, 'utf8'));
  const random = Random.from('large-test');
  const word = (): string => `w${Math.floor(random.next() ** 3 * 300_000).toString(36)}`;
  const productFile = openSync(join(folder, 'items_shuffle.json'), 'w');
  const entryFile = openSync(join(folder, 'items_ins_v2.json'), 'w');
  for (let i = 0; i < PRODUCTS; i++) {
    const product = products[i % products.length] ?? {};
    const asin = `Z${String(i).padStart(9, '0')}`;
    const filler = Array.from({ length: 60 }, word).join(' ');
    const images = Array.from({ length: 12 }, () => `https://example.org/${'i'.repeat(80)}`);
    const text = JSON.stringify({ ...product, asin, images, full_description: `${String(product.full_description)} ${filler}` });
    writeSync(productFile, `${i === 0 ? '[' : ', '}${text}`);
    writeSync(entryFile, `${i === 0 ? '{' : ', '}"${asin}": ${JSON.stringify(entries[String(product.asin)])}`);
  }
  writeSync(productFile, ']');
  writeSync(entryFile, '}');
  closeSync(productFile);
  closeSync(entryFile);
}

test('50,000 products are indexed within 600 MB, opened at once the next time, and shopped in', () => {
  makeFiles();
  const before = process.memoryUsage().rss;
  let peak = 0;
  const watch = (): void => {
    peak = Math.max(peak, process.memoryUsage().rss - before);
  };
  const begin = process.cpuUsage();
  const shop = createWebShop({ dataFolder: folder }, watch);
  const building = process.cpuUsage(begin).user / 1e6;
  watch();
  expect(shop.catalog.size).toBe(PRODUCTS);
  expect(peak).toBeLessThan(600 * 2 ** 20);

  const again = process.cpuUsage();
  const files = locate(folder, 'auto');
  expect(openCatalog(files).size).toBe(PRODUCTS);
  expect(process.cpuUsage(again).user / 1e6).toBeLessThan(5);

  const shopping = process.cpuUsage();
  let steps = 0;
  for (const task of shop.tasks('test').slice(0, 100)) {
    let turn = shop.reset(task, 0);
    while (!turn.done) {
      turn = shop.step(turn.state, follow('walk', shop, turn));
      steps++;
    }
  }
  const seconds = process.cpuUsage(shopping).user / 1e6;
  const megabytes = statSync(files.products).size / 2 ** 20;
  process.stdout.write(
    `${PRODUCTS} products, ${megabytes.toFixed(0)} MB: indexed in ${building.toFixed(0)} s of processor time with ${(peak / 2 ** 20).toFixed(0)} MB more memory; ${(steps / seconds).toFixed(0)} steps a second\n`,
  );
});
