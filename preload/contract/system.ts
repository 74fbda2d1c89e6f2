// Calls and events of the application itself: what it is, how it looks, the clipboard, the menu.

import { z } from 'zod';
import { MENU_COMMANDS } from '../pages.ts';
import { nothing } from './definition.ts';

export const theme = z.enum(['system', 'light', 'dark']);
export type Theme = z.infer<typeof theme>;

export const systemCalls = {
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
  'system.theme': { input: nothing, answer: z.object({ theme }) },
  'system.setTheme': { input: z.strictObject({ theme }), answer: z.object({ theme }) },
  /** The page has no clipboard permission; the main process writes plain text for it. */
  'system.copy': { input: z.strictObject({ text: z.string().max(20_000_000) }), answer: nothing },
  /** Another window on this address. */
  'system.openWindow': { input: z.strictObject({ address: z.string().startsWith('/').max(2000) }), answer: nothing },
  /** Shows the data folder in the system's file manager. Takes no path: the page cannot open anything else. */
  'system.showDataFolder': { input: nothing, answer: nothing },
};

export const systemEvents = {
  'menu.command': z.object({ command: z.enum(MENU_COMMANDS) }),
  'theme.changed': z.object({ theme }),
  /** A link, a notification or a file leads here. */
  'window.navigate': z.object({ address: z.string() }),
};
