// Everything that keeps the page in and the network out, in one place (the list, with its tests: docs/SECURITY.md).
// The page is served from app://astrolab, a private scheme: unlike file:// it has an origin, sees no other file,
// and lets a strict content security policy travel as a header.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { app, protocol, session } from 'electron';
import type { Session, WebContents } from 'electron';
import { isTrusted } from './origin.ts';

/** No inline code, no eval, no remote anything; styles and scripts only from our files. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.map': 'application/json',
};

/** Before the application is ready. */
export function hardenProcess(): void {
  process.env.ORT_DISABLE_TELEMETRY = '1';
  // As root (containers) Chromium's sandbox is off by --no-sandbox, and asking for it again would crash in a loop.
  if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();
  app.commandLine.appendSwitch('host-resolver-rules', 'MAP * ~NOTFOUND');
  app.commandLine.appendSwitch('disable-background-networking');
  app.commandLine.appendSwitch('disable-component-update');
  app.commandLine.appendSwitch('disable-features', 'MediaRouter,OptimizationHints,WebRtcHideLocalIpsWithMdns');
  app.commandLine.appendSwitch('force-webrtc-ip-handling-policy', 'disable_non_proxied_udp');
  protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true, codeCache: true } }]);
}

/** Once the application is ready, before the first window. */
export function hardenSession(rendererFolder: string): void {
  const current = session.defaultSession;
  denyPermissions(current);
  denyNetwork(current);
  // Switched off, the spelling checker still asks for the dictionaries of its languages at every start.
  current.setSpellCheckerLanguages([]);
  current.setSpellCheckerEnabled(false);
  current.protocol.handle('app', (request) => serve(rendererFolder, request.url));
  app.on('web-contents-created', (_event, contents) => confine(contents));
}

function denyPermissions(current: Session): void {
  current.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  current.setPermissionCheckHandler(() => false);
  current.setDevicePermissionHandler(() => false);
}

function denyNetwork(current: Session): void {
  current.webRequest.onBeforeRequest((details, answer) => {
    const local = isTrusted(details.url) || /^(devtools|data|blob|chrome-extension):/.test(details.url);
    answer({ cancel: !local });
  });
  current.on('will-download', (event) => event.preventDefault());
}

/** No page leaves its address, opens another window or embeds one. */
function confine(contents: WebContents): void {
  contents.on('will-navigate', (event) => event.preventDefault());
  contents.on('will-redirect', (event) => event.preventDefault());
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
}

async function serve(folder: string, url: string): Promise<Response> {
  const { host, pathname } = new URL(url);
  const file = normalize(join(folder, decodeURIComponent(pathname)));
  const type = MEDIA_TYPES[extname(file)];
  if (host !== 'astrolab' || !file.startsWith(folder + sep) || !type || !existsSync(file)) {
    return new Response('Not found', { status: 404, headers: { 'Content-Type': 'text/plain' } });
  }
  return new Response(new Uint8Array(await readFile(file)), {
    headers: { 'Content-Type': type, 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'X-Content-Type-Options': 'nosniff' },
  });
}
