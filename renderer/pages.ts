// The pages, in one table: address, name, icon, key and the code, which is loaded when the window has nothing else to do, or
// when first needed; only Runs, where the window opens, comes with it. A new page is a folder and one entry here; the
// navigation, the palette, the keyboard and the menu follow.

import type { ComponentType } from 'react';
import type { MenuCommand } from '../preload/contract.ts';
import type { IconName } from './components/icons.tsx';
import RunsPage from './runs/runs-page.tsx';
import { laterPage } from './shell/later-page.tsx';

interface PageEntry {
  /** wouter pattern. Parameters arrive through useParams. */
  readonly path: string;
  readonly title: string;
  readonly component: ComponentType;
  /** The address changes while the page is used (another episode, another selection): it stays mounted. */
  readonly steady?: true;
  /** Absent for pages that are reached from within another (a run, an episode). */
  readonly navigation?: {
    readonly command: MenuCommand;
    readonly icon: IconName;
    /** Typed after "g". */
    readonly key: string;
    readonly place: 'top' | 'bottom';
    /** Only where a cluster is set up. */
    readonly withCluster?: true;
  };
}

const loads: (() => Promise<void>)[] = [];

/** A page whose code comes later; `soon`: before the others, for it is opened most. */
function later(fetchCode: () => Promise<{ default: ComponentType }>, soon = false): ComponentType {
  const { component, load } = laterPage(fetchCode);
  if (soon) loads.unshift(load);
  else loads.push(load);
  return component;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Runs',
    component: RunsPage,
    navigation: { command: 'runs', icon: 'runs', key: 'r', place: 'top' },
  },
  {
    path: '/new/:base?',
    title: 'New run',
    component: later(() => import('./new-run/new-run-page.tsx')),
    navigation: { command: 'new', icon: 'plus', key: 'n', place: 'top' },
  },
  {
    path: '/queue',
    title: 'Queue',
    component: later(() => import('./queue/queue-page.tsx')),
    navigation: { command: 'queue', icon: 'clock', key: 'q', place: 'top' },
  },
  { path: '/runs/:run', title: 'Live', component: later(() => import('./live/live-page.tsx'), true) },
  {
    path: '/replay/:run?/:episode?/:step?',
    title: 'Replay',
    steady: true,
    component: later(() => import('./replay/replay-page.tsx'), true),
    navigation: { command: 'replay', icon: 'replay', key: 'e', place: 'top' },
  },
  {
    path: '/compare/:study?',
    title: 'Compare',
    steady: true,
    component: later(() => import('./compare/compare-page.tsx'), true),
    navigation: { command: 'compare', icon: 'compare', key: 'c', place: 'top' },
  },
  {
    path: '/studies',
    title: 'Studies',
    component: later(() => import('./studies/studies-page.tsx')),
    navigation: { command: 'studies', icon: 'chart', key: 't', place: 'top' },
  },
  {
    path: '/clusters/:cluster?/:submission?',
    title: 'Clusters',
    steady: true,
    component: later(() => import('./clusters/clusters-page.tsx')),
    navigation: { command: 'clusters', icon: 'cluster', key: 'k', place: 'top', withCluster: true },
  },
  {
    path: '/play/:world?',
    title: 'Play',
    component: later(() => import('./play/play-page.tsx')),
    navigation: { command: 'play', icon: 'play', key: 'p', place: 'top' },
  },
  {
    path: '/settings',
    title: 'Settings',
    component: later(() => import('./settings/settings-page.tsx')),
    navigation: { command: 'settings', icon: 'settings', key: 's', place: 'bottom' },
  },
  { path: '/gallery', title: 'Component gallery', component: later(() => import('./gallery/gallery-page.tsx')) },
];

/** What identifies a page while it is shown: its whole address, or its beginning where the rest may change under it. */
export function pageKey(location: string): string {
  return PAGES.find((page) => page.steady && location.startsWith(baseAddress(page)))?.path ?? location;
}

/** The address without its parameters: where the navigation leads. */
export function baseAddress({ path }: PageEntry): string {
  return path.replace(/\/:.*$/, '') || '/';
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
