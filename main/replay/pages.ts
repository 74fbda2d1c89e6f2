// The text of an observation as a page that can be drawn: results, an item, a purchase. Reads what the worlds wrote (they
// are pure text to the policy); whatever it does not recognise stays text, so a new world needs nothing here.

import type { DrawnPage, Product } from '../../preload/contract/replay.ts';
import type { Facts } from '../environment/environment.ts';

/** What is known beside the text: the product that the task is after, and the facts of the action that led here. */
export interface PageContext {
  readonly world: string;
  readonly categories: readonly string[];
  readonly target: string | null;
  readonly facts: Facts;
}

export function drawPage(observation: string, context: PageContext): DrawnPage {
  const drawn =
    context.world === 'shop'
      ? shopPage(observation, context)
      : context.world === 'webshop'
        ? webshopPage(observation.split(' [SEP] '), context)
        : undefined;
  return drawn ?? { kind: 'text', text: observation };
}

/** A results line ends with the category in some versions of the shop: it is told apart by the world's list. */
function product(id: string, text: string, price: string, { target, categories }: PageContext, category: string | null = null): Product {
  const own = category ?? categories.find((name) => text.endsWith(` ${name}`)) ?? null;
  const name = category === null && own !== null ? text.slice(0, -own.length - 1) : text;
  return { id, name, price, category: own, target: id === target };
}

function shopPage(text: string, context: PageContext): DrawnPage | undefined {
  const { facts } = context;
  const start = /^TASK: (.*) (Available: .*)$/s.exec(text);
  if (start) return { kind: 'start', instruction: start[1] ?? '', note: start[2] ?? '' };
  const found = /^Found (\d+) results\.(?: Top \d+: (.*))?$/s.exec(text);
  if (found) {
    const products = (found[2] ?? '').split('; ').flatMap((entry) => {
      const parts = /^(.*) (\$\S+) (\d+)$/.exec(entry);
      return parts ? [product(parts[3] ?? '', parts[1] ?? '', parts[2] ?? '', context)] : [];
    });
    return { kind: 'results', total: Number(found[1]), page: 1, products };
  }
  const item = /^(.*?) (\$\d+)\. (.*) Category: (.*)\. Product (\d+)\.$/s.exec(text);
  if (item) {
    const [, name = '', price = '', description = '', category = '', id = ''] = item;
    return { kind: 'item', product: product(id, name, price, context, category), description, options: [] };
  }
  const bought = /^You bought (.*)\.$/s.exec(text);
  return bought ? { kind: 'bought', name: bought[1] ?? '', right: rightness(facts) } : undefined;
}

const rightness = (facts: Facts): boolean | null => (typeof facts.right === 'boolean' ? facts.right : null);

/** The visible pieces of WebShop's page, in its order (webshop/pages.ts). */
function webshopPage(pieces: readonly string[], context: PageContext): DrawnPage | undefined {
  const { facts } = context;
  if (pieces[0] === 'WebShop') return { kind: 'start', instruction: pieces.slice(2, -1).join(' '), note: '' };
  const at = pieces.findIndex((piece) => /^Page \d+ \(Total results: \d+\)$/.test(piece));
  if (at >= 0) {
    const [page = 1, total = 0] = (pieces[at]?.match(/\d+/g) ?? []).map(Number);
    const list = pieces.slice(at + 1).filter((piece) => piece !== '< Prev' && piece !== 'Next >');
    const starts = list.flatMap((piece, index) => (/^B[0-9A-Z]{9}$/.test(piece) ? [index] : []));
    const products = starts.map((from, index) => {
      const [id = '', ...rest] = list.slice(from, starts[index + 1]);
      return product(id, rest.slice(0, -1).join(' '), rest.at(-1) ?? '', context);
    });
    return { kind: 'results', total, page, products };
  }
  const price = pieces.findIndex((piece) => piece.startsWith('Price: '));
  if (price > 0 && pieces.includes('Buy Now')) {
    const options = pieces.slice(pieces.indexOf('< Prev') + 1, price - 1);
    const shown = product(typeof facts.clicked === 'string' ? facts.clicked : '', pieces[price - 1] ?? '', pieces[price] ?? '', context);
    return { kind: 'item', product: shown, description: '', options };
  }
  if (pieces[0]?.startsWith('Thank you')) return { kind: 'bought', name: pieces.slice(1).join(' · '), right: rightness(facts) };
  return undefined;
}
