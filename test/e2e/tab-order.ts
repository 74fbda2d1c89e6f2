// Walks a page by Tab alone, once around: which elements the keyboard never reaches, and which do not show that they have the focus.

import type { Lab } from './app.ts';

export interface Walk {
  /** How many places Tab stops at. */
  readonly stops: number;
  /** Interactive elements that Tab did not reach. */
  readonly missed: readonly string[];
  /** Elements that look the same with and without the focus. */
  readonly invisible: readonly string[];
}

const MOST_STOPS = 600;

/** What happens in the page at each stop; "again" when it has been here before. */
function look(): { readonly again: boolean; readonly name: string; readonly visible: boolean } {
  const element = document.activeElement;
  if (!(element instanceof HTMLElement) || element === document.body) return { again: false, name: '', visible: true };
  const again = element.dataset.walked !== undefined;
  element.dataset.walked = '';
  const name = `${element.tagName.toLowerCase()} ${element.getAttribute('aria-label') ?? element.innerText.slice(0, 40)}`;
  const drawn = (one: Element): boolean => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  };
  // A grid or list shows the place of its cursor instead of a frame around all of it.
  const inside = element.matches('[role=grid], [role=listbox]') ? [...element.querySelectorAll('*')] : [];
  return { again, name, visible: [element, ...inside].some(drawn) };
}

/** Everything that should be reached: in sight, enabled, and not one of several that the arrow keys choose from. */
function notReached(): string[] {
  const all = [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]')];
  return (
    all
      .filter((element) => element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility({ visibilityProperty: true }))
      .filter((element) => element.dataset.walked === undefined && element.closest('[inert], [aria-hidden=true]') === null)
      // A group hands the focus on to its member that is chosen.
      .filter((element) => !element.matches('[role=group], [role=radiogroup], [role=tablist]') || !element.querySelector('[data-walked]'))
      .map((element) => `${element.tagName.toLowerCase()} ${element.getAttribute('aria-label') ?? element.innerText.slice(0, 40)}`)
  );
}

export async function walkByTab({ page }: Lab): Promise<Walk> {
  await page.evaluate(() => {
    for (const element of document.querySelectorAll<HTMLElement>('[data-walked]')) delete element.dataset.walked;
    // From the first stop, wherever the focus was left.
    document.querySelector<HTMLElement>('a[href], button')?.focus();
  });
  await page.evaluate(look);
  const invisible: string[] = [];
  // Past the last element the walk begins again at the top.
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    await page.keyboard.press('Tab');
    const { again, name, visible } = await page.evaluate(look);
    if (again) return { stops, missed: await page.evaluate(notReached), invisible };
    if (!visible) invisible.push(name);
  }
  throw new Error(`Tab did not come around in ${MOST_STOPS} steps`);
}
