// What the call can make runs of: the built-in catalog, or the one with the user's plug-ins, which run.ts loads before the command.

import { BUILT_IN, type Catalog } from '../../config/catalog.ts';
import { loadedCatalog } from './output.ts';

export const catalog = (): Catalog => loadedCatalog() ?? BUILT_IN;
