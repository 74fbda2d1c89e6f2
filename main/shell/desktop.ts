// What the lab asks of the desktop (main/lab/desktop.ts), done by Electron: dialogs, clipboard, file manager, notifications, hidden pages that
// become PDF and PNG.

import { readFile, writeFile } from 'node:fs/promises';
import { BrowserWindow, clipboard, dialog, nativeImage, nativeTheme, Notification, shell } from 'electron';
import type { SettingsFile } from '../base/settings.ts';
import type { ChooseDialog, Desktop } from '../lab/desktop.ts';
import { broadcast } from './bridge.ts';

const PROPERTIES: Readonly<Record<ChooseDialog['of'], ('openFile' | 'openDirectory' | 'createDirectory')[]>> = {
  file: ['openFile'],
  folder: ['openDirectory'],
  'new folder': ['openDirectory', 'createDirectory'],
};

export function electronDesktop(settings: SettingsFile, openWindow: (address: string) => void): Desktop {
  return {
    choose: async ({ of, ...options }) => {
      const { canceled, filePaths } = await dialog.showOpenDialog({ ...options, properties: PROPERTIES[of] });
      return canceled ? null : (filePaths[0] ?? null);
    },
    chooseTarget: async (options) => {
      const { canceled, filePath } = await dialog.showSaveDialog(options);
      return canceled || !filePath ? null : filePath;
    },
    ask: async (question) => (await dialog.showMessageBox(question)).response,
    copyText: async (text) => clipboard.writeText(text),
    copyImage: async (png) => clipboard.writeImage(nativeImage.createFromBuffer(Buffer.from(png, 'base64'))),
    showFolder: (folder) => shell.openPath(folder),
    notify: async (run, title, body) => {
      if (BrowserWindow.getFocusedWindow() || !Notification.isSupported()) return;
      const notification = new Notification({ title, body });
      notification.on('click', () => {
        BrowserWindow.getAllWindows()[0]?.show();
        broadcast('system.navigate', { address: `/runs/${run}` });
      });
      notification.show();
    },
    openWindow: async (address) => openWindow(address),
    theme: async () => settings.value.theme,
    setTheme: async (theme) => {
      settings.update({ theme });
      nativeTheme.themeSource = theme;
      broadcast('system.themeChanged', { theme });
    },
    printPdf: async (source, target) => {
      const options = { printBackground: true, preferCSSPageSize: true };
      await writeFile(target, await withPage(source, ({ webContents }) => webContents.printToPDF(options)));
    },
    drawPng,
  };
}

/** A hidden window that shows this file, without scripts. */
async function withPage<T>(file: string, work: (window: BrowserWindow) => Promise<T>): Promise<T> {
  const webPreferences = { javascript: false, sandbox: true, offscreen: true, partition: 'report' };
  const window = new BrowserWindow({ width: 1280, height: 720, show: false, webPreferences });
  try {
    await window.loadFile(file);
    return await work(window);
  } finally {
    window.destroy();
  }
}

/** The whole figure at twice its size, however tall: a capture of the window would end where the screen ends. */
async function drawPng(source: string, target: string): Promise<void> {
  const svg = await readFile(source, 'utf8');
  const size = (side: string): number => Number(new RegExp(` ${side}="(\\d+)"`).exec(svg)?.[1] ?? 720);
  const clip = { x: 0, y: 0, width: size('width'), height: size('height'), scale: 2 };
  const { data } = await withPage(source, async ({ webContents: { debugger: remote } }): Promise<{ data: string }> => {
    remote.attach('1.3');
    return remote.sendCommand('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
  });
  await writeFile(target, Buffer.from(data, 'base64'));
}
