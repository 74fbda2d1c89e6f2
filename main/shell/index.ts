// Where the application begins: harden, claim the single instance, then one window. Everything it does is done by the
// files beside it; the order is what matters here.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app, BrowserWindow, crashReporter, dialog, nativeTheme } from 'electron';
import { addressOf, fileOf, PROTOCOL } from '../base/links.ts';
import { buildMenu } from './menu.ts';
import { defaultDataFolder, projectFolder, windowFolder } from '../base/paths.ts';
import type { Payload } from '../../preload/contract.ts';
import { answerCalls, broadcast, relay, send } from './bridge.ts';
import { electronDesktop } from './desktop.ts';
import { hardenProcess, hardenSession } from './security.ts';
import { SettingsFile } from '../base/settings.ts';
import { LabProcess } from './lab-process.ts';
import { openWindow } from './window.ts';

hardenProcess();
app.setName('Astrolab');
// Chromium's files live under the data folder; so does the single-instance lock, which makes it one per folder.
app.setPath('userData', windowFolder(defaultDataFolder()));
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
  const open = (address?: string): BrowserWindow => openWindow(settings, join(out, 'preload', 'index.cjs'), address);
  const first = process.argv.map(addressOf).find((address) => address !== null);
  ask(open(first ?? undefined));
  const desktop = electronDesktop(settings, (address) => ask(open(address)));
  const onStatus = (status: Payload<'system.labStatus'>): void => broadcast('system.labStatus', status);
  const lab = new LabProcess({ dataFolder, desktop, onEvent: relay, onStatus });
  answerCalls((name, input) => lab.call(name, input));
  buildMenu(settings, () => ask(open('/')));
  function ask(window: BrowserWindow): void {
    window.on('close', (event) => {
      if (BrowserWindow.getAllWindows().length <= 1 && !mayQuit(lab.training)) event.preventDefault();
    });
  }
  const front = (): BrowserWindow => {
    const window = BrowserWindow.getAllWindows()[0] ?? open();
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
    return window;
  };
  const openThing = (thing: string): void => void openOutside(thing, front(), lab);
  for (const word of process.argv) if (fileOf(word) !== null) openThing(word);
  app.on('second-instance', (_event, words) => {
    front();
    for (const word of words) if (fileOf(word) !== null || addressOf(word) !== null) openThing(word);
  });
  // macOS reports opened files and links by these.
  app.on('open-file', (_event, file) => openThing(file));
  app.on('open-url', (_event, url) => openThing(url));
  // Run from its source it is Electron that would be registered, without the application.
  if (app.isPackaged) app.setAsDefaultProtocolClient(PROTOCOL);
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
    void lab.close().finally(() => setImmediate(() => app.exit(0)));
  });
}

/** A run that trains is worth a question; resuming it costs what it did since its last checkpoint. */
function mayQuit(active: number): boolean {
  if (active === 0) return true;
  const quit = 1;
  return (
    dialog.showMessageBoxSync({
      type: 'question',
      message: active === 1 ? 'A run is training.' : `${active} runs are training.`,
      detail: 'Quitting interrupts training. It can be resumed from the last checkpoint with identical results.',
      buttons: ['Keep training', 'Quit'],
      defaultId: 0,
      cancelId: 0,
    }) === quit
  );
}

/** A link leads the window somewhere; a file's runs are added. */
async function openOutside(thing: string, window: BrowserWindow, lab: LabProcess): Promise<void> {
  const [address, file] = [addressOf(thing), fileOf(thing)];
  if (address !== null) send(window, 'system.navigate', { address });
  else if (file !== null && existsSync(file)) {
    const outcome = await lab.openFile(file);
    if (!outcome.ok) dialog.showErrorBox('The file was not imported', outcome.error.message);
  }
}
