// What a world showed, as a page to draw instead of text: a list, a card, a grid, rows of letters. Worlds make these from
// their texts; the window draws them without knowing any world. A world that draws nothing is shown as text.

import type { Facts } from './environment.ts';

/** One thing of a list or card. */
export interface PageEntry {
  /** The word by which an action names it. */
  readonly id: string;
  readonly name: string;
  /** What it costs or counts; '' where there is nothing to say. */
  readonly value: string;
  readonly group: string | null;
  /** What the task is after. The agent does not see it. */
  readonly target: boolean;
}

/** How a cell of a grid or a letter looks; the window has a colour for each in both themes. */
export const TONES = ['plain', 'faint', 'ground', 'danger', 'goal', 'agent', 'good', 'near', 'wrong'] as const;
export type Tone = (typeof TONES)[number];

export interface PageCell {
  /** One or two characters. */
  readonly text: string;
  readonly tone: Tone;
  /** What it is in words, for people who cannot see it. */
  readonly label: string;
}

export type DrawnPage =
  | { readonly kind: 'text'; readonly text: string }
  /** Where a task begins. `field` invites to type; null where there is nothing to type. */
  | {
      readonly kind: 'start';
      readonly heading: string;
      readonly instruction: string;
      readonly note: string;
      readonly field: string | null;
    }
  | {
      readonly kind: 'list';
      readonly summary: string;
      readonly entries: readonly PageEntry[];
      readonly empty: string;
      readonly field: string | null;
    }
  | { readonly kind: 'card'; readonly entry: PageEntry; readonly text: string; readonly options: readonly string[] }
  | {
      readonly kind: 'end';
      readonly heading: string;
      readonly name: string;
      readonly right: boolean | null;
      /** Whether it was right, in words. */
      readonly verdict: string;
    }
  | { readonly kind: 'grid'; readonly caption: string; readonly rows: readonly (readonly PageCell[])[] }
  /** Words letter by letter, one row each; `keys` are all letters with the best clue for each. */
  | {
      readonly kind: 'letters';
      readonly caption: string;
      readonly rows: readonly (readonly PageCell[])[];
      readonly keys: readonly PageCell[];
    };

/** What accompanies the text: what the task is after (null while it must stay hidden), and the facts of the action that led here. */
export interface PageContext {
  readonly target: string | null;
  readonly facts: Facts;
}

/** The page as the world draws it, or as text. */
export function drawPage(
  environment: { draw?(observation: string, context: PageContext): DrawnPage | undefined },
  observation: string,
  context: PageContext,
): DrawnPage {
  return environment.draw?.(observation, context) ?? { kind: 'text', text: observation };
}
