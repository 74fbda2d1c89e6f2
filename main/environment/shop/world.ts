// The shop as registry.ts lists it.

import type { World } from '../environment.ts';
import { SHOP_MISTAKES } from '../purchases.ts';
import { blind, demonstrate, heuristic } from './demonstrator.ts';
import { SHOP_FAILURES } from './failures.ts';
import { shopSettings } from './settings.ts';
import { createShop, type Shop } from './shop.ts';
import type { ShopState } from './step.ts';
import { productOfTask } from './tasks.ts';

export const shopWorld = {
  name: 'shop',
  title: 'Shop',
  summary:
    '497 products in 8 categories; search, click and buy the one the user wants. Near-duplicate names, synonyms, prices and categories decide.',
  example: '201-plain-1',
  settings: shopSettings,
  mistakes: SHOP_MISTAKES,
  failures: SHOP_FAILURES,
  flagship: 'shop-astar-po',
  instruction: 'You shop for the user. Reply with one action: search WORDS, click ID or buy ID.',
  clusters: () => productOfTask,
  create: createShop,
  blind,
  heuristic,
  demonstrate,
} satisfies World<ShopState> & { create(settings: unknown): Shop };
