// What a tree does against the rules of import-rules.config.mjs, and places that name a world outside main/environment/.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../../main/base/paths.ts';

const TOOL = join(projectFolder(), 'node_modules/oxlint/bin/oxlint');

/** Each import that a rule forbids, as `file: what the rule says`. */
export function importFaults(folder: string): string[] {
  const { stdout, stderr } = spawnSync(process.execPath, [TOOL, '-c', 'import-rules.config.mjs', '--format=json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (!stdout.startsWith('{')) throw new Error(`oxlint did not run: ${stdout}${stderr}`);
  const report: { diagnostics: { filename: string; message: string; help?: string }[]; number_of_files: number } = JSON.parse(stdout);
  if (report.number_of_files === 0) throw new Error(`no files in ${folder}`);
  return report.diagnostics.map(({ filename, message, help }) => `${filename}: ${help ?? message}`).toSorted();
}

/** Lines that name a world. The rest of the lab knows worlds by what they declare; names of presets may be used anywhere. */
export function namedWorlds(root: string): string[] {
  const environments = readdirSync(join(root, 'main/environment'), { recursive: true, encoding: 'utf8' });
  const worlds = environments.flatMap((path) => /^([^/\\]+)[/\\]world\.ts$/.exec(path)?.[1] ?? []);
  const presets = readdirSync(join(root, 'resources/presets')).map((file) => file.replace(/\.json$/, ''));
  const longestFirst = presets.toSorted((a, b) => b.length - a.length);
  const presetNames = new RegExp(`\\b(${longestFirst.join('|')})\\b`, 'g');
  const titles = [...worlds.map((name) => name.charAt(0).toUpperCase() + name.slice(1)), 'WebShop'];
  const named = new RegExp(`(?<![A-Za-z])(${worlds.join('|')})(?![a-z_])|(${titles.join('|')})(?![a-z])`);
  const sources = ['main', 'preload', 'renderer'].flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: 'utf8' }).map((path) => join(part, path)),
  );
  return sources
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith(join('main', 'environment')))
    .flatMap((path) => {
      const lines = readFileSync(join(root, path), 'utf8').split('\n');
      return lines.flatMap((line, index) => (named.test(line.replace(presetNames, '')) ? [`${path}:${index + 1} ${line.trim()}`] : []));
    });
}
