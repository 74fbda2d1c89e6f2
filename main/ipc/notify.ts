// A notification of the system when a run is done, failed or raised an alert, and nobody looks at the window.

import { BrowserWindow, Notification } from 'electron';
import type { RunSummary } from '../store/runs.ts';
import { createNews } from './run-notices.ts';

export interface Notifier {
  changed(run: RunSummary): void;
  alert(run: RunSummary, text: string): void;
}

export function createNotifier(open: (run: number) => void): Notifier {
  const show = (run: number, title: string, body: string): void => {
    if (BrowserWindow.getFocusedWindow() || !Notification.isSupported()) return;
    const notification = new Notification({ title, body });
    notification.on('click', () => open(run));
    notification.show();
  };
  return createNews(show);
}
