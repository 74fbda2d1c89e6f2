// @ts-check
// `npm test`: set-up, then formatting, lint, types, unused code, import rules, unit and integration tests, and the tests
// that drive the bundle in the real window under a virtual display. A failing stage prints its output and the rest still runs. The
// last line is `N passed, N failed`, where every check and every test counts as one.
//
//   npm test                    everything
//   npm test -- checks          one part: checks, unit or e2e
//   npm test -- test/engine     the tests whose path contains this
//   npm run test:slow           only what takes minutes (*.slow.test.ts)

import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { nodeEnvironment } from './electron.mjs';
import { aloud, setUp } from './setup.mjs';
import { lockFile, main, root, run, SetupError, withLock } from './stage.mjs';
import { hasDisplay, withVirtualDisplay } from './system.mjs';

/** @typedef {{ name: string, passed: number, failed: number, output: string }} Result */

const tool = (/** @type {string} */ path) => join(root, 'node_modules', path);

const CHECKS = [
  { name: 'formatting', args: [tool('oxfmt/bin/oxfmt'), '--check', '.'], fix: 'npx oxfmt' },
  { name: 'lint', args: [tool('oxlint/bin/oxlint'), '--deny-warnings'], fix: 'npx oxlint --fix' },
  { name: 'types', args: [tool('typescript/bin/tsc'), '-p', root], fix: '' },
  { name: 'unused code', args: [tool('knip/bin/knip.js'), '--no-progress'], fix: 'delete what nobody uses' },
  { name: 'import rules', args: [tool('oxlint/bin/oxlint'), '-c', 'import-rules.config.mjs'], fix: 'the rules: import-rules.config.mjs' },
];

const PARTS = ['checks', 'unit', 'e2e', 'slow'];
const words = process.argv.slice(2);
const chosen = words.includes('--slow') ? ['slow'] : words.filter((word) => PARTS.includes(word));
const filters = words.filter((word) => !PARTS.includes(word) && word !== '--slow');
const wanted = (/** @type {string} */ part) => {
  if (chosen.length > 0) return chosen.includes(part);
  if (filters.length === 0) return part !== 'slow';
  return part === 'unit' ? filters.some((path) => !path.includes('e2e')) : part === 'e2e' && filters.some((path) => path.includes('e2e'));
};

