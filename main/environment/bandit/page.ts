// A bandit as a list to draw: every arm with its wins and losses.

import type { DrawnPage, PageContext, PageEntry } from '../page.ts';

export function drawBanditPage(text: string, { target }: PageContext): DrawnPage | undefined {
  const arms = [...text.matchAll(/\b([a-z]) (\d+) won (\d+) lost/g)];
  const left = /left (\d+)$/.exec(text)?.[1];
  if (arms.length === 0 || left === undefined) return undefined;
  const chances = (target ?? '').split(' ').map(Number);
  const best = target === null ? -1 : chances.indexOf(Math.max(...chances));
  const entries = arms.map(([, id = '', won = '', lost = ''], arm): PageEntry => {
    const tried = Number(won) + Number(lost);
    const name =
      tried === 0 ? 'not tried' : `${Math.round((100 * Number(won)) / tried)}% of ${tried} ${tried === 1 ? 'pull' : 'pulls'} won`;
    return { id, name, value: `${won} : ${lost}`, group: null, target: arm === best };
  });
  const last = /^You (won|lost)\./.exec(text)?.[0];
  return { kind: 'list', summary: `${last === undefined ? '' : `${last} `}${left} pulls left`, entries, empty: '', field: null };
}
