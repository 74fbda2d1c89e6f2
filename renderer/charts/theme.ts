// The theme for canvases, which know nothing of CSS variables: tokens resolved to plain colours, again whenever the
// system or the user switches between light and dark.

import { useSyncExternalStore } from 'react';

export interface ChartTheme {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  readonly accent: string;
  readonly warning: string;
  readonly font: string;
  /** Any CSS colour, with an opacity, as the canvas understands it. */
  resolve(colour: string, opacity?: number): string;
}

const dark = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let current: ChartTheme | null = null;

dark.addEventListener('change', () => {
  current = null;
  for (const changed of listeners) changed();
});

export function useChartTheme(): ChartTheme {
  return useSyncExternalStore(subscribe, () => (current ??= readTheme()));
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => {
    listeners.delete(changed);
  };
}

function readTheme(): ChartTheme {
  const known = new Map<string, string>();
  const resolve = (colour: string, opacity = 1): string => {
    let channels = known.get(colour);
    if (channels === undefined) known.set(colour, (channels = computedChannels(colour)));
    return `rgb(${channels} / ${opacity})`;
  };
  return {
    text: resolve('var(--text)'),
    muted: resolve('var(--text-muted)'),
    line: resolve('var(--line)'),
    surface: resolve('var(--surface)'),
    accent: resolve('var(--accent)'),
    warning: resolve('var(--warning)'),
    font: getComputedStyle(document.body).fontFamily,
    resolve,
  };
}

/** The browser itself resolves variables and light-dark(): "0 114 178". */
function computedChannels(colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  document.body.append(probe);
  const channels = getComputedStyle(probe).color.match(/[\d.]+/g) ?? ['0', '0', '0'];
  probe.remove();
  return channels.slice(0, 3).join(' ');
}
