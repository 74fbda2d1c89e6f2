// The pages, in one table: the sidebar, the palette, the keys, the menu, the contract and links from outside follow from it. A page is an
// entry here and its code in renderer/ID/ID-page.tsx. Plain data: the shell and the window both read it.

interface PageTableEntry {
  /** Its folder under renderer/, and the command by which the menu opens it. */
  readonly id: string;
  /** wouter pattern. Parameters arrive through useParams. */
  readonly path: string;
  readonly title: string;
  /** The address changes while the page is used (another episode, another selection): it stays mounted. */
  readonly steady?: true;
  /** Its code is loaded before that of the others, because it is opened most. */
  readonly soon?: true;
  /** Absent for pages that are reached from within another (a run, an episode). */
  readonly navigation?: {
    /** One of renderer/components/icons.tsx. */
    readonly icon: string;
    /** Typed after "g". */
    readonly key: string;
    /** Those at the top are numbered in the menu: Ctrl 1, Ctrl 2, … */
    readonly place: 'top' | 'bottom';
    /** In the sidebar only where a cluster is set up. */
    readonly withCluster?: true;
  };
  /** Links astrolab://PATTERN that open it, each with the address it leads to. Parameters are numbers. */
  readonly links?: Readonly<Record<string, string>>;
}

export const PAGES = [
  { id: 'runs', path: '/', title: 'Runs', navigation: { icon: 'runs', key: 'r', place: 'top' } },
  { id: 'new-run', path: '/new/:base?', title: 'New run', navigation: { icon: 'plus', key: 'n', place: 'top' } },
  { id: 'queue', path: '/queue', title: 'Queue', navigation: { icon: 'clock', key: 'q', place: 'top' } },
  { id: 'live', path: '/runs/:run', title: 'Live', soon: true, links: { 'run/:run': '/runs/:run' } },
  {
    id: 'replay',
    path: '/replay/:run?/:episode?/:step?',
    title: 'Replay',
    steady: true,
    soon: true,
    navigation: { icon: 'replay', key: 'e', place: 'top' },
    links: {
      'run/:run/episode/:episode': '/replay/:run/:episode',
      'run/:run/episode/:episode/step/:step': '/replay/:run/:episode/:step',
    },
  },
  {
    id: 'compare',
    path: '/compare/:study?',
    title: 'Compare',
    steady: true,
    soon: true,
    navigation: { icon: 'compare', key: 'c', place: 'top' },
    links: { 'study/:study': '/compare/study-:study' },
  },
  { id: 'studies', path: '/studies', title: 'Studies', navigation: { icon: 'chart', key: 't', place: 'top' } },
  {
    id: 'clusters',
    path: '/clusters/:cluster?/:submission?',
    title: 'Clusters',
    steady: true,
    navigation: { icon: 'cluster', key: 'k', place: 'top', withCluster: true },
  },
  { id: 'play', path: '/play/:world?', title: 'Play', navigation: { icon: 'play', key: 'p', place: 'top' } },
  { id: 'settings', path: '/settings', title: 'Settings', navigation: { icon: 'settings', key: 's', place: 'bottom' } },
] as const satisfies readonly PageTableEntry[];

/** What the menu can ask the window to do: open a page, or one of these. */
export const MENU_COMMANDS = [...PAGES.map(({ id }) => id), 'palette', 'keys', 'tour'] as const;
export type MenuCommand = (typeof MENU_COMMANDS)[number];
