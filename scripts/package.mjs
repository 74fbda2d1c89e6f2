// @ts-check
// `npm run package`: an unpacked application for this platform in dist/, made by electron-builder from the Electron that
// the set-up found. Releases are made from the official Electron only; anything else needs --dev, which marks the name.
//
//   npm run package                 a release for this platform (refuses an Electron that is not the official one)
//   npm run package -- --dev        a development build, from whatever Electron is at hand
//   npm run package -- --cluster    a folder for the nodes of a cluster (package-cluster.mjs), for Linux on x64
//   npm run package -- --dev --smoke   afterwards starts it and checks that window and self-test work (a release can't be
//                                   driven from outside: its inspector is switched off)

import { createWriteStream, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeEnvironment } from './electron.mjs';
import { identity, packageForCluster } from './package-cluster.mjs';
import { aloud, setUp } from './setup.mjs';
import { foreground, main, root, run, SetupError, stage, tail } from './stage.mjs';
import { hasDisplay, withVirtualDisplay } from './system.mjs';

const dist = join(root, 'dist');
const words = process.argv.slice(2);

await main(async () => {
  const dev = words.includes('--dev') || process.env.ASTROLAB_ALLOW_UNOFFICIAL === '1';
  const smoke = words.includes('--smoke');
  if (smoke && !dev) {
    const failed = 'the smoke test drives the window through the inspector, which releases switch off';
    throw new SetupError({ tried: 'npm run package -- --smoke', failed, fix: 'npm run package -- --dev --smoke' });
  }
  const electron = await setUp(aloud, { build: 'release', virtualDisplay: smoke && !hasDisplay() });
  if (words.includes('--cluster')) return packageCluster(electron);
  if (electron.source !== 'official' && !dev) {
    throw new SetupError({
      tried: 'packaging a release',
      failed: `the Electron at hand is ${electron.source === 'republished' ? "a third party's re-publication" : 'one that you brought along'} (${electron.dist})`,
      fix: 'package where the official Electron can be downloaded, or add -- --dev for a development build that says so in its name',
    });
  }
  const folder = join(dist, `${process.platform}-${process.arch}${dev ? '-dev' : ''}`);
  await stage(aloud, 'Package', async (say) => {
    say('electron-builder');
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(join(root, 'out', 'main', 'build.json'), await identity(electron));
    const config = join(root, 'out', 'electron-builder.json');
    writeFileSync(config, JSON.stringify(configuration(electron.dist, folder, dev), null, 2));
    const tool = join(root, 'node_modules', 'electron-builder', 'cli.js');
    // In the system's Node: its argument parser mistakes Electron's for a packaged application.
    const result = await run(process.execPath, [tool, '--dir', `--${process.arch}`, '--config', config, '--publish', 'never']);
    if (result.code !== 0) {
      const log = join(root, 'out', 'electron-builder.log');
      createWriteStream(log).end(result.output);
      throw new SetupError({ tried: 'electron-builder --dir', failed: tail(result.output), fix: `the whole output is in ${log}` });
    }
    const bytes = sizeOf(applicationFolder(folder));
    return {
      text: `${applicationFolder(folder)}, ${(bytes / 1e6).toFixed(0)} MB${dev ? ', a development build: not for release' : ''}`,
      worked: true,
    };
  });
  if (!smoke) return 0;
  const executable = executableIn(applicationFolder(folder), dev);
  const start = (/** @type {NodeJS.ProcessEnv} */ env) =>
    foreground(electron.executable, [join(root, 'scripts', 'smoke.mjs'), executable], nodeEnvironment(electron, env));
  return hasDisplay() ? start(process.env) : withVirtualDisplay(start);
});

/** @param {import('./electron.mjs').Electron} electron */
async function packageCluster(electron) {
  const folder = join(dist, 'cluster-linux-x64');
  await stage(aloud, 'Package', async (say) => {
    await packageForCluster(electron, folder, say);
    return { text: `${folder}, ${(sizeOf(folder) / 1e6).toFixed(0)} MB: copy it to where the nodes see it`, worked: true };
  });
  return 0;
}

