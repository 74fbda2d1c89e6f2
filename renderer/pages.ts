// The pages with their code. Which there are stands in preload/pages.ts; the code of each is loaded when the window has nothing else to do,
// or when first needed. Only Runs, where the window opens, comes with it.

import type { ComponentType } from 'react';
import { PAGES as TABLE } from '../preload/pages.ts';
import RunsPage from './runs/runs-page.tsx';
import { laterPage } from './shell/later-page.tsx';

const code = import.meta.glob<{ default: ComponentType }>(['./*/*-page.tsx', '!./{runs,gallery}/*']);

const loads: (() => Promise<void>)[] = [];

function later(id: string, soon: boolean): ComponentType {
  const { component, load } = laterPage(async () => {
    const fetchCode = code[`./${id}/${id}-page.tsx`];
    if (!fetchCode) throw new Error(`The page ${id} has no file renderer/${id}/${id}-page.tsx`);
    return fetchCode();
  });
  if (soon) loads.unshift(load);
  else loads.push(load);
  return component;
}

/** Every building block on one page, for contributors: packaged applications are built without it. */
const GALLERY =
  import.meta.env.MODE === 'release'
    ? []
    : [
        {
          id: 'gallery',
          path: '/gallery',
          title: 'Component gallery',
          address: '/gallery',
          steady: false,
          navigation: undefined,
          component: laterPage(() => import('./gallery/gallery-page.tsx')).component,
        },
      ];

const listed = TABLE.map((page) => ({
  id: page.id,
  path: page.path,
  title: page.title,
  /** Where the navigation leads: the address without its parameters. */
  address: page.path.replace(/\/:.*$/, '') || '/',
  steady: 'steady' in page,
  navigation: 'navigation' in page ? page.navigation : undefined,
  component: page.id === 'runs' ? RunsPage : later(page.id, 'soon' in page),
}));

export const PAGES = [...listed, ...GALLERY];

/** What identifies a page while it is shown: its whole address, or its beginning where the rest may change under it. */
export function pageKey(location: string): string {
  return PAGES.find((page) => page.steady && location.startsWith(page.address))?.path ?? location;
}

/** Loads the code of the pages, each in an idle moment, so that a first visit does not wait for it. */
export function loadPagesWhenIdle(): void {
  const next = loads.shift();
  if (!next) return;
  requestIdleCallback(() => {
    // What fails to load now is asked for again, and its failure shown, when the page is opened.
    void next()
      .catch(() => null)
      .then(loadPagesWhenIdle);
  });
}
