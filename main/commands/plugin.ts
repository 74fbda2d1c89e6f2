// `lab world`, `lab plugin` and `lab new`: worlds and other plug-ins from the user's folders. Adding a folder lists it; that its program may be
// started (or its TypeScript be run) is allowed once, by --allow, and asked again when what would run has changed.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Plugin } from '../config/catalog.ts';
import { ManifestError, readManifest } from '../environment/external/manifest.ts';
import { loadCatalog } from '../plugin/load.ts';
import { addFolder, CODE_FILES, manifestFolders, missingFolders, removeFolder } from '../plugin/permissions.ts';
import { checkPlugin } from '../plugin/check.ts';
import { KINDS, type Kind, quoted, writeSkeleton } from '../plugin/skeleton.ts';
import { checkStudies } from '../study/check.ts';
import { catalog } from './shared/catalog.ts';
import { answer, CallError, dataFolder, note } from './shared/output.ts';

export function register(program: Command): void {
  const world = program.command('world').description('worlds from your folders: list, show, add, remove').action(listWorlds);
  world
    .command('add <dir>')
    .description('add the world (or plug-in) of a folder; --allow lets its program be started')
    .option('--allow', 'its program may be started; asked again when world.json changes')
    .action((dir: string, options: { allow?: boolean }) => addWorld(dir, options.allow === true));
  world
    .command('show <name>')
    .description('what a world says about itself: metadata, schema and state; this starts its program')
    .action(showWorld);
  world.command('remove <name>').description('forget a world, by its name or folder; its files stay').action(removeWorld);

  const plugin = program
    .command('plugin')
    .description('plug-ins: worlds, algorithms, presets and studies from folders')
    .action(listPlugins);
  plugin
    .command('check <dir>')
    .description('run the property tests of worlds and the gradient tests of algorithms against a folder; this runs its code')
    .action(check);

  program
    .command('new <kind> <name>')
    .description(`write a working skeleton with a test: ${KINDS.join(', ')}`)
    .option('--in <dir>', 'where the folder is made', '.')
    .action(makeNew);
}

function listWorlds(): void {
  const { worlds, plugins } = catalog();
  const rows = worlds.map(({ name, title, summary, folder }) => {
    const plugin = plugins.find((one) => one.worlds.includes(name));
    return { name, title, summary, folder: folder ?? null, allowed: plugin ? plugin.allowed : true };
  });
  const missing = missingFolders(dataFolder());
  const lines = rows.map(({ name, title, folder, allowed }) => {
    return `${name.padEnd(20)} ${title.padEnd(28)} ${folder ?? 'built in'}${allowed ? '' : '  (not allowed: lab world add DIR --allow)'}`;
  });
  answer({ worlds: rows, missing }, [...lines, ...missing.map((folder) => `${folder} was added and is not there any more`)].join('\n'));
}

async function showWorld(name: string): Promise<void> {
  const world = catalog().worlds.find((candidate) => candidate.name === name);
  if (!world) throw new CallError(`There is no world "${name}"`, '`lab world` lists them');
  const { title, summary, folder } = world;
  const described = (await world.describe?.()) ?? { metadata: null, schema: null, state: null, problem: null };
  const parts = Object.entries(described).map(([part, value]) => `${part}: ${value === null ? '–' : JSON.stringify(value, null, 2)}`);
  answer({ name, title, summary, folder: folder ?? null, ...described }, [`${title}: ${summary}`, ...parts].join('\n'));
}

function listPlugins(): void {
  const rows = catalog().plugins;
  const line = ({ name, folder, worlds, algorithms, problem, allowed }: Plugin): string =>
    `${name}  ${folder}  worlds: ${worlds.join(', ') || '–'}, algorithms: ${algorithms.join(', ') || '–'}${allowed ? '' : ', not allowed'}${problem === null ? '' : `\n  ${problem}`}`;
  answer(
    rows,
    rows.map(line).join('\n') ||
      `No plug-ins. \`lab new world NAME\` writes one; folders in ${join(dataFolder(), 'plugins')} are found by themselves.`,
  );
}

