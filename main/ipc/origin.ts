// The page's address, as a fact that the window, the protocol and the border's guard share.

/** The page's origin. Everything else that manages to reach the channel is refused. */
export const APP_ORIGIN = 'app://astrolab';

export function isTrusted(url: string): boolean {
  return url === APP_ORIGIN || url.startsWith(`${APP_ORIGIN}/`);
}
