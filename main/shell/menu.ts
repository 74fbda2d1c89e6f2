// The application menu. Every entry that concerns the page is sent to it as a command, so the menu, the palette and
// the keyboard do the same thing through the same code.

import { Menu, nativeTheme } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';
import { type MenuCommand, PAGES } from '../../preload/pages.ts';
import type { SettingsFile } from '../base/settings.ts';
import type { Theme } from '../base/vocabulary.ts';
import { broadcast } from './bridge.ts';

export function buildMenu(settings: SettingsFile, openWindow: () => void): void {
  const go = (command: MenuCommand) => () => broadcast('system.menuCommand', { command });
  const pages = PAGES.flatMap((page) => ('navigation' in page ? [page] : []));
  const numbered = pages.filter(({ navigation }) => navigation.place === 'top').slice(0, 9);
  const pageItem = (page: (typeof pages)[number]): MenuItemConstructorOptions => {
    const place = numbered.indexOf(page);
    return { label: page.title, ...(place >= 0 && { accelerator: `CmdOrCtrl+${place + 1}` }), click: go(page.id) };
  };
  const themeItem = (theme: Theme, label: string): MenuItemConstructorOptions => ({
    label,
    type: 'radio',
    checked: nativeTheme.themeSource === theme,
    click: () => {
      nativeTheme.themeSource = theme;
      settings.update({ theme });
      broadcast('system.themeChanged', { theme });
    },
  });
  const template: MenuItemConstructorOptions[] = [
    ...(process.platform === 'darwin' ? [{ role: 'appMenu' } satisfies MenuItemConstructorOptions] : []),
    {
      label: 'File',
      submenu: [
        { label: 'New run', accelerator: 'CmdOrCtrl+N', click: go('new-run') },
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
        ...pages.map(pageItem),
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
