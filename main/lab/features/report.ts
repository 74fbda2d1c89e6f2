// The report of a comparison, into a folder that the user chooses. What only a desktop can make (PDF, PNG) it makes of the files written here.
// The folder appears when everything is in it.

import { existsSync, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { reportFormats } from '../../base/vocabulary.ts';
import { writeFiles } from '../../report/report-files.ts';
import { reportFiles } from '../../report/study-report.ts';
import type { Store } from '../../store/store.ts';
import { CallFailure, type Handlers, nothing, type Progress } from '../definition.ts';
import type { Desktop } from '../desktop.ts';
import { existingRuns } from '../existing.ts';
import { fileName } from '../file-name.ts';
import type { Lab } from '../lab.ts';

const run = z.int().min(1);

/** The arms on screen with their looks, and the baseline. */
const reportView = z.strictObject({
  groups: z
    .array(
      z.strictObject({
        key: z.string().max(400),
        runs: z.array(run),
        look: z.strictObject({ colour: z.int().min(0).max(100), dash: z.array(z.number()).max(8) }),
      }),
    )
    .max(400),
  /** The arm that the others are measured against. */
  baseline: z.string().max(400).nullable(),
});

const wanted = z.strictObject({
  runs: z.array(run).min(1).max(400),
  title: z.string().trim().min(1).max(200),
  formats: z.array(z.enum(reportFormats)).min(1),
  view: reportView.optional(),
});
type WantedReport = z.output<typeof wanted>;

export const calls = {
  /** Asks for a folder and writes the report there, with `report.progress`; null when the user changed their mind. */
  'report.export': {
    input: wanted,
    answer: z.object({ written: z.object({ folder: z.string(), files: z.array(z.string()) }).nullable() }),
  },
  'report.cancel': { input: nothing, answer: nothing },
  /** Shows the folder that was written last. */
  'report.open': { input: nothing, answer: nothing },
};

export const events = {
  /** How far the report is that is being written. */
  'report.progress': z.object({ share: z.number(), what: z.string() }),
};

const FIGURES = ['success', 'learning', 'profiles'];

export const reads = {
  /** Writes the files into a folder; answers with their names. */
  files: (
    store: Store,
    { folder, runs, title, formats, view }: WantedReport & { readonly folder: string },
    progress: Progress,
  ): string[] => {
    progress(0, 'comparing the runs');
    const files = reportFiles(store, runs, title, { formats, ...(view && { view }) });
    mkdirSync(folder, { recursive: true });
    return files.flatMap((file, index) => {
      progress(index / files.length, file.name);
      return writeFiles(folder, [file]);
    });
  },
};

export function handlers(lab: Lab): Handlers<typeof calls> {
  const { desktop } = lab;
  let work: AbortController | null = null;
  let written: string | null = null;
  const progress = (share: number, what: string): void => lab.emit('report.progress', { share, what });

  async function write(wanted: WantedReport, folder: string, signal: AbortSignal): Promise<string[]> {
    const { formats } = wanted;
    const partial = `${folder}.${process.pid}.part`;
    const drawing = (share: number, what: string): void => progress(0.8 * share, what);
    try {
      const files = new Set(await lab.read('report', 'files', { ...wanted, folder: partial }, { files: true, signal, progress: drawing }));
      for (const [source, target] of drawn(formats)) {
        if (!files.has(source)) continue; // profiles, where there is only one world
        if (signal.aborted) break;
        progress(0.9, target);
        await desktop[target.endsWith('.png') ? 'drawPng' : 'printPdf'](join(partial, source), join(partial, target));
        files.add(target);
      }
      if (signal.aborted) throw new CallFailure('cancelled', 'The export was cancelled.', 'No files were written.');
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
    'report.export': async (report) => {
      if (work) throw new CallFailure('busy-export', 'Another report is being written.', 'Wait until it finishes, or cancel it.');
      existingRuns(lab.store, report.runs);
      const folder = await chooseFolder(desktop, report.title);
      if (folder === null) return { written: null };
      work = new AbortController();
      try {
        const files = await write(report, folder, work.signal);
        written = folder;
        return { written: { folder, files } };
      } finally {
        work = null;
      }
    },

    'report.cancel': () => {
      work?.abort();
      return {};
    },

    'report.open': async () => {
      if (written === null || !existsSync(written)) throw new CallFailure('not-found', 'The exported folder is no longer there.');
      const problem = await desktop.showFolder(written);
      if (problem) throw new CallFailure('no-file-manager', `Could not open the folder: ${problem}`, `Open ${written} in a file manager.`);
      return {};
    },
  };
}

const keepsFigures = (formats: readonly string[]): boolean => formats.includes('svg') || formats.includes('markdown');

/** What is made from which file. */
function drawn(formats: readonly string[]): (readonly [source: string, target: string])[] {
  return [
    ...(formats.includes('pdf') ? [['report.html', 'report.pdf'] as const] : []),
    ...(formats.includes('slides') ? [['slides.html', 'slides.pdf'] as const] : []),
    ...(formats.includes('png') ? FIGURES.map((name) => [`${name}.svg`, `${name}.png`] as const) : []),
  ];
}

/** A new folder inside the one that the user chooses; what is there already is replaced only if they say so. */
async function chooseFolder(desktop: Desktop, title: string): Promise<string | null> {
  const chosen = await desktop.choose({ title: 'Folder for the report', buttonLabel: 'Export here', of: 'new folder' });
  if (chosen === null) return null;
  const folder = join(chosen, `astrolab-report-${fileName(title)}`);
  if (!existsSync(folder)) return folder;
  const [both, replace] = [0, 1];
  const pressed = await desktop.ask({
    type: 'question',
    message: 'This report was exported here before.',
    detail: folder,
    buttons: ['Keep both', 'Replace', 'Cancel'],
    defaultId: both,
    cancelId: 2,
  });
  if (pressed === replace) return folder;
  if (pressed !== both) return null;
  let number = 2;
  while (existsSync(`${folder}-${number}`)) number++;
  return `${folder}-${number}`;
}
