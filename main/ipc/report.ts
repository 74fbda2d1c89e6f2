// The report as the window writes it: into a folder that the user chooses in the system's own dialog, and with what only a
// window can make: the slides as PDF and the figures as PNG. The page that draws them has no scripts and no network.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserWindow, dialog } from 'electron';
import { writeFiles } from '../report/report-files.ts';
import { reportFiles, studyReport } from '../report/study-report.ts';
import type { Store } from '../store/store.ts';

const FIGURE_WIDTH = 720;
const SHARPNESS = 2;

export async function exportReport(
  store: Store,
  runs: readonly number[],
  title: string,
): Promise<{ folder: string; files: string[] } | null> {
  const files = reportFiles(store, runs, title);
  const answer = await dialog.showOpenDialog({
    title: 'Folder for the report',
    buttonLabel: 'Write the report',
    properties: ['openDirectory', 'createDirectory'],
  });
  const [chosen] = answer.filePaths;
  if (answer.canceled || chosen === undefined) return null;
  const folder = join(
    chosen,
    `astrolab-report-${title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 60)}`,
  );
  mkdirSync(folder, { recursive: true });
  const written = writeFiles(folder, files);
  const { figures } = studyReport(store, runs, title);
  const slides = [...(files.find(({ name }) => name === 'slides.html')?.text ?? [])].join('');
  writeFileSync(join(folder, 'slides.pdf'), await printed(slides));
  for (const [name, svg] of Object.entries({ learning: figures.learning, success: figures.final })) {
    writeFileSync(join(folder, `${name}.png`), await pictured(svg));
    written.push(`${name}.png`);
  }
  return { folder, files: [...written, 'slides.pdf'].sort() };
}

/** A hidden window that shows this document, without scripts. */
async function withDocument<T>(
  html: string,
  size: { width: number; height: number },
  work: (window: BrowserWindow) => Promise<T>,
): Promise<T> {
  const window = new BrowserWindow({
    ...size,
    show: false,
    useContentSize: true,
    webPreferences: { javascript: false, sandbox: true, offscreen: true, partition: 'report' },
  });
  try {
    await window.loadURL(`data:text/html;charset=utf-8;base64,${Buffer.from(html).toString('base64')}`);
    return await work(window);
  } finally {
    window.destroy();
  }
}

function printed(html: string): Promise<Buffer> {
  return withDocument(html, { width: 1280, height: 720 }, ({ webContents }) =>
    webContents.printToPDF({ printBackground: true, preferCSSPageSize: true }),
  );
}

function pictured(svg: string): Promise<Buffer> {
  const height = Number(/height="(\d+)"/.exec(svg)?.[1] ?? 400);
  const size = { width: FIGURE_WIDTH * SHARPNESS, height: height * SHARPNESS };
  const html = `<!doctype html><style>body{margin:0}svg{display:block;width:100vw;height:auto}</style>${svg}`;
  return withDocument(html, size, async ({ webContents }) => (await webContents.capturePage()).toPNG());
}
