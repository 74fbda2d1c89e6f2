// The application menu. Every entry that concerns the page is sent to it as a command, so the menu, the palette and
// the keyboard do the same thing through the same code.

import { Menu, nativeTheme } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';
import type { EventName, MenuCommand, Payload, Theme } from '../../preload/contract.ts';
import type { SettingsFile } from '../base/settings.ts';

const PAGES: readonly (readonly [MenuCommand, string, string])[] = [
  ['runs', 'Runs', '1'],
  ['new', 'New run', '2'],
  ['queue', 'Queue', '3'],
  ['replay', 'Replay', '4'],
  ['compare', 'Compare', '5'],
  ['play', 'Play', '6'],
  ['studies', 'Studies', '7'],
  ['clusters', 'Clusters', '8'],
];

export function buildMenu(settings: SettingsFile, openWindow: () => void): void {
  const go = (command: MenuCommand) => () => void emit('menu.command', { command });
  const page = ([command, label, key]: (typeof PAGES)[number]): MenuItemConstructorOptions => ({
    label,
    accelerator: `CmdOrCtrl+${key}`,
    click: go(command),
  });
  const themeItem = (theme: Theme, label: string): MenuItemConstructorOptions => ({
    label,
    type: 'radio',
    checked: nativeTheme.themeSource === theme,
    click: () => {
      nativeTheme.themeSource = theme;
      settings.update({ theme });
      void emit('theme.changed', { theme });
    },
  });
  const template: MenuItemConstructorOptions[] = [
    ...(process.platform === 'darwin' ? [{ role: 'appMenu' } satisfies MenuItemConstructorOptions] : []),
    {
      label: 'File',
      submenu: [
        { label: 'New run', accelerator: 'CmdOrCtrl+N', click: go('new') },
        { label: 'New window', accelerator: 'CmdOrCtrl+Shift+N', click: openWindow },
        { label: 'Settings', accelerator: 'CmdOrCtrl+,', click: go('settings') },
        { type: 'separator' },
        { role: process.platform === 'darwin' ? 'close' : 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'Go',
      submenu: [
        ...PAGES.map(page),
        { type: 'separator' },
        { label: 'Search everything…', accelerator: 'CmdOrCtrl+K', click: go('palette') },
      ],
    },
    {
      label: 'View',
      submenu: [
        { label: 'Theme', submenu: [themeItem('system', 'System'), themeItem('light', 'Light'), themeItem('dark', 'Dark')] },
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { role: 'togglefullscreen' },
        { type: 'separator' },
        { role: 'reload' },
        { role: 'toggleDevTools' },
      ],
    },
    { role: 'windowMenu' },
    {
      label: 'Help',
      submenu: [
        { label: 'Guided tour', click: go('tour') },
        { label: 'Keyboard shortcuts', click: go('keys') },
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

/** Notifies every window. The contract is loaded by the first entry that is chosen: the menu must not hold up the start. */
async function emit<N extends EventName>(name: N, payload: Payload<N>): Promise<void> {
  const { broadcast } = await import('../ipc/events.ts');
  broadcast(name, payload);
}
