// The report as the window writes it: the user chooses a folder in the system's dialog, the files are made in a separate
// process (report/export.ts), and what only a window can make (PDF, PNG) is made from them by hidden pages without scripts
// and network. The folder appears when everything is in it.

import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrowserWindow, dialog, shell } from 'electron';
import type { Input } from '../../preload/contract.ts';
import { type Export, ExportCancelled, startExport } from '../report/export.ts';
import { fileName } from './charts.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';

const FIGURES = ['success', 'learning', 'profiles'];

export interface Reports {
  export(wanted: Input<'report.export'>): Promise<{ folder: string; files: string[] } | null>;
  cancel(): void;
  /** Shows the folder written last. */
  open(): Promise<void>;
}

export function createReports(context: Context): Reports {
  let work: Export | null = null;
  let cancelled = false;
  let written: string | null = null;
  const tell = (share: number, what: string): void => context.emit('report.progress', { share, what });
  /** Between the parts that only a window can make. */
  const check = (): void => {
    if (cancelled) throw new ExportCancelled('The export was cancelled.');
  };

  async function write(wanted: Input<'report.export'>, folder: string): Promise<string[]> {
    const { runs, title, formats, view } = wanted;
    const partial = `${folder}.${process.pid}.part`;
    try {
      work = startExport({ dataFolder: context.dataFolder, folder: partial, runs, title, formats, view }, (done, total, what) =>
        tell((0.8 * done) / total, what),
      );
      const files = new Set(await work.finished);
      for (const [source, target] of drawn(formats)) {
        if (!files.has(source)) continue; // profiles, where there is only one world
        check();
        tell(0.9, target);
        await (target.endsWith('.png') ? picture : print)(join(partial, source), join(partial, target));
        files.add(target);
      }
      check();
      // Made only to be printed or drawn.
      const extra = [
        ...(formats.includes('html') ? [] : ['report.html']),
        ...(keepsFigures(formats) ? [] : FIGURES.map((one) => `${one}.svg`)),
      ];
      for (const name of extra) if (files.delete(name)) await rm(join(partial, name));
      await rm(folder, { recursive: true, force: true });
      await rename(partial, folder);
      return [...files].sort();
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  return {
    async export(wanted) {
      if (work) throw new CallFailure('busy-export', 'Another report is being written.', 'Wait until it finishes, or cancel it.');
      const folder = await chooseFolder(wanted.title);
      if (folder === null) return null;
      cancelled = false;
      try {
        const files = await write(wanted, folder);
        written = folder;
        return { folder, files };
      } finally {
        work = null;
      }
    },
    cancel() {
      cancelled = true;
      work?.cancel();
    },
    async open() {
      if (written === null || !existsSync(written)) throw new CallFailure('not-found', 'The exported folder is no longer there.');
      const problem = await shell.openPath(written);
      if (problem) throw new CallFailure('no-file-manager', `Could not open the folder: ${problem}`, `Open ${written} in a file manager.`);
    },
  };
}

const keepsFigures = (formats: readonly string[]): boolean => formats.includes('svg') || formats.includes('markdown');

/** What is made from which file. */
function drawn(formats: readonly string[]): [string, string][] {
  return [
    ...(formats.includes('pdf') ? ([['report.html', 'report.pdf']] as [string, string][]) : []),
    ...(formats.includes('slides') ? ([['slides.html', 'slides.pdf']] as [string, string][]) : []),
    ...(formats.includes('png') ? FIGURES.map((name): [string, string] => [`${name}.svg`, `${name}.png`]) : []),
  ];
}

/** A new folder inside the one that the user chooses; what is there already is replaced only if they say so. */
async function chooseFolder(title: string): Promise<string | null> {
  const answer = await dialog.showOpenDialog({
    title: 'Folder for the report',
    buttonLabel: 'Export here',
    properties: ['openDirectory', 'createDirectory'],
  });
  const [chosen] = answer.filePaths;
  if (answer.canceled || chosen === undefined) return null;
  const wanted = join(chosen, `astrolab-report-${fileName(title)}`);
  if (!existsSync(wanted)) return wanted;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message: 'This report was exported here before.',
    detail: wanted,
    buttons: ['Keep both', 'Replace', 'Cancel'],
    defaultId: 0,
    cancelId: 2,
  });
  if (response === 2) return null;
  if (response === 1) return wanted;
  let number = 2;
  while (existsSync(`${wanted}-${number}`)) number++;
  return `${wanted}-${number}`;
}

/** A hidden window that shows this file, without scripts. */
async function withPage<T>(file: string, work: (window: BrowserWindow) => Promise<T>): Promise<T> {
  const window = new BrowserWindow({
    width: 1280,
    height: 720,
    show: false,
    webPreferences: { javascript: false, sandbox: true, offscreen: true, partition: 'report' },
  });
  try {
    await window.loadFile(file);
    return await work(window);
  } finally {
    window.destroy();
  }
}

async function print(source: string, target: string): Promise<void> {
  const pdf = await withPage(source, ({ webContents }) => webContents.printToPDF({ printBackground: true, preferCSSPageSize: true }));
  await writeFile(target, pdf);
}

/** The whole figure at twice its size, however tall: a capture of the window would end where the screen ends. */
async function picture(source: string, target: string): Promise<void> {
  const svg = await readFile(source, 'utf8');
  const [width, height] = [sizeOf(svg, 'width'), sizeOf(svg, 'height')];
  const data = await withPage(source, async ({ webContents: { debugger: remote } }) => {
    remote.attach('1.3');
    const clip = { x: 0, y: 0, width, height, scale: 2 };
    const answer: { data: string } = await remote.sendCommand('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: true,
      clip,
    });
    return answer.data;
  });
  await mkdir(join(target, '..'), { recursive: true });
  await writeFile(target, Buffer.from(data, 'base64'));
}

const sizeOf = (svg: string, side: 'width' | 'height'): number => Number(new RegExp(` ${side}="(\\d+)"`).exec(svg)?.[1] ?? 720);
