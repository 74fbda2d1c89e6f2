// Whether there can be plug-ins at all: asked before anything of theirs is loaded, because most commands are over sooner than that.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The user's folders, in the data folder. */
export const PLUGIN_FILE = 'plugins.json';
/** In the data folder: each folder inside is a plug-in. */
export const PLUGIN_FOLDER = 'plugins';
/** Folders that `--plugin` names; processes that the command starts inherit them. */
export const NAMED = 'ASTROLAB_PLUGINS';

export const mayHavePlugins = (dataFolder: string): boolean =>
  Boolean(process.env[NAMED]) || [PLUGIN_FILE, PLUGIN_FOLDER].some((name) => existsSync(join(dataFolder, name)));
