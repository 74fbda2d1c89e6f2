// The window: made hidden, shown when drawn, and put back where it stood last time, as long as that place still
// exists on a connected display.

import { BrowserWindow, nativeTheme, screen } from 'electron';
import type { Rectangle } from 'electron';
import type { SettingsFile, WindowState } from '../base/settings.ts';
import { APP_ORIGIN } from './origin.ts';

const DEFAULT: WindowState = { width: 1280, height: 800, maximized: false };
/** The page's own --canvas colours, so that nothing flashes before the first paint. */
const CANVAS = { light: '#fbfbfa', dark: '#16181b' };

/** `address`: where in the page it opens; left out, where it was. */
export function openWindow(settings: SettingsFile, preload: string, address?: string): BrowserWindow {
  const state = settings.value.window ?? DEFAULT;
  const window = new BrowserWindow({
    ...placed(state),
    minWidth: 720,
    minHeight: 480,
    show: false,
    title: 'Astrolab',
    backgroundColor: nativeTheme.shouldUseDarkColors ? CANVAS.dark : CANVAS.light,
    autoHideMenuBar: true,
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      spellcheck: false,
      navigateOnDragDrop: false,
    },
  });
  if (state.maximized) window.maximize();
  window.once('ready-to-show', () => window.show());
  remember(window, settings);
  void window.loadURL(`${APP_ORIGIN}/index.html${address === undefined ? '' : `#${address}`}`);
  return window;
}

/** Size always; place only if enough of the title bar would be on some display to grab it. */
function placed(state: WindowState): Partial<Rectangle> {
  const { x, y, width, height } = state;
  if (x === undefined || y === undefined) return { width, height };
  const reachable = screen.getAllDisplays().some(({ workArea }) => {
    const overlap = Math.min(x + width, workArea.x + workArea.width) - Math.max(x, workArea.x);
    return overlap >= 100 && y >= workArea.y - 10 && y < workArea.y + workArea.height - 40;
  });
  return reachable ? { x, y, width, height } : { width, height };
}

function remember(window: BrowserWindow, settings: SettingsFile): void {
  let timer: NodeJS.Timeout | undefined;
  const save = (): void => {
    clearTimeout(timer);
    if (window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return;
    settings.update({ window: { ...window.getNormalBounds(), maximized: window.isMaximized() } });
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(save, 400);
  };
  window.on('resize', soon);
  window.on('move', soon);
  window.on('close', save);
  window.on('closed', () => clearTimeout(timer));
}
