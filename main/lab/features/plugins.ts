// Calls about worlds and other plug-ins from the user's folders: the list, adding a folder, allowing it to run, removing it.

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { closeWorlds } from '../../environment/external/external.ts';
import { readManifest } from '../../environment/external/manifest.ts';
import type { Plugin } from '../../config/catalog.ts';
import { loadCatalog } from '../../plugin/load.ts';
import { addFolder, CODE_FILES, manifestFolders, missingFolders, removeFolder } from '../../plugin/permissions.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

const plugin = z.object({
  folder: z.string(),
  name: z.string(),
  origin: z.enum(['added', 'data folder', 'command line']),
  allowed: z.boolean(),
  worlds: z.array(z.string()),
  algorithms: z.array(z.string()),
  /** What would be run: the commands of its worlds, or its TypeScript. */
  runs: z.array(z.string()),
  problem: z.string().nullable(),
});
export type PluginRow = z.infer<typeof plugin>;

const list = z.object({ plugins: z.array(plugin), missing: z.array(z.string()) });
const folder = z.strictObject({ folder: z.string().trim().min(1).max(4000) });

export const calls = {
  'plugins.list': { input: nothing, answer: list },
  /** Asks for a folder in the system's dialog; null when the user changed their mind. */
  'plugins.choose': { input: nothing, answer: z.object({ folder: z.string().nullable() }) },
  'plugins.add': { input: folder, answer: list },
  /** Asks the user in a dialog of the system, which the page cannot answer, whether the folder's code may run. */
  'plugins.allow': { input: folder, answer: list },
  'plugins.remove': { input: folder, answer: list },
};

export function handlers(lab: Lab): Handlers<typeof calls> {
  const reload = async (): Promise<void> => {
    lab.useCatalog(await loadCatalog(lab.dataFolder));
    lab.readers.renew();
  };
  const { dataFolder } = lab;
  const list = () => ({ plugins: lab.catalog.plugins.map(rowOf), missing: missingFolders(dataFolder) });
  const known = (folder: string): Plugin => {
    const found = lab.catalog.plugins.find((plugin) => plugin.folder === folder);
    if (!found) throw new CallFailure('not-found', `${folder} is not among the plug-ins.`, 'Add the folder first.');
    return found;
  };
  return {
    'plugins.list': () => list(),

    'plugins.choose': async () => {
      return { folder: await lab.desktop.choose({ title: 'A folder with world.json or plugin.ts', of: 'folder' }) };
    },

    'plugins.add': async ({ folder }) => {
      const path = resolve(folder);
      if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
        throw new CallFailure('not-found', `There is no folder ${path}.`, 'Choose the folder that holds world.json.');
      try {
        if (runsOf(path).length === 0) throw new Error(`${path} holds neither world.json nor plugin.ts`);
      } catch (error) {
        throw new CallFailure(
          'bad-plugin',
          error instanceof Error ? error.message : String(error),
          '`lab new world NAME` writes a folder to start from.',
        );
      }
      addFolder(dataFolder, path, false);
      await reload();
      return list();
    },

    'plugins.allow': async ({ folder }) => {
      const { name } = known(folder);
      const pressed = await lab.desktop.ask({
        type: 'warning',
        title: 'Allow a plug-in',
        message: `Let “${name}” run on this machine?`,
        detail: `It would run:\n${runsOf(folder).join('\n')}\n\nin ${folder}. It can do whatever you can do. You are asked again when this changes.`,
        buttons: ['Allow', 'Cancel'],
        defaultId: 1,
        cancelId: 1,
      });
      if (pressed === 0) {
        addFolder(dataFolder, folder, true);
        await reload();
      }
      return list();
    },

    'plugins.remove': async ({ folder }) => {
      removeFolder(dataFolder, folder);
      for (const path of statSync(folder, { throwIfNoEntry: false }) ? manifestFolders(folder) : []) closeWorlds(path);
      await reload();
      return list();
    },
  };
}

function rowOf({ folder, name, origin, allowed, worlds, algorithms, problem }: Plugin): PluginRow {
  let runs: string[] = [];
  let fault = problem;
  try {
    runs = runsOf(folder);
  } catch (error) {
    fault ??= error instanceof Error ? error.message : String(error);
  }
  return { folder, name, origin, allowed, worlds: [...worlds], algorithms: [...algorithms], runs, problem: fault };
}

/** The commands that its worlds would start, and the code that the lab itself would run. */
function runsOf(folder: string): string[] {
  const commands = manifestFolders(folder).map((path) => {
    const { command, url } = readManifest(path);
    return url ?? (command ?? []).join(' ');
  });
  const code = CODE_FILES.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  return [...commands, ...code.map((name) => `${name}, inside the lab`)];
}
