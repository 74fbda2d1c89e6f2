// Everything the user can do, by name: a page registers its actions while it is shown, and the keyboard, the palette
// and the "?" overview all read the same list. So nothing can be done by mouse only, and no key goes undocumented.

import { useEffect, useRef } from 'react';
import { create } from 'zustand';

export interface Action {
  /** Unique, e.g. `runs.delete`. The latest registration of an id wins. */
  readonly id: string;
  readonly title: string;
  /** Heading in the palette and in the overview: the page's name, or "Go to". */
  readonly group: string;
  /** tinykeys notation: `g r`, `$mod+k`, `?`, `ArrowDown`. Several keys as a list. Absent: palette only. */
  readonly keys?: string | readonly string[];
  /** More words that find it in the palette. */
  readonly words?: readonly string[];
  /** Shown in the overview but not offered in the palette (moving a cursor, say). */
  readonly keyboardOnly?: boolean;
  /** Keys also work while the user types in a field. */
  readonly whileTyping?: boolean;
  run(): void;
}

interface ActionState {
  readonly lists: readonly (readonly Action[])[];
  add(list: readonly Action[]): () => void;
}

export const useActionStore = create<ActionState>()((set) => ({
  lists: [],
  add: (list) => {
    set(({ lists }) => ({ lists: [...lists, list] }));
    return () => set(({ lists }) => ({ lists: lists.filter((other) => other !== list) }));
  },
}));

/** All actions on offer now, the earliest registered first. */
export function currentActions(lists: readonly (readonly Action[])[]): readonly Action[] {
  const byId = new Map<string, Action>();
  for (const list of lists) for (const action of list) byId.set(action.id, action);
  return [...byId.values()];
}

/** Offers these actions while the component is shown. Their `run` may close over fresh state; ids and keys must not vary without the titles varying. */
export function useActions(actions: readonly Action[]): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  const signature = JSON.stringify(actions);
  const add = useActionStore((state) => state.add);
  useEffect(
    () =>
      add(
        latest.current.map((action, index) => ({
          ...action,
          run: () => latest.current[index]?.run(),
        })),
      ),
    [signature, add],
  );
}
