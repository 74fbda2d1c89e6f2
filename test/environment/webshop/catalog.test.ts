// Our own catalog is what its script makes, and is as rich as it is said to be.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWebShop } from '../../../main/environment/webshop/webshop.ts';
import { resourceFile } from '../../../main/base/paths.ts';

test('the script makes the same bytes again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-webshop-'));
  try {
    const script = resourceFile('webshop', 'make-catalog.mjs');
    execFileSync(process.execPath, [script, folder], { env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' } });
    for (const name of ['products.json', 'instructions.json']) {
      expect(readFileSync(join(folder, name)).equals(readFileSync(resourceFile('webshop', name))), name).toBe(true);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('there are 390 products of 30 kinds in 5 categories, with options, attributes, ranges and gaps as in the original', () => {
  const { catalog, categories } = createWebShop({});
  const products = Array.from({ length: catalog.size }, (_, document) => catalog.product(document));
  const count = (fits: (product: (typeof products)[number]) => boolean): number => products.filter(fits).length;
  expect(products.length).toBe(390);
  expect(new Set(products.map((product) => product.asin)).size).toBe(390);
  expect(new Set(products.map((product) => product.title)).size).toBeGreaterThan(380);
  expect(new Set(products.map((product) => product.query)).size).toBe(30);
  expect(categories).toEqual(['beauty', 'electronics', 'fashion', 'garden', 'grocery']);
  expect(count((product) => product.instruction !== null)).toBe(294);
  expect(count((product) => product.options.length === 0)).toBeGreaterThan(30);
  expect(count((product) => product.options.length >= 2)).toBeGreaterThan(200);
  expect(count((product) => product.prices.length === 2)).toBeGreaterThan(40);
  expect(count((product) => product.description === '')).toBeGreaterThan(60);
  expect(count((product) => product.attributes.length < 3)).toBe(0);
});
