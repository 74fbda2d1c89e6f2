// What the lab asks of the desktop that its window is on. The shell does it (main/shell/desktop.ts); everything here can be sent as a message.

import type { Theme } from '../base/vocabulary.ts';

interface FileType {
  readonly name: string;
  readonly extensions: string[];
}

export interface ChooseDialog {
  readonly title: string;
  readonly of: 'file' | 'folder' | 'new folder';
  readonly buttonLabel?: string;
  readonly filters?: FileType[];
}

export interface SaveDialog {
  readonly title: string;
  readonly defaultPath: string;
  readonly filters: FileType[];
}

export interface Question {
  readonly type: 'question' | 'warning';
  readonly title?: string;
  readonly message: string;
  readonly detail: string;
  readonly buttons: string[];
  readonly defaultId: number;
  readonly cancelId: number;
}

export interface Desktop {
  /** The file or folder that the user chooses in a dialog of the system; null when they changed their mind. */
  choose(dialog: ChooseDialog): Promise<string | null>;
  /** Where to save; null when they changed their mind. */
  chooseTarget(dialog: SaveDialog): Promise<string | null>;
  /** The number of the button that the user presses. The page cannot answer for them. */
  ask(question: Question): Promise<number>;
  copyText(text: string): Promise<void>;
  /** A PNG as base64. */
  copyImage(png: string): Promise<void>;
  /** Shows a folder in the file manager; answers with what went wrong, or nothing. */
  showFolder(folder: string): Promise<string>;
  /** A notification, unless a window is in front; a click on it opens the run. */
  notify(run: number, title: string, body: string): Promise<void>;
  openWindow(address: string): Promise<void>;
  theme(): Promise<Theme>;
  setTheme(theme: Theme): Promise<void>;
  /** Makes a PDF or a PNG (twice its size) of a file that we wrote, without scripts and network. */
  printPdf(source: string, target: string): Promise<void>;
  drawPng(source: string, target: string): Promise<void>;
}
