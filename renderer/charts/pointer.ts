// Distinguishes a click, a double-click and a drag on a plot: a drag zooms, a double-click resets the zoom, and only a click
// that is neither opens a point. So a click waits a moment for a second one.

import { useEffect, useRef } from 'react';
import type { MouseEvent, PointerEvent } from 'react';

/** Farther than this between press and release is a drag; the zoom begins at the same distance. */
const DRAG_PIXELS = 6;
const DOUBLE_CLICK_MS = 260;

interface Gestures {
  /** Pixels within the plot. */
  onClick: (x: number, y: number) => void;
  onDoubleClick: () => void;
}

export function usePointer({ onClick, onDoubleClick }: Gestures) {
  const pressed = useRef<{ x: number; y: number } | null>(null);
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null);
  const forget = (): void => {
    clearTimeout(waiting.current ?? undefined);
    waiting.current = null;
  };
  useEffect(() => forget, []);
  return {
    onPointerDown: (event: PointerEvent): void => {
      pressed.current = { x: event.clientX, y: event.clientY };
    },
    onClick: (event: MouseEvent<HTMLElement>): void => {
      const from = pressed.current;
      const moved = from ? Math.hypot(event.clientX - from.x, event.clientY - from.y) : 0;
      forget();
      if (moved >= DRAG_PIXELS || event.detail > 1) return;
      const box = event.currentTarget.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      waiting.current = setTimeout(() => onClick(x, y), DOUBLE_CLICK_MS);
    },
    onDoubleClick: (): void => {
      forget();
      onDoubleClick();
    },
  };
}
