// Which code this is: its version and a hash of everything that could change a number (sources, resources, the lock file of the
// dependencies). A packed copy has no sources and carries the hash in out/main/build.json. A task refuses to run under another one than the lab
// that submitted it, because its results would be taken for those of that lab.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../base/paths.ts';
import type { CodeIdentity } from './incoming.ts';

const buildFile = z.object({ version: z.string(), source: z.string() });
const HASHED = ['main', 'preload', 'resources', 'package-lock.json'];

export function codeIdentity(folder = projectFolder()): CodeIdentity {
  const build = join(folder, 'out', 'main', 'build.json');
  if (!existsSync(join(folder, 'main', 'commands', 'cli.ts'))) return buildFile.parse(JSON.parse(readFileSync(build, 'utf8')));
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  return { version, source: sourceHash(folder) };
}

/** The same for equal trees, wherever they lie. */
function sourceHash(folder: string): string {
  const hash = createHash('sha256');
  const visit = (name: string): void => {
    const path = join(folder, name);
    const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const inner = `${name}/${entry.name}`;
      if (entry.isDirectory()) visit(inner);
      else
        hash
          .update(`${inner}\0`)
          .update(readFileSync(join(folder, inner)))
          .update('\0');
    }
  };
  for (const name of HASHED) {
    if (name.includes('.')) hash.update(`${name}\0`).update(readFileSync(join(folder, name)));
    else visit(name);
  }
  return hash.digest('hex').slice(0, 16);
}

export const sameCode = (a: CodeIdentity, b: CodeIdentity): boolean => a.version === b.version && a.source === b.source;

export const codeText = ({ version, source }: CodeIdentity): string => `Astrolab ${version} (${source})`;
