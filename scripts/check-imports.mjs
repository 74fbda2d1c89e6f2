// @ts-check
// The import rules: which part of the lab may know which. Reads the imports of every source file with the same parser
// that the other tools use (dependency-cruiser reads nothing under TypeScript 7), and reports forbidden directions,
// imports that lead nowhere, cycles, and places outside main/environment/ that name a world.

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
    except: /^main\/(shell|ipc)\//,
    to: /^electron(\/|$)/,
    types: true,
    why: 'only main/shell/ and main/ipc/ import electron, so that the command line and the tests run the same lab',
  },
  { from: /^renderer\//, to: /^(electron|node:)/, types: true, why: 'the page is sandboxed: it has neither electron nor Node' },
  {
    from: /^renderer\//,
    to: /^(main\/(?!base\/(vocabulary|format)\.ts$)|scripts\/)/,
    types: true,
    why: 'the page knows the lab only through preload/contract, and shares words and number formats',
  },
  {
    from: /^preload\//,
    to: /^main\/(?!base\/(vocabulary|format)\.ts$)/,
    types: false,
    why: 'the contract is bundled into the page; of main/ it may take types, and the words and formats of main/base/vocabulary.ts and main/base/format.ts',
  },
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

/**
 * The parts of main/ from the bottom up: each may import the parts before it, types included, and nothing after it. The shell lies above all.
 */
export const LAYERS = [
  'base',
  'engine',
  'environment',
  'policy',
  'rollout',
  'algorithm',
  'config',
  'metrics',
  'plugin',
  'evaluation',
  'training',
  'store',
  'interchange',
  'queue',
  'replay',
  'process',
  'cluster',
  'report',
  'study',
  'commands',
  'ipc',
  'shell',
];
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
  return layerFault(from, to);
}

/**
 * @param {string} from
 * @param {string} to
 */
function layerFault(from, to) {
  const source = layerOf(from);
  const target = layerOf(to);
  if (source === undefined || target === undefined || source === target) return undefined;
  if (target > source) return `main/${LAYERS[target]} lies above main/${LAYERS[source]}`;
  return undefined;
}

/**
 * The height of a file of main/; undefined outside main/.
 * @param {string} file
 */
function layerOf(file) {
  const [, part] = /^main\/(.+)$/.exec(file) ?? [];
  if (part === undefined) return undefined;
  const layer = LAYERS.indexOf(part.split('/')[0] ?? '');
  if (layer === -1) throw new Error(`main/${part}: its folder is not in the list of layers`);
  return layer;
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
 * Places outside main/environment/ that name a world: the rest of the lab knows worlds by what they declare. Names of presets may be
 * said anywhere.
 * @param {string} root
 * @returns {string[]}
 */
function namedWorlds(root) {
  const folder = join(root, 'main/environment');
  const worlds = existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'world.ts'))) : [];
  if (worlds.length === 0) return [];
  const presets = join(root, 'resources/presets');
  const ids = existsSync(presets) ? readdirSync(presets).map((file) => file.replace(/\.json$/, '')) : [];
  const presetIds = new RegExp(`\\b(${[...ids, '(?!)'].sort((a, b) => b.length - a.length).join('|')})\\b`, 'g');
  const capitals = worlds.map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  const named = new RegExp(`(?<![A-Za-z])(${worlds.join('|')})(?![a-z_])|(${[...capitals, 'WebShop'].join('|')})(?![a-z])`);
  return ['main', 'preload', 'renderer'].flatMap((part) =>
    sources(root, part).flatMap((file) => {
      if (file.startsWith('main/environment/')) return [];
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      return lines.flatMap((line, index) => {
        const found = named.exec(line.replace(presetIds, ''));
        return found
          ? [`${file}:${index + 1} names the world ${found[0]}: what is particular to a world belongs to main/environment/`]
          : [];
      });
    }),
  );
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
  faults.push(...namedWorlds(root));
  return { files: files.length, imports: imports.length, faults };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, imports, faults } = checkImports(process.argv[2] ?? dirname(import.meta.dirname));
  console.log(`layers, bottom to top: ${LAYERS.join(' → ')}`);
  for (const fault of faults) console.log(fault);
  console.log(`${files} files, ${imports} imports, ${faults.length} against the rules`);
  process.exitCode = faults.length > 0 || imports === 0 ? 1 : 0;
}
