// Indexes a folder with original WebShop data, a separate program: `import-program <folder>`. Indexing computes for
// minutes on end, so it must not happen in the process that owns the window; and a process can be stopped at any moment,
// because finished portions survive (index-build.ts). Each line it prints is one JSON document: how far it is, then what
// was found, or what is wrong.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { locate, openCatalog } from './catalog.ts';
import type { ImportLine } from './import.ts';
import { indexFolder } from './index-file.ts';
import { DataError } from './records.ts';
import { createWebShop } from '../webshop.ts';

/** Progress is reported at most this often. */
const BETWEEN_MS = 100;

function print(line: ImportLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function importFolder(folder: string): ImportLine {
  const files = locate(folder, 'auto');
  let reported = Number.NEGATIVE_INFINITY;
  openCatalog(
    files,
    (share, what) => {
      if (performance.now() - reported < BETWEEN_MS) return;
      reported = performance.now();
      print({ kind: 'progress', share, what });
    },
    0, // always on disk: then nothing has to be read again at the next start
  );
  print({ kind: 'progress', share: 1, what: 'making the tasks' });
  const shop = createWebShop({ dataFolder: folder });
  const index = indexFolder(files);
  const indexBytes = readdirSync(index).reduce((sum, name) => sum + statSync(join(index, name)).size, 0);
  const counts = { products: shop.catalog.size, goals: shop.goals.size };
  return { kind: 'done', counts, index, indexBytes, skipped: shop.catalog.notes.length };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    print(importFolder(process.argv[2] ?? ''));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    print({ kind: 'problem', message, hint: error instanceof DataError ? error.hint : '' });
  }
}
