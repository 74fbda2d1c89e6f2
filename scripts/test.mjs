// @ts-check
// `npm test`: set-up, then formatting, lint, types, unused code, import rules, unit and integration tests, and the tests
// that drive the bundle in the real window under a virtual display. A failing stage prints its output and the rest still runs. The
// last line is `N passed, N failed`, where every check and every test counts as one.
//
//   npm test                    everything
//   npm test -- checks          one part: checks, unit or e2e
//   npm test -- test/engine     the tests whose path contains this
//   npm run test:slow           only what takes minutes (*.slow.test.ts)

import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { nodeEnvironment } from './electron.mjs';
import { aloud, setUp } from './setup.mjs';
import { lockFile, main, readOrEmpty, root, run, SetupError, withLock } from './stage.mjs';
import { hasDisplay, withVirtualDisplay } from './system.mjs';

/** @typedef {{ passed: number, failed: number, output: string }} Result */

const tool = (/** @type {string} */ path) => join(root, 'node_modules', path);

const CHECKS = [
  { name: 'formatting', args: [tool('oxfmt/bin/oxfmt'), '--check', '.'], fix: 'npx oxfmt' },
  { name: 'lint', args: [tool('oxlint/bin/oxlint'), '--deny-warnings'], fix: 'npx oxlint --fix' },
  { name: 'types', args: [tool('typescript/bin/tsc'), '-p', root], fix: 'change what it names' },
  { name: 'unused code', args: [tool('knip/bin/knip.js'), '--no-progress'], fix: 'delete what nobody uses' },
  { name: 'import rules', args: [tool('oxlint/bin/oxlint'), '-c', 'import-rules.config.mjs'], fix: 'the rules: import-rules.config.mjs' },
];

const PARTS = ['checks', 'unit', 'e2e', 'slow'];
const words = process.argv.slice(2);
const parts = words.includes('--slow') ? ['slow'] : words.filter((word) => PARTS.includes(word));
const filters = words.filter((word) => !PARTS.includes(word) && word !== '--slow');
const wanted = (/** @type {string} */ part) => {
  if (parts.length > 0) return parts.includes(part);
  if (filters.length === 0) return part !== 'slow';
  return part === 'unit' ? filters.some((path) => !path.includes('e2e')) : part === 'e2e' && filters.some((path) => path.includes('e2e'));
};
const touches = (/** @type {RegExp} */ paths) => filters.length === 0 || filters.some((path) => paths.test(path));

const totals = { passed: 0, failed: 0 };
/** @type {string[]} */
const broken = [];

await main(async () => {
  const inWindow = wanted('e2e') || wanted('slow');
  const needs = {
    build: false,
    virtualDisplay: inWindow && !hasDisplay(),
    slurm: ['unit', 'e2e', 'slow'].some(wanted) && touches(/cluster/),
    peers: ['unit', 'slow'].some(wanted) && touches(/policy|model|peer/),
  };
  const scratch = mkdtempSync(join(tmpdir(), 'astrolab-test-'));
  try {
    const electron = await setUp(aloud, needs);
    const env = {
      ...nodeEnvironment(electron),
      ASTROLAB_DATA: join(scratch, 'data'),
      KNIP_DISABLE_RAW_TRANSFER: '1', // its 6 GB buffer does not fit into Electron's compressed pointers
      NO_COLOR: '1',
    };
    const vitest = (/** @type {string} */ name, /** @type {string[]} */ projects, /** @type {NodeJS.ProcessEnv} */ more = {}) =>
      report(`${name} tests`, () => runTests(electron.executable, projects, join(scratch, `${name}.json`), { ...env, ...more }));
    const checks = async () => {
      for (const check of CHECKS) await report(check.name, () => runCheck(electron.executable, check, env));
    };
    const windows = async (/** @type {(string | undefined)[]} */ ...displays) => {
      await report('bundle', () => build(electron));
      const display = { DISPLAY: displays[0], ASTROLAB_DISPLAYS: displays.join() };
      for (const project of ['e2e', 'slow']) if (wanted(project)) await vitest(project, [project], display);
    };
    // A window waits more than it computes, so two share the machine; each has a display to itself, where no other takes its focus.
    const onDisplays = () =>
      needs.virtualDisplay
        ? withVirtualDisplay((one) => withVirtualDisplay((two) => windows(one.DISPLAY, two.DISPLAY)))
        : windows(process.env.DISPLAY);
    // Side by side: each of them waits much (for a scheduler, for a window), so together they take little longer than the longest one.
    await Promise.all([
      wanted('checks') && checks(),
      wanted('unit') && vitest('unit and integration', ['alone', 'unit', 'page']),
      inWindow && onDisplays(),
    ]);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    await report('set-up', async () => ({ passed: 0, failed: 1, output: error.explain() }));
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  if (broken.length > 0) console.log(`Failed: ${broken.join(', ')} (their output is above)`);
  console.log(`${totals.passed} passed, ${totals.failed} failed`);
  return totals.failed > 0 || totals.passed === 0 ? 1 : 0;
});

/**
 * Runs a stage and prints its line, and all it said when it failed.
 * @param {string} name
 * @param {() => Promise<Result>} work
 */
async function report(name, work) {
  const began = performance.now();
  const { passed, failed, output } = await work();
  const verdict = failed > 0 ? `${failed} FAILED` : 'ok';
  console.log(`${name}: ${verdict}${passed > 1 ? `, ${passed} passed` : ''} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  if (failed > 0) console.log(output.trim().replace(/^/gm, '  '));
  if (failed > 0) broken.push(name);
  totals.passed += passed;
  totals.failed += failed;
}

/** The bundle that the window's tests drive; it counts as a check. @param {import('./electron.mjs').Electron} electron */
async function build(electron) {
  const silent = () => undefined;
  try {
    await withLock(lockFile, silent, () => ensureBuilt(root, electron, silent));
    return { passed: 1, failed: 0, output: '' };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { passed: 0, failed: 1, output: error.explain() };
  }
}

/** @param {string} executable @param {{ args: string[], fix: string }} check @param {NodeJS.ProcessEnv} env */
async function runCheck(executable, { args, fix }, env) {
  const { code, output } = await run(executable, args, { env });
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, output: `${output}\nto fix it: ${fix}` };
}

/**
 * @param {string} executable
 * @param {string[]} projects of vitest.config.ts
 * @param {string} file for vitest's report
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Result>}
 */
async function runTests(executable, projects, file, env) {
  const args = [
    tool('vitest/vitest.mjs'),
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...(filters.length > 0 ? ['--passWithNoTests', ...filters] : []),
  ];
  mkdirSync(join(root, '.cache'), { recursive: true });
  const log = createWriteStream(join(root, '.cache', `test-${projects[0]}.log`)); // to look at while it runs
  // The window's tests wait for what a person would see, so beside them the others stand back.
  const back = projects.includes('unit') && wanted('e2e') && process.platform !== 'win32' ? ['nice', '-n', '10'] : [];
  const [command = executable, ...rest] = [...back, executable, ...args];
  const { code, output } = await run(command, rest, { env, onLine: (line) => void log.write(`${line}\n`) });
  log.end();
  const { numPassedTests: passed = 0, numFailedTests = 0 } = JSON.parse(readOrEmpty(file) || '{}');
  // Without a failed test: a file that did not load, an error outside any test, or vitest itself.
  return { passed, failed: numFailedTests || (code === 0 ? 0 : 1), output };
}