await main(async () => {
  const onCluster = ['unit', 'e2e', 'slow'].some(wanted) && (filters.length === 0 || filters.some((path) => path.includes('cluster')));
  const withPeers = ['unit', 'slow'].some(wanted) && (filters.length === 0 || filters.some((path) => /policy|model|peer/.test(path)));
  const inWindow = wanted('e2e') || wanted('slow');
  /** @type {Result[]} */
  const results = [];
  const scratch = mkdtempSync(join(tmpdir(), 'astrolab-test-'));
  try {
    const electron = await setUp(aloud, { build: false, virtualDisplay: inWindow && !hasDisplay(), slurm: onCluster, peers: withPeers });
    const base = {
      ...nodeEnvironment(electron),
      ASTROLAB_DATA: join(scratch, 'data'),
      KNIP_DISABLE_RAW_TRANSFER: '1', // its 6 GB buffer does not fit into Electron's compressed pointers
      NO_COLOR: '1',
    };
    // Side by side: each of them waits much (for a scheduler, for a window), so together they take little longer than the longest one.
    const checks = wanted('checks') ? runChecks(electron.executable, base) : [];
    const unit = wanted('unit') ? runTests(electron.executable, 'unit', scratch, base).then(report) : undefined;
    const windows = inWindow ? runWindowTests(electron, scratch, base) : [];
    results.push(...(await Promise.all([checks, unit ?? [], windows])).flat());
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(error.explain());
    results.push({ name: 'set-up', passed: 0, failed: 1, output: '' });
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  const count = (/** @type {'passed' | 'failed'} */ key) => results.reduce((sum, result) => sum + result[key], 0);
  const broken = results.filter(({ failed }) => failed > 0).map(({ name }) => name);
  if (broken.length > 0) console.log(`Failed: ${broken.join(', ')} (their output is above)`);
  console.log(`${count('passed')} passed, ${count('failed')} failed`);
  return count('failed') > 0 || count('passed') === 0 ? 1 : 0;
});

/**
 * Builds the bundle, then drives it in the real window.
 * @param {import('./electron.mjs').Electron} electron
 * @param {string} scratch
 * @param {NodeJS.ProcessEnv} base
 */
async function runWindowTests(electron, scratch, base) {
  const results = [report(await runBuild(electron))];
  for (const project of ['e2e', 'slow']) {
    if (!wanted(project)) continue;
    const start = (/** @type {string | undefined} */ shard) => (/** @type {NodeJS.ProcessEnv} */ env) =>
      runTests(electron.executable, project, scratch, { ...base, DISPLAY: env.DISPLAY }, shard);
    if (hasDisplay()) {
      results.push(report(await start(undefined)(process.env)));
      continue;
    }
    // A window waits more than it computes, so two share the machine; each has a display of its own, where no other takes its focus.
    const shards = project === 'e2e' && filters.length === 0 ? ['1/2', '2/2'] : [undefined];
    results.push(...(await Promise.all(shards.map(async (shard) => report(await withVirtualDisplay(start(shard)))))));
  }
  return results;
}

/** The bundle that the window's tests drive; it counts as a check. @param {import('./electron.mjs').Electron} electron */
async function runBuild(electron) {
  const began = performance.now();
  const outcome = await withLock(
    lockFile,
    () => undefined,
    () => ensureBuilt(root, electron, () => undefined),
  ).catch((error) => {
    if (!(error instanceof SetupError)) throw error;
    return error;
  });
  const failed = outcome instanceof SetupError;
  const seconds = (performance.now() - began) / 1000;
  return { name: 'bundle', passed: failed ? 0 : 1, failed: failed ? 1 : 0, output: failed ? outcome.explain() : '', seconds };
}

/**
 * Prints a stage's line, and all it said when it failed.
 * @param {Result & { seconds: number, slowest?: string }} result
 * @returns {Result}
 */
function report(result) {
  const { name, passed, failed, output, seconds, slowest } = result;
  const verdict = failed > 0 ? `${failed} FAILED` : 'ok';
  console.log(`${name}: ${verdict}${passed > 1 ? `, ${passed} passed` : ''} (${seconds.toFixed(1)} s)`);
  if (slowest) console.log(`  slowest: ${slowest}`);
  if (failed > 0) console.log(output.trim().replace(/^/gm, '  '));
  return result;
}

/**
 * One after the other.
 * @param {string} executable
 * @param {NodeJS.ProcessEnv} env
 */
async function runChecks(executable, env) {
  /** @type {Result[]} */
  const results = [];
  for (const check of CHECKS) results.push(report(await runCheck(executable, check, env)));
  return results;
}

/**
 * @param {string} executable
 * @param {{ name: string, args: string[], fix: string }} check
 * @param {NodeJS.ProcessEnv} env
 */
async function runCheck(executable, { name, args, fix }, env) {
  const began = performance.now();
  const { code, output } = await run(executable, args, { env });
  const seconds = (performance.now() - began) / 1000;
  const help = fix ? `\nto fix it: ${fix}` : '';
  return { name, passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, output: `${output}${help}`, seconds };
}

/**
 * @param {string} executable
 * @param {string} project
 * @param {string} scratch
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [shard] which part of its files, such as 1/2
 */
async function runTests(executable, project, scratch, env, shard) {
  const began = performance.now();
  const name = shard ? `${project}-${shard.replace('/', '-of-')}` : project;
  const file = join(scratch, `${name}.json`);
  const args = [
    tool('vitest/vitest.mjs'),
    'run',
    ...(project === 'unit' ? ['alone', 'unit', 'page'] : [project]).flatMap((name) => ['--project', name]),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...(shard ? [`--shard=${shard}`] : []),
  ];
  if (filters.length > 0) args.push('--passWithNoTests');
  const log = join(root, '.cache', `test-${name}.log`); // to look at while it runs
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, '');
  // The window's tests wait for what a person would see, so beside them the others stand back.
  const back = project === 'unit' && wanted('e2e') && process.platform !== 'win32' ? ['nice', '-n', '10'] : [];
  const [command = executable, ...rest] = [...back, executable, ...args, ...filters];
  const { code, output } = await run(command, rest, { env, onLine: (line) => appendFileSync(log, `${line}\n`) });
  const seconds = (performance.now() - began) / 1000;
  const { passed, failed, slowest } = countTests(file);
  const unexplained = code !== 0 && failed === 0 ? 1 : 0; // vitest itself failed, or an error outside any test
  return {
    name: project === 'unit' ? 'unit and integration tests' : `${project} tests${shard ? `, ${shard}` : ''}`,
    passed,
    failed: failed + unexplained,
    output,
    seconds,
    slowest,
  };
}

/**
 * @param {string} file vitest's JSON report
 * @returns {{ passed: number, failed: number, slowest: string }}
 */
function countTests(file) {
  /** @type {{ testResults: { name: string, status: string, startTime: number, endTime: number, assertionResults: { status: string }[] }[] }} */
  let content;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 0, slowest: '' }; // no report: the exit code counts as one failure
  }
  let passed = 0;
  let failed = 0;
  for (const { status, assertionResults } of content.testResults) {
    const failures = assertionResults.filter((test) => test.status === 'failed').length;
    passed += assertionResults.filter((test) => test.status === 'passed').length;
    failed += failures === 0 && status === 'failed' ? 1 : failures; // a file that did not even load is one failure
  }
  const seconds = content.testResults.map(({ name, startTime, endTime }) => ({
    name: relative(root, name),
    took: (endTime - startTime) / 1000,
  }));
  const slow = seconds.filter(({ took }) => took >= 10).sort((a, b) => b.took - a.took);
  return {
    passed,
    failed,
    slowest: slow
      .slice(0, 5)
      .map(({ name, took }) => `${name} ${took.toFixed(0)} s`)
      .join(', '),
  };
}
