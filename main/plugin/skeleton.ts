// `lab new`: a folder that works as it is, to be changed step by step. The texts are files in resources/plugin/, with NAME where the name goes and FOLDER where its place does.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resourceFile } from '../base/paths.ts';

export const KINDS = ['world', 'algorithm', 'study'] as const;
export type Kind = (typeof KINDS)[number];

/** Writes the skeleton; answers its files. */
export function writeSkeleton(kind: Kind, name: string, folder: string): string[] {
  const from = resourceFile('plugin', kind);
  const files = filesIn(from);
  for (const file of files) {
    const to = join(folder, file.replaceAll('NAME', name).replaceAll('FOLDER', quoted(folder)));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, readFileSync(join(from, file), 'utf8').replaceAll('NAME', name).replaceAll('FOLDER', quoted(folder)));
  }
  if (kind === 'world') copyFileSync(resourceFile('worlds', 'astrolab_world.py'), join(folder, 'astrolab_world.py'));
  if (kind === 'algorithm') copyFileSync(resourceFile('plugin', 'astrolab.d.ts'), join(folder, 'astrolab.d.ts'));
  return filesIn(folder);
}

/** A path as a shell takes it. */
export const quoted = (path: string): string => (/^[\w./\\:@+-]+$/.test(path) ? path : JSON.stringify(path));

function filesIn(folder: string, path = ''): string[] {
  return readdirSync(join(folder, path))
    .sort()
    .flatMap((name) => {
      const inside = path === '' ? name : `${path}/${name}`;
      return statSync(join(folder, inside)).isDirectory() ? filesIn(folder, inside) : [inside];
    });
}