/** @param {string} electronDist @param {string} output @param {boolean} dev */
function configuration(electronDist, output, dev) {
  const name = dev ? 'Astrolab (development build)' : 'Astrolab';
  return {
    appId: 'org.astrolab.Astrolab',
    productName: name,
    executableName: 'astrolab',
    electronDist,
    electronVersion: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.electron,
    directories: { output, buildResources: join(root, 'resources') },
    npmRebuild: false,
    asar: true,
    asarUnpack: ['node_modules/better-sqlite3/**', 'node_modules/onnxruntime-node/**'],
    files: [
      'out/{kernels,main,preload,renderer}/**',
      '!**/*.map',
      'resources/**',
      '!resources/register/**',
      '!resources/*/make-catalog.mjs',
      'main/store/migrations/**',
      'package.json',
      ...otherPlatforms(),
    ],
    ...(existsSync(join(root, 'resources', 'icon.png')) ? { icon: join(root, 'resources', 'icon.png') } : {}),
    extraFiles: [{ from: join(root, 'LICENSE'), to: 'LICENSE.astrolab.txt' }],
    // On macOS the Info.plist; a folder unpacked on Linux or Windows carries a script that registers it for the user.
    fileAssociations: [
      {
        ext: 'astrolab',
        name: 'Astrolab runs',
        description: 'Runs and studies of Astrolab',
        mimeType: 'application/x-astrolab',
        role: 'Viewer',
      },
    ],
    protocols: [{ name: 'Astrolab link', schemes: ['astrolab'], role: 'Viewer' }],
    linux: { target: 'dir', category: 'Science', extraFiles: [{ from: join(root, 'resources', 'register', 'linux'), to: '.' }] },
    mac: { target: 'dir', category: 'public.app-category.education', identity: null },
    win: { target: 'dir', extraFiles: [{ from: join(root, 'resources', 'register', 'windows'), to: '.' }] },
    electronFuses: {
      runAsNode: true, // the command line of the packaged application needs it
      enableCookieEncryption: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: dev, // the smoke test drives the window through it
      onlyLoadAppFromAsar: true,
      grantFileProtocolExtraPrivileges: false,
    },
  };
}

/** Patterns that leave out native binaries of other platforms, and sources of native modules. */
function otherPlatforms() {
  const patterns = ['!node_modules/better-sqlite3/{deps,src}/**', '!node_modules/**/*.{md,ts,mts,cts}'];
  const runtime = 'node_modules/onnxruntime-node/bin/napi-v6';
  for (const platform of readdirSync(join(root, runtime))) {
    for (const arch of readdirSync(join(root, runtime, platform))) {
      if (platform !== process.platform || arch !== process.arch) patterns.push(`!${runtime}/${platform}/${arch}/**`);
    }
  }
  for (const file of readdirSync(join(root, 'node_modules/better-sqlite3/prebuilds'))) {
    if (!file.startsWith(`${process.platform}-${process.arch}`)) patterns.push(`!node_modules/better-sqlite3/prebuilds/${file}`);
  }
  return patterns;
}

/** @param {string} folder */
function applicationFolder(folder) {
  const inner = existsSync(folder) && readdirSync(folder).find((name) => /unpacked$|^mac/.test(name));
  return inner ? join(folder, inner) : folder;
}

/** @param {string} folder @param {boolean} dev */
function executableIn(folder, dev) {
  const name = dev ? 'Astrolab (development build)' : 'Astrolab';
  if (process.platform === 'darwin') return join(folder, `${name}.app`, 'Contents', 'MacOS', 'astrolab');
  return join(folder, process.platform === 'win32' ? 'astrolab.exe' : 'astrolab');
}

/** @param {string} path @returns {number} */
function sizeOf(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return 0;
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
