// The page's address, and the guard of the bridge: only the lab's page, in a window's top frame, may call.

import type { Outcome } from '../../preload/contract.ts';

/** The page's origin. Everything else that manages to reach the channel is refused. */
export const APP_ORIGIN = 'app://astrolab';

export function isTrusted(url: string): boolean {
  return url === APP_ORIGIN || url.startsWith(`${APP_ORIGIN}/`);
}

/** A frame as Electron reports it: its address is the browser's word, not the page's. */
export interface Frame {
  readonly url: string;
  readonly parent: unknown;
}

/** Why a call from this frame is refused; null for one that may ask. */
export function refusal(frame: Frame | null): Outcome<never> | null {
  if (frame && frame.parent === null && isTrusted(frame.url)) return null;
  const message = `A call from ${frame?.url ?? 'a frame that is gone'} was refused: only the lab's page may ask`;
  return { ok: false, error: { code: 'forbidden', message, hint: '' } };
}