async function addWorld(dir: string, allow: boolean): Promise<void> {
  const folder = resolve(dir);
  const manifests = readable(() => manifestFolders(existing(folder)).map((path) => ({ path, manifest: readManifest(path) })));
  const code = CODE_FILES.some((name) => existsSync(join(folder, name)));
  if (manifests.length === 0 && !code && !existsSync(join(folder, 'presets')) && !existsSync(join(folder, 'studies'))) {
    throw new CallError(
      `${folder} holds neither world.json nor plugin.ts, presets or studies`,
      '`lab new world NAME` writes a folder to start from',
    );
  }
  addFolder(dataFolder(), folder, allow);
  const loaded = (await loadCatalog(dataFolder())).plugins.find((plugin) => plugin.folder === folder);
  if (!loaded || (loaded.problem !== null && allow)) {
    removeFolder(dataFolder(), folder);
    throw new CallError(`${folder} was not added: ${loaded?.problem ?? 'it was not found'}`, '`lab plugin check DIR` has the details');
  }
  const runs = manifests.map(({ manifest: { name, command, url } }) => `  ${name}: ${url ?? (command ?? []).join(' ')}`);
  const runsCode = runs.length > 0 || code;
  if (!allow && runsCode) {
    note(`Added, but nothing of it runs until you allow it. It would run:\n${runs.join('\n') || `  ${folder}/plugin.ts inside the lab`}`);
    note(`Allow it with: npm run lab -- world add ${quoted(dir)} --allow`);
  }
  const { worlds, algorithms, hash } = loaded;
  const next = worlds[0] === undefined || !allow ? '' : `\nPlay it: npm run lab -- play ${worlds[0]}`;
  answer(
    { folder, allowed: allow, worlds, algorithms, hash },
    `Added ${[...worlds, ...algorithms].join(', ') || 'a plug-in'} from ${folder}${allow || !runsCode ? '' : ' (not allowed yet)'}${next}`,
  );
}

function removeWorld(name: string): void {
  const found = catalog().plugins.find((plugin) => plugin.worlds.includes(name) || plugin.folder === resolve(name) || plugin.name === name);
  const folder = found?.folder ?? missingFolders(dataFolder()).find((path) => path === resolve(name));
  if (folder === undefined) throw new CallError(`No world from a folder is called "${name}"`, '`lab world` lists them');
  if (found?.origin === 'data folder') throw new CallError(`${folder} lies in the data folder: move it away to remove it`);
  removeFolder(dataFolder(), folder);
  answer({ removed: folder }, `Removed ${name}; the files in ${folder} are untouched`);
}

async function check(dir: string): Promise<void> {
  const folder = existing(resolve(dir));
  const checked = await checkPlugin(folder, (text) => note(text));
  const results = [...checked.results, ...(await checkStudies(checked.catalog))];
  const failed = results.filter(({ problem }) => problem !== null);
  const text = results.map(
    ({ name, problem }) => `${problem === null ? 'ok    ' : 'FAILED'} ${name}${problem === null ? '' : `\n         ${problem}`}`,
  );
  answer({ folder, passed: results.length - failed.length, failed: failed.length, results }, text.join('\n'));
  if (failed.length > 0) process.exitCode = 1;
}

function makeNew(kind: string, name: string, options: { in: string }): void {
  const wanted = KINDS.find((known): known is Kind => known === kind);
  if (!wanted) throw new CallError(`There is no skeleton for "${kind}"`, `There are: ${KINDS.join(', ')}`);
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) throw new CallError(`Expected a name of small letters, digits and hyphens; found "${name}"`);
  const folder = resolve(options.in, name);
  if (existsSync(folder)) throw new CallError(`${folder} exists already: nothing was written`);
  const files = writeSkeleton(wanted, name, folder);
  const steps = [`npm run lab -- plugin check ${quoted(folder)}`, `npm run lab -- world add ${quoted(folder)} --allow`];
  answer({ folder, files, next: steps }, `Wrote ${files.join(', ')} in ${folder}\nNext:\n  ${steps.join('\n  ')}`);
}

function existing(folder: string): string {
  if (!existsSync(folder)) throw new CallError(`There is no folder ${folder}`);
  return folder;
}

function readable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ManifestError) throw new CallError(error.message, 'docs/BRING_YOUR_OWN.md lists every field');
    throw error;
  }
}
