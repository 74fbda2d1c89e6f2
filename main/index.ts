// Where the application begins: harden, claim the single instance, then one window. Everything it does is done by the
// files beside it; the order is what matters here.

import { join } from 'node:path';
import { app, BrowserWindow, crashReporter, nativeTheme } from 'electron';
import { registerCalls } from './ipc/index.ts';
import { buildMenu } from './menu.ts';
import { defaultDataFolder, projectFolder } from './paths.ts';
import { hardenProcess, hardenSession } from './security.ts';
import { SettingsFile } from './settings.ts';
import { openWindow } from './window.ts';

hardenProcess();
app.setName('Astrolab');
// Chromium's own files live under the data folder; so does the single-instance lock, which makes it one per folder.
app.setPath('userData', join(defaultDataFolder(), 'window'));
// Crashes of any process leave a report in that folder; it is never sent. Settings → About lists them.
crashReporter.start({ uploadToServer: false });

if (app.requestSingleInstanceLock()) {
  app.whenReady().then(start, (error: unknown) => {
    console.error(error);
    app.exit(1);
  });
} else {
  console.error(`Astrolab is already open with the data folder ${defaultDataFolder()}; its window comes to the front.`);
  app.exit(0);
}

function start(): void {
  const out = join(projectFolder(), 'out');
  const dataFolder = defaultDataFolder();
  const settings = new SettingsFile(join(dataFolder, 'settings.json'));
  nativeTheme.themeSource = settings.value.theme;
  hardenSession(join(out, 'renderer'));
  // The window first: while its process starts, this one loads what will answer it.
  const open = (): BrowserWindow => openWindow(settings, join(out, 'preload', 'index.cjs'));
  open();
  const closeCalls = registerCalls(dataFolder, settings);
  buildMenu(settings);
  app.on('second-instance', () => {
    const window = BrowserWindow.getAllWindows()[0] ?? open();
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  });
  app.on('activate', () => {
    if (BrowserWindow.getAllWindows().length === 0) open();
  });
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  app.on('will-quit', (event) => {
    // Training processes end first, so that their runs are stored as interrupted and not as running. Windows are gone by
    // now and nothing else waits, so the application then ends without asking again.
    event.preventDefault();
    void closeCalls()
      .catch(console.error)
      .finally(() => setImmediate(() => app.exit(0)));
  });
}
