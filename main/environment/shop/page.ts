// The shop's texts as pages that can be drawn. Reads the texts alone, so that episodes of any age can be shown.

import type { DrawnPage, PageContext, PageEntry } from '../page.ts';
import { boughtPage, resultsList, startPage } from '../purchases.ts';

export function drawShopPage(text: string, { target, facts }: PageContext, categories: readonly string[]): DrawnPage | undefined {
  const start = /^TASK: (.*) (Available: .*)$/s.exec(text);
  if (start) return startPage(start[1] ?? '', start[2] ?? '');
  const found = /^Found (\d+) results\.(?: Top \d+: (.*))?$/s.exec(text);
  if (found) {
    const entries = (found[2] ?? '').split('; ').flatMap((line) => {
      const parts = /^(.*) (\$\S+) (\d+)$/.exec(line);
      return parts ? [resultOf(parts[1] ?? '', parts[2] ?? '', parts[3] ?? '', target, categories)] : [];
    });
    return resultsList(Number(found[1]), 1, entries);
  }
  const item = /^(.*?) (\$\d+)\. (.*) Category: (.*)\. Product (\d+)\.$/s.exec(text);
  if (item) {
    const [, name = '', value = '', description = '', group = '', id = ''] = item;
    return { kind: 'card', entry: { id, name, value, group, target: id === target }, text: description, options: [] };
  }
  const bought = /^You bought (.*?)\.(?: More to buy\.)?$/s.exec(text);
  return bought ? boughtPage(bought[1] ?? '', facts) : undefined;
}

/** A results line ends with the category in some versions of the shop: it is recognised by the list of categories. */
function resultOf(text: string, value: string, id: string, target: string | null, categories: readonly string[]): PageEntry {
  const group = categories.find((name) => text.endsWith(` ${name}`)) ?? null;
  return { id, name: group === null ? text : text.slice(0, -group.length - 1), value, group, target: id === target };
}
