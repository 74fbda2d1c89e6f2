// The import rules (import-rules.config.mjs) on a made-up tree, and the names of worlds on the real one.

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LAYERS } from '../../import-rules.config.mjs';
import { projectFolder } from '../../main/base/paths.ts';
import { importFaults, namedWorlds } from './import-faults.ts';

let folder = '';

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astrolab-imports-'));
  copyFileSync(join(projectFolder(), 'import-rules.config.mjs'), join(folder, 'import-rules.config.mjs'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('every folder of main/ is a layer', () => {
  expect(readdirSync(join(projectFolder(), 'main')).toSorted()).toEqual(LAYERS.toSorted());
});

test('forbidden imports are found, also of types, in exports and at run time; allowed ones are not', () => {
  write('main/store/run.ts', `import Database from 'better-sqlite3'; export interface Run { database: Database }`);
  write('main/store/types.ts', `export type { Graph } from '../engine/graph/graph.ts';`);
  write('main/policy/x.ts', `import type { InferenceSession } from 'onnxruntime-node'; export const x = 1;`);
  write('main/shell/index.ts', `import { app } from 'electron';`);
  write('preload/index.ts', `import { ipcRenderer } from 'electron'; import type { Run } from '../main/store/run.ts';`);
  write('renderer/page.ts', `import { text } from '../main/base/format.ts'; export const page = 1;`);
  write('renderer/types.ts', `import type { Row } from '../main/lab/features/runs.ts';`);
  expect(importFaults(folder)).toEqual([]);
  write('main/engine/graph/graph.ts', `import { x } from '../../policy/x.ts';`);
  write('main/environment/shop.ts', `export { x } from '../policy/x.ts';`);
  write('main/policy/session.ts', `import { InferenceSession } from 'onnxruntime-node';`);
  write('main/rollout/a.ts', `import type { page } from '../../renderer/page.ts';`);
  write('main/training/run.ts', `import type { Run } from '../store/run.ts';`);
  write('main/training/train.ts', `import { app } from 'electron';`);
  write('main/training/sql.ts', `import Database from 'better-sqlite3';`);
  write('main/training/test.ts', `import { x } from '../../test/x.ts';`);
  write('preload/contract.ts', `import { x } from '../main/store/run.ts';`);
  write('renderer/dynamic.ts', `const fs = await import('node:fs');`);
  write('renderer/feature.ts', `import { calls } from '../main/lab/features/runs.ts';`);
  write('renderer/store.ts', `import type { Run } from '../main/store/run.ts';`);
  expect(importFaults(folder)).toEqual([
    'main/engine/graph/graph.ts: it lies above main/engine',
    'main/environment/shop.ts: it lies above main/environment',
    expect.stringMatching(/^main\/policy\/session.ts: onnxruntime is loaded in main\/engine\/ only/),
    'main/rollout/a.ts: the lab does not know its window',
    'main/training/run.ts: it lies above main/training',
    'main/training/sql.ts: only main/store/ talks to SQLite',
    'main/training/test.ts: the product does not depend on its tests and scripts',
    expect.stringMatching(/^main\/training\/train.ts: only main\/shell\/ imports electron/),
    expect.stringMatching(/^preload\/contract.ts: it is bundled into the page/),
    expect.stringMatching(/^renderer\/dynamic.ts: the page is sandboxed/),
    expect.stringMatching(/^renderer\/feature.ts: of a feature the page takes types/),
    expect.stringMatching(/^renderer\/store.ts: the page knows the lab only through preload\/contract/),
  ]);
});

test('cycles of values are found, cycles of types are allowed', () => {
  write('main/rollout/a.ts', `import { b } from './b.ts'; export const a = b;`);
  write('main/rollout/b.ts', `import type { a } from './a.ts'; export const b: typeof a = 1;`);
  expect(importFaults(folder)).toEqual([]);
  write('main/rollout/b.ts', `import { a } from './a.ts'; export const b = a;`);
  expect(importFaults(folder)).toEqual([expect.stringMatching(/^main\/rollout\/a.ts: /), expect.stringMatching(/^main\/rollout\/b.ts: /)]);
});

test('only main/environment names a world; the names of presets may be used anywhere', () => {
  expect(namedWorlds(projectFolder())).toEqual([]);
  write('main/environment/maze/world.ts', `export const mazeWorld = { name: 'maze' };`);
  write('resources/presets/maze-tiny.json', '{}');
  write('preload/contract.ts', '');
  write('renderer/page.ts', '');
  write('main/config/presets.ts', `export const FIRST = 'maze-tiny'; // amazed`);
  expect(namedWorlds(folder)).toEqual([]);
  for (const text of [`if (name === 'maze') x();`, 'const title = `The Maze`;', '// as in the maze', 'export const mazeState = 1;']) {
    write('renderer/page.ts', text);
    expect(namedWorlds(folder), text).toHaveLength(1);
  }
});
