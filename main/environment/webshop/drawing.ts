// WebShop's texts (pages.ts) as pages that can be drawn: the visible pieces in their order.

import type { DrawnPage, PageContext, PageEntry } from '../page.ts';
import { boughtPage, resultsList, startPage } from '../purchases.ts';

export function drawWebShopPage(text: string, { target, facts }: PageContext): DrawnPage | undefined {
  const pieces = text.split(' [SEP] ');
  const entry = (id: string, name: string, value: string): PageEntry => ({ id, name, value, group: null, target: id === target });
  if (pieces[0] === 'WebShop') return startPage(pieces.slice(2, -1).join(' '), '');
  const at = pieces.findIndex((piece) => /^Page \d+ \(Total results: \d+\)$/.test(piece));
  if (at >= 0) {
    const [page = 1, total = 0] = (pieces[at]?.match(/\d+/g) ?? []).map(Number);
    const list = pieces.slice(at + 1).filter((piece) => piece !== '< Prev' && piece !== 'Next >');
    const starts = list.flatMap((piece, index) => (/^B[0-9A-Z]{9}$/.test(piece) ? [index] : []));
    const entries = starts.map((from, index) => {
      const [id = '', ...rest] = list.slice(from, starts[index + 1]);
      return entry(id, rest.slice(0, -1).join(' '), rest.at(-1) ?? '');
    });
    return resultsList(total, page, entries);
  }
  const price = pieces.findIndex((piece) => piece.startsWith('Price: '));
  if (price > 0 && pieces.includes('Buy Now')) {
    const options = pieces.slice(pieces.indexOf('< Prev') + 1, price - 1);
    const id = typeof facts.clicked === 'string' ? facts.clicked : '';
    return { kind: 'card', entry: entry(id, pieces[price - 1] ?? '', pieces[price] ?? ''), text: '', options };
  }
  return pieces[0]?.startsWith('Thank you') ? boughtPage(pieces.slice(1).join(' · '), facts) : undefined;
}
