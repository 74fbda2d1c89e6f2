// Calls and events of the application itself: what it is, how it looks, the clipboard, the menu.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import { MENU_COMMANDS } from '../../../preload/pages.ts';
import { themes } from '../../base/vocabulary.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import { diagnostics } from '../diagnostics.ts';
import type { Lab } from '../lab.ts';

const theme = z.enum(themes);

export const calls = {
  /** Versions and places, for Settings and for error reports. */
  'system.about': {
    input: nothing,
    answer: z.object({
      version: z.string(),
      electron: z.string(),
      node: z.string(),
      chrome: z.string(),
      platform: z.string(),
      dataFolder: z.string(),
    }),
  },
  /** Everything a bug report needs, as text: versions, devices, disk, runs by state, crash reports. Nothing of what runs contain. */
  'system.diagnostics': { input: nothing, answer: z.object({ text: z.string() }) },
  /** How long the lab's event loop was held up since this was asked last, in milliseconds; the first time it begins to watch. */
  'system.eventLoop': { input: nothing, answer: z.object({ p99: z.number(), longest: z.number() }) },
  'system.theme': { input: nothing, answer: z.object({ theme }) },
  'system.setTheme': { input: z.strictObject({ theme }), answer: z.object({ theme }) },
  /** The page has no clipboard permission; the desktop writes plain text for it. */
  'system.copy': { input: z.strictObject({ text: z.string().max(20_000_000) }), answer: nothing },
  /** Another window on this address. */
  'system.openWindow': { input: z.strictObject({ address: z.string().startsWith('/').max(2000) }), answer: nothing },
  /** Starts the lab's process again after it failed for good; the shell does so before this is answered. */
  'system.startLab': { input: nothing, answer: nothing },
  /** Shows the data folder in the system's file manager. Takes no path: the page cannot open anything else. */
  'system.showDataFolder': { input: nothing, answer: nothing },
};

export const events = {
  'system.menuCommand': z.object({ command: z.enum(MENU_COMMANDS) }),
  'system.themeChanged': z.object({ theme }),
  /** The lab's process: `restarting` after an unexpected end, `failed` when it ends again and again. `reason`: how it ended last. */
  'system.labStatus': z.object({ state: z.enum(['running', 'restarting', 'failed']), reason: z.string() }),
  /** A link, a notification or a file leads here. */
  'system.navigate': z.object({ address: z.string() }),
};

const SAMPLED_MS = 1;
const eventLoop = monitorEventLoopDelay({ resolution: SAMPLED_MS });
/** Nanoseconds between two looks, less the pause that lies between them. */
const heldUp = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - SAMPLED_MS);

export function handlers(lab: Lab): Handlers<typeof calls> {
  return {
    'system.about': () => ({
      version: lab.version,
      electron: process.versions.electron ?? '',
      node: process.versions.node,
      chrome: process.versions.chrome ?? '',
      platform: `${process.platform} ${process.arch}`,
      dataFolder: lab.dataFolder,
    }),

    'system.diagnostics': async () => ({ text: await diagnostics(lab) }),

    'system.eventLoop': () => {
      const held = { p99: heldUp(eventLoop.percentile(99)), longest: heldUp(eventLoop.max) };
      eventLoop.enable();
      eventLoop.reset();
      return held;
    },

    'system.theme': async () => ({ theme: await lab.desktop.theme() }),

    'system.setTheme': async ({ theme }) => {
      await lab.desktop.setTheme(theme);
      return { theme };
    },

    'system.copy': async ({ text }) => {
      await lab.desktop.copyText(text);
      return {};
    },

    'system.openWindow': async ({ address }) => {
      await lab.desktop.openWindow(address);
      return {};
    },

    'system.startLab': () => ({}),

    'system.showDataFolder': async () => {
      const problem = await lab.desktop.showFolder(lab.dataFolder);
      if (problem)
        throw new CallFailure('no-file-manager', `The folder could not be shown: ${problem}`, `Open ${lab.dataFolder} in a file manager.`);
      return {};
    },
  };
}
