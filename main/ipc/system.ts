// Calls about the application itself: versions, theme, clipboard, the data folder.

import { app, clipboard, nativeTheme, shell } from 'electron';
import type { systemCalls } from '../../preload/contract/system.ts';
import type { Context } from './context.ts';
import { diagnostics } from './diagnostics.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';

export function systemHandlers(context: Context): Handlers<typeof systemCalls> {
  return {
    'system.about': () => ({
      version: app.getVersion(),
      electron: process.versions.electron,
      node: process.versions.node,
      chrome: process.versions.chrome,
      platform: `${process.platform} ${process.arch}`,
      dataFolder: context.dataFolder,
    }),

    'system.diagnostics': async () => ({ text: await diagnostics(context) }),

    'system.theme': () => ({ theme: context.settings.value.theme }),

    'system.setTheme': ({ theme }) => {
      context.settings.update({ theme });
      nativeTheme.themeSource = theme;
      context.emit('theme.changed', { theme });
      return { theme };
    },

    'system.copy': ({ text }) => {
      clipboard.writeText(text);
      return {};
    },

    'system.openWindow': ({ address }) => {
      context.openWindow(address);
      return {};
    },

    'system.showDataFolder': async () => {
      const problem = await shell.openPath(context.dataFolder);
      if (problem)
        throw new CallFailure(
          'no-file-manager',
          `The folder could not be shown: ${problem}`,
          `Open ${context.dataFolder} in a file manager.`,
        );
      return {};
    },
  };
}
