// How long tasks fail, beside the usual failures of purchases.

import type { FailureClass } from '../failures.ts';
import { PURCHASE_FAILURES } from '../purchases.ts';

const UNREAD: FailureClass = {
  id: 'unread-purchase',
  title: 'Unread purchases',
  meaning: 'Unread purchase: buys the wrong product without opening the page that says so',
  counted: 'Episodes that end with a wrong purchase whose page was not opened, although only the page shows it',
  detect(steps) {
    const last = steps.at(-1);
    if (last?.facts.kind !== 'buy' || last.facts.right !== false || last.facts.unread !== true) return undefined;
    return `“${last.action}” after ${steps.length} steps, without a look at its page; ${boughtBefore(last.facts.before, last.facts.of)}.`;
  },
};

const WRONG_PART: FailureClass = {
  id: 'wrong-part',
  title: 'Wrong parts',
  meaning: 'Wrong part: buys some of the basket rightly, then a wrong product',
  counted: 'Episodes that bought some of the basket rightly before a wrong product',
  detect(steps) {
    const last = steps.at(-1);
    if (last?.facts.kind !== 'buy' || last.facts.right !== false || Number(last.facts.before ?? 0) === 0) return undefined;
    return `“${last.action}” was wrong; ${boughtBefore(last.facts.before, last.facts.of)}.`;
  },
};

const INCOMPLETE: FailureClass = {
  id: 'incomplete-basket',
  title: 'Incomplete baskets',
  meaning: 'Incomplete basket: its steps run out before everything is bought',
  counted: 'Episodes whose steps ran out after a part of the basket was bought',
  detect(steps) {
    const bought = steps.filter(({ facts }) => facts.kind === 'buy' && facts.right === true && facts.complete === false).length;
    if (bought === 0 || (steps.at(-1)?.facts.kind === 'buy' && steps.at(-1)?.facts.right === false)) return undefined;
    return `${bought} bought rightly when the ${steps.length} steps were over.`;
  },
};

const boughtBefore = (before: unknown, of: unknown): string => `${Number(before ?? 0)} of ${Number(of ?? 0)} were bought rightly before`;

/** In the order in which they are looked for. */
export const SHOP_FAILURES: readonly FailureClass[] = [UNREAD, WRONG_PART, INCOMPLETE, ...PURCHASE_FAILURES];
