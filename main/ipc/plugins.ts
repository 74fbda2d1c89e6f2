// Worlds and other plug-ins from the user's folders. That one may run is asked in a dialog of the system: the page cannot give that permission itself.

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dialog } from 'electron';
import type { pluginCalls, PluginRow } from '../../preload/contract/plugins.ts';
import { closeWorlds } from '../environment/external/external.ts';
import { readManifest } from '../environment/external/manifest.ts';
import { type LoadedPlugin, loadedPlugins, loadPlugins } from '../plugin/load.ts';
import { addFolder, CODE_FILES, manifestFolders, missingFolders, removeFolder } from '../plugin/permissions.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';

export function pluginHandlers(context: Context): Handlers<typeof pluginCalls> {
  const { dataFolder } = context;
  const list = () => ({ plugins: loadedPlugins().map(rowOf), missing: missingFolders(dataFolder) });
  const known = (folder: string): LoadedPlugin => {
    const found = loadedPlugins().find((plugin) => plugin.folder === folder);
    if (!found) throw new CallFailure('not-found', `${folder} is not among the plug-ins.`, 'Add the folder first.');
    return found;
  };
  return {
    'plugins.list': () => list(),

    'plugins.choose': async () => {
      const { filePaths, canceled } = await dialog.showOpenDialog({
        title: 'A folder with world.json or plugin.ts',
        properties: ['openDirectory'],
      });
      return { folder: canceled ? null : (filePaths[0] ?? null) };
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
      await loadPlugins(dataFolder);
      return list();
    },

    'plugins.allow': async ({ folder }) => {
      const { name } = known(folder);
      const { response } = await dialog.showMessageBox({
        type: 'warning',
        title: 'Allow a plug-in',
        message: `Let “${name}” run on this machine?`,
        detail: `It would run:\n${runsOf(folder).join('\n')}\n\nin ${folder}. It can do whatever you can do. You are asked again when this changes.`,
        buttons: ['Allow', 'Cancel'],
        defaultId: 1,
        cancelId: 1,
      });
      if (response === 0) {
        addFolder(dataFolder, folder, true);
        await loadPlugins(dataFolder);
      }
      return list();
    },

    'plugins.remove': async ({ folder }) => {
      removeFolder(dataFolder, folder);
      for (const path of statSync(folder, { throwIfNoEntry: false }) ? manifestFolders(folder) : []) closeWorlds(path);
      await loadPlugins(dataFolder);
      return list();
    },
  };
}

function rowOf({ folder, name, origin, allowed, worlds, algorithms, problem }: LoadedPlugin): PluginRow {
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
