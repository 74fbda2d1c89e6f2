// The content of a folder as one hash: which code a run was made with. Caches and hidden files do not count.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const IGNORED = /^(\..*|__pycache__|node_modules|venv|.*\.pyc|.*\.log)$/;
const MOST_FILES = 5000;
const MOST_BYTES = 256 * 1024 * 1024;

/** Changes with every byte of every file that counts. */
export function codeHash(folder: string): string {
  const hash = createHash('sha256');
  let files = 0;
  let bytes = 0;
  const walk = (path: string): void => {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (IGNORED.test(entry.name)) continue;
      const name = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) walk(name);
      else if (entry.isFile()) {
        files += 1;
        bytes += statSync(join(folder, name)).size;
        if (files > MOST_FILES || bytes > MOST_BYTES) {
          throw new Error(
            `${folder} holds more than ${MOST_FILES} files or ${MOST_BYTES} bytes; put data elsewhere, or into a folder whose name begins with a dot`,
          );
        }
        hash.update(`${name}\0`).update(
          createHash('sha256')
            .update(readFileSync(join(folder, name)))
            .digest(),
        );
      }
    }
  };
  walk('');
  return hash.digest('hex').slice(0, 16);
}
