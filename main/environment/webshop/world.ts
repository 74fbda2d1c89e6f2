// WebShop as registry.ts lists it.

import type { World } from '../environment.ts';
import { PURCHASE_FAILURES, PURCHASE_MISTAKES } from '../purchases.ts';
import { demonstrate } from './demonstrator.ts';
import { webshopImporter } from './search/import.ts';
import { follow } from './rules.ts';
import { webshopSettings } from './settings.ts';
import type { WebShopState } from './site.ts';
import { type WebShop, createWebShop, goalClusters } from './webshop.ts';

export const webshopWorld = {
  name: 'webshop',
  title: 'WebShop',
  summary:
    'The original WebShop in text mode: search a catalog, read product pages, choose options, buy. Has a built-in catalog and loads the original small or full set from a folder.',
  settings: webshopSettings,
  mistakes: PURCHASE_MISTAKES,
  failures: PURCHASE_FAILURES,
  data: {
    setting: 'dataFolder',
    option: 'webshop-data',
    description: 'WebShop: the folder with the original data files',
    onlyWith: ['set', 'goals'],
    importer: webshopImporter,
  },
  clusters: goalClusters,
  instruction: 'You shop for the user. Reply with one action: search[WORDS] or click[NAME].',
  flagship: 'webshop-original',
  create: createWebShop,
  blind: (shop: WebShop, turn) => follow('first result', shop, turn),
  heuristic: (shop: WebShop, turn) => follow('read', shop, turn),
  demonstrate,
} satisfies World<WebShopState>;
