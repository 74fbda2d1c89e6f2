// Links into the lab: astrolab://run/12, …/run/12/episode/5, …/run/12/episode/5/step/3, …/study/4. They come from outside, so only
// these forms and only numbers are taken. Files come from outside too: as a path, or as a file:// address from a desktop.

import { fileURLToPath } from 'node:url';

export const PROTOCOL = 'astrolab';

const RUN = /^astrolab:\/\/run\/(\d{1,9})(?:\/episode\/(\d{1,12})(?:\/step\/(\d{1,6}))?)?\/?$/;
const STUDY = /^astrolab:\/\/study\/(\d{1,9})\/?$/;

/** The page's address for a link; null for anything else. */
export function addressOf(link: string): string | null {
  const study = STUDY.exec(link)?.[1];
  if (study !== undefined) return `/compare/study-${study}`;
  const [, run, episode, step] = RUN.exec(link) ?? [];
  if (run === undefined) return null;
  if (episode === undefined) return `/runs/${run}`;
  return `/replay/${run}/${episode}${step === undefined ? '' : `/${step}`}`;
}

/** The path of an .astrolab file that the system hands over; null for anything else. */
export function fileOf(word: string): string | null {
  if (!word.endsWith('.astrolab')) return null;
  if (!word.startsWith('file://')) return word;
  try {
    return fileURLToPath(word);
  } catch {
    return null;
  }
}
