// What the system hands over from outside: links into the lab (astrolab://run/12, …/study/4; the table of pages lists them) and files. Only
// those forms, and only numbers in them, are taken. A file comes as a path, or as a file:// address from a desktop.

import { fileURLToPath } from 'node:url';
import { PAGES } from '../../preload/pages.ts';

export const PROTOCOL = 'astrolab';

const LINKS = PAGES.flatMap((page) => ('links' in page ? Object.entries(page.links) : [])).map(
  ([link, address]) => [new RegExp(`^${PROTOCOL}://${link.replaceAll(/:(\w+)/g, String.raw`(?<$1>\d{1,12})`)}/?$`), address] as const,
);

/** The page's address for a link; null for anything else. */
export function addressOf(link: string): string | null {
  for (const [pattern, address] of LINKS) {
    const numbers = pattern.exec(link)?.groups;
    if (numbers) return address.replaceAll(/:(\w+)/g, (_, name: string) => numbers[name] ?? '');
  }
  return null;
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
