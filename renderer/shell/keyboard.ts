// Binds the keys of all registered actions. While the user types, or a dialog is open, only actions that say so
// react; where two actions want the same key, the one registered last (the page's) wins.

import { tinykeys } from 'tinykeys';
import { useEffect } from 'react';
import { currentActions, useActionStore } from '../state/actions.ts';
import type { Action } from '../state/actions.ts';

export function useKeyboard(): void {
  const lists = useActionStore((state) => state.lists);
  useEffect(() => tinykeys(window, bindings(currentActions(lists))), [lists]);
}

function bindings(actions: readonly Action[]): Record<string, (event: KeyboardEvent) => void> {
  const byKey: Record<string, (event: KeyboardEvent) => void> = {};
  for (const action of actions) {
    for (const key of keysOf(action)) {
      byKey[key] = (event) => {
        // The last key of a sequence is not a key by itself: "g s" opens Settings and stars nothing.
        if (event.defaultPrevented) return;
        if (!action.whileTyping && (isTyping(event.target) || document.querySelector('dialog[open]'))) return;
        event.preventDefault();
        action.run();
      };
    }
  }
  const sequencesFirst = Object.entries(byKey).toSorted(([a], [b]) => Number(b.includes(' ')) - Number(a.includes(' ')));
  return Object.fromEntries(sequencesFirst);
}

export function keysOf({ keys }: Action): readonly string[] {
  if (keys === undefined) return [];
  return typeof keys === 'string' ? [keys] : keys;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}
