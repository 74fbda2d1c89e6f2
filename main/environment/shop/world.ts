// The shop as registry.ts lists it.

import type { World } from '../environment.ts';
import { blind, demonstrate, heuristic } from './demonstrator.ts';
import { createShop, shopSettings, type Shop, type ShopState } from './shop.ts';

export const shopWorld = {
  name: 'shop',
  title: 'Shop',
  summary:
    '497 products in 8 categories; search, click and buy the one the user wants. Near-duplicate names, synonyms, prices and categories decide.',
  example: '201-plain-1',
  settings: shopSettings,
  create: createShop,
  blind,
  heuristic,
  demonstrate,
} satisfies World<ShopState> & { create(settings: unknown): Shop };
