// @ts-check
// Which part of the lab may import which. oxlint checks it: `npx oxlint -c import-rules.config.mjs`.

/**
 * The parts of main/ from the bottom up: each may import those before it, types included, and none after it.
 * @type {readonly string[]}
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
  'lab',
  'commands',
  'shell', // Electron's main process
];

/** Of main/, the page takes closed vocabularies, the schemas of shared values, number formats, statistics and the grouping into arms. */
const SHARED = ['vocabulary', 'shapes', 'format', 'statistics', 'arms'].map((file) => `!**/main/base/${file}.ts`);
const MAIN_BUT_SHARED = ['**/main/**', ...SHARED];

const NO_ELECTRON = {
  regex: '^electron(/|$)',
  message: 'only main/shell/ imports electron, so that the command line and the tests run the same lab',
};
const NO_WINDOW = { regex: '^((\\.\\./)+renderer/|react)', message: 'the lab does not know its window' };
const NO_RUNTIME = {
  regex: '^onnxruntime-node',
  allowTypeImports: true,
  message: 'onnxruntime is loaded in main/engine/ only, where its telemetry is switched off first',
};
const NO_SQLITE = { regex: '^better-sqlite3', allowTypeImports: true, message: 'only main/store/ talks to SQLite' };
const NO_TESTS = { regex: '^(\\.\\./)+(test|scripts)/', message: 'the product does not depend on its tests and scripts' };
const TYPES_OF_MAIN = {
  group: MAIN_BUT_SHARED,
  allowTypeImports: true,
  message: 'it is bundled into the page: of main/ it takes types, vocabularies, shared schemas, number formats, statistics and arms',
};
const CONTRACT_TYPES = {
  regex: '/main/lab/features/',
  allowTypeImports: true,
  message: 'of a feature the page takes types: its code is no part of the window',
};
const SANDBOXED = { regex: '^(electron(/|$)|node:)', message: 'the page is sandboxed: it has neither electron nor Node' };

/** @param {string[]} files @param {object[]} patterns */
const forbid = (files, ...patterns) => ({ files, rules: { 'no-restricted-imports': ['error', { patterns }] } });

/** @param {string} layer @param {number} height */
function layerRule(layer, height) {
  const above = LAYERS.slice(height + 1);
  return forbid(
    [`main/${layer}/**`],
    NO_WINDOW,
    NO_TESTS,
    ...(layer === 'shell' ? [] : [NO_ELECTRON]),
    ...(layer === 'engine' ? [] : [NO_RUNTIME]),
    ...(layer === 'store' ? [] : [NO_SQLITE]),
    ...(above.length > 0 ? [{ regex: `^(\\.\\./)+(${above.join('|')})/`, message: `it lies above main/${layer}` }] : []),
  );
}

export default {
  plugins: ['import'],
  categories: { correctness: 'off' },
  ignorePatterns: ['node_modules', 'out', 'dist', 'resources/**', '**/*.as.ts'],
  rules: { 'import/no-cycle': ['error', { ignoreTypes: true }] },
  overrides: [
    ...LAYERS.map(layerRule),
    forbid(['renderer/**'], SANDBOXED, NO_TESTS, CONTRACT_TYPES, {
      group: [...MAIN_BUT_SHARED, '!**/main/lab/', '!**/main/lab/features/', '!**/main/lab/features/*.ts'],
      message: 'the page knows the lab only through preload/contract.ts and the types of main/lab/features/',
    }),
    forbid(['preload/**'], SANDBOXED, NO_TESTS, TYPES_OF_MAIN),
    forbid(['preload/index.ts'], NO_TESTS, TYPES_OF_MAIN), // the bridge itself runs in Electron
  ],
};
