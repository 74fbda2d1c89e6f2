// @ts-check
// The import rules: which part of the lab may know which. Reads the imports of every source file with the same parser
// that the other tools use (dependency-cruiser reads nothing under TypeScript 7), and reports forbidden directions,
// imports that lead nowhere, and cycles.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';

const FOLDERS = ['main', 'preload', 'renderer', 'test', 'scripts'];

/**
 * @typedef {{ from: string, to: string, typeOnly: boolean, local: boolean }} Import
 * @typedef {{ from: RegExp, except?: RegExp, to: RegExp, types: boolean, why: string }} Border  With `types` also for type imports.
 */

/** Borders between processes and around native modules. @type {readonly Border[]} */
const BORDERS = [
  {
    from: /^main\//,
    except: /^main\/((index|window|security|menu)\.ts|ipc\/)/,
    to: /^electron(\/|$)/,
    types: true,
    why: 'only main/{index,window,security,menu}.ts and main/ipc/ import electron, so that the command line and the tests run the same lab',
  },
  { from: /^renderer\//, to: /^(electron|node:)/, types: true, why: 'the page is sandboxed: it has neither electron nor Node' },
  { from: /^renderer\//, to: /^(main|scripts)\//, types: true, why: 'the page knows the lab only through preload/contract' },
  { from: /^preload\//, to: /^main\//, types: false, why: 'the contract is bundled into the page; of main/ it may take types only' },
  { from: /^preload\//, except: /^preload\/index\.ts$/, to: /^(electron|node:)/, types: true, why: 'the contract is shared with the page' },
  { from: /^main\//, to: /^(renderer\/|react)/, types: true, why: 'the lab does not know its window' },
  {
    from: /^main\//,
    except: /^main\/(engine\/|training\/self-test\.ts$)/,
    to: /^onnxruntime-node/,
    types: false,
    why: 'onnxruntime is loaded in main/engine/ only, where its telemetry is switched off first',
  },
  {
    from: /^main\//,
    except: /^main\/(store\/|commands\/doctor\.ts$)/,
    to: /^better-sqlite3/,
    types: false,
    why: 'only main/store/ talks to SQLite',
  },
  { from: /^(main|preload|renderer)\//, to: /^(test|scripts)\//, types: true, why: 'the product does not depend on its tests' },
];

/** The layers of main/: which other parts a part may use (values; types may be looked at from anywhere). */
/** @type {Readonly<Record<string, readonly string[]>>} */
const LAYERS = {
  engine: [],
  environment: [],
  policy: ['engine', 'environment', 'rollout'],
  rollout: ['environment', 'policy', 'engine'],
  algorithm: ['engine', 'environment', 'policy', 'rollout', 'store'],
  store: ['environment', 'rollout', 'metrics'],
  metrics: ['algorithm', 'rollout', 'environment', 'store'],
  evaluation: ['engine', 'environment', 'policy', 'rollout', 'algorithm', 'metrics', 'store', 'training'],
  training: ['engine', 'environment', 'policy', 'rollout', 'algorithm', 'metrics', 'store', 'evaluation'],
  study: ['environment', 'algorithm', 'store', 'evaluation', 'training'],
  commands: ['engine', 'environment', 'policy', 'rollout', 'algorithm', 'metrics', 'store', 'evaluation', 'training', 'study'],
  ipc: ['engine', 'environment', 'policy', 'rollout', 'algorithm', 'metrics', 'store', 'evaluation', 'training', 'study'],
};

/** A run's configuration and reports are data, the statistics pure functions: every part may use them. */
const SHARED = ['main/training/config.ts', 'main/training/overrides.ts', 'main/training/reports.ts', 'main/evaluation/statistics.ts'];

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function sources(root, folder) {
  const full = join(root, folder);
  if (!existsSync(full)) return [];
  return readdirSync(full).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (statSync(join(root, path)).isDirectory()) return sources(root, path);
    return /\.(ts|tsx|mts|mjs)$/.test(name) && !name.endsWith('.d.ts') ? [path] : [];
  });
}

/**
 * @param {string} root
 * @param {string} file
 * @returns {Import[]}
 */
function importsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  /** @type {[string, boolean][]} */
  const found = [];
  for (const { moduleRequest, entries } of module.staticImports) {
    found.push([moduleRequest.value, entries.length > 0 && entries.every((entry) => entry.isType)]);
  }
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, isType } of entries) if (moduleRequest) found.push([moduleRequest.value, isType]);
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const literal = /^(['"`])([^'"`$]*)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end));
    if (literal?.[2]) found.push([literal[2], false]);
  }
  return found.map(([request, typeOnly]) => {
    const local = request.startsWith('.');
    const to = local ? posix.normalize(posix.join(posix.dirname(file), request.replace(/\?.*$/, ''))) : request;
    return { from: file, to, typeOnly, local };
  });
}

/**
 * What an import does wrong; undefined when it is allowed.
 * @param {string} root
 * @param {Import} found
 */
function faultOf(root, { from, to, typeOnly, local }) {
  if (local && !existsSync(join(root, to))) return 'there is no such file (imports name the file with its extension)';
  for (const border of BORDERS) {
    if (border.from.test(from) && !border.except?.test(from) && border.to.test(to) && (border.types || !typeOnly)) return border.why;
  }
  const [, source] = /^main\/([^/]+)\//.exec(from) ?? [];
  const [, target] = /^main\/([^/]+)\//.exec(to) ?? [];
  const allowed = source && LAYERS[source];
  if (typeOnly || !allowed || !target || source === target || SHARED.includes(to) || allowed.includes(target)) return undefined;
  return `main/${source} may use ${allowed.length === 0 ? 'no other part of the lab' : `only ${allowed.join(', ')}`}`;
}

/**
 * Every cycle of value imports once, as the files along it.
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @returns {string[][]}
 */
function cycles(graph) {
  /** @type {Map<string, 'open' | 'done'>} */
  const state = new Map();
  /** @type {string[]} */
  const path = [];
  /** @type {string[][]} */
  const found = [];
  const visit = (/** @type {string} */ file) => {
    state.set(file, 'open');
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      if (state.get(next) === 'open') found.push([...path.slice(path.indexOf(next)), next]);
      else if (!state.has(next)) visit(next);
    }
    path.pop();
    state.set(file, 'done');
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return found;
}

/**
 * All violations, one line each.
 * @param {string} root
 * @returns {{ files: number, imports: number, faults: string[] }}
 */
export function checkImports(root) {
  const files = FOLDERS.flatMap((folder) => sources(root, folder));
  const imports = files.flatMap((file) => importsOf(root, file));
  const faults = imports.flatMap((found) => {
    const fault = faultOf(root, found);
    return fault ? [`${found.from} imports ${found.to}: ${fault}`] : [];
  });
  const graph = new Map(
    files.map((file) => [file, imports.flatMap((found) => (found.from === file && found.local && !found.typeOnly ? [found.to] : []))]),
  );
  for (const cycle of cycles(graph)) faults.push(`cycle: ${cycle.join(' → ')}`);
  return { files: files.length, imports: imports.length, faults };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, imports, faults } = checkImports(process.argv[2] ?? dirname(import.meta.dirname));
  for (const fault of faults) console.log(fault);
  console.log(`${files} files, ${imports} imports, ${faults.length} against the rules`);
  process.exitCode = faults.length > 0 || imports === 0 ? 1 : 0;
}
