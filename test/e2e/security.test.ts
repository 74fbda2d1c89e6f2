// One test per protection, in the real window. Each was seen to fail with its protection switched off; docs/SECURITY.md
// lists what each one proves.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { electronExecutable, freshDataFolder, launch, launchEnvironment, SWITCHES, until, visit } from './app.ts';
import type { Lab } from './app.ts';

let lab: Lab;
let server: Server;
let outside = '';
let visits: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Content-Type', 'text/javascript');
    response.end('globalThis.intruder = true');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the test server has no port');
  outside = `http://127.0.0.1:${address.port}`;
  lab = await launch();
});
afterAll(async () => {
  await lab.close();
  server.close();
});

/** Does something in the page and returns which directives of the security policy it ran into. */
function violations(action: string): Promise<string[]> {
  return lab.page.evaluate(async (what) => {
    const heard: string[] = [];
    const added: HTMLElement[] = [];
    const listener = (event: SecurityPolicyViolationEvent): void => void heard.push(event.effectiveDirective);
    document.addEventListener('securitypolicyviolation', listener);
    const first = new Promise((resolve) => document.addEventListener('securitypolicyviolation', resolve, { once: true }));
    const [kind, url = ''] = what.split(' ');
    const add = (tag: string, fill: (element: HTMLElement) => void): void => {
      const element = document.createElement(tag);
      fill(element);
      document.body.append(element);
      added.push(element);
    };
    if (kind === 'inline-script') {
      try {
        add('script', (element) => void (element.textContent = 'globalThis.intruder = true'));
      } catch {
        // trusted types refuse even the assignment
      }
    }
    if (kind === 'inline-handler') {
      try {
        add('button', (element) => {
          element.setAttribute('onclick', 'globalThis.intruder = true');
          element.click();
        });
      } catch {
        // the same
      }
    }
    if (kind === 'inline-style') add('span', (element) => element.setAttribute('style', 'color: red'));
    if (kind === 'inline-sheet') add('style', (element) => void (element.textContent = 'body { color: red }'));
    if (kind === 'image') add('img', (element) => element.setAttribute('src', `${url}/image`));
    if (kind === 'frame') add('iframe', (element) => element.setAttribute('src', `${url}/frame`));
    if (kind === 'fetch') await fetch(`${url}/fetch`).catch(() => undefined);
    if (kind === 'socket') {
      try {
        const socket = new WebSocket(url.replace('http', 'ws'));
        socket.close();
      } catch {
        // refused at once
      }
    }
    if (kind === 'remote-script') {
      add('link', (element) => {
        element.setAttribute('rel', 'modulepreload'); // asks script-src, as a script would
        element.setAttribute('href', `${url}/script`);
      });
    }
    await first;
    for (const element of added) element.remove();
    document.removeEventListener('securitypolicyviolation', listener);
    return heard;
  }, action);
}

const intruder = () => lab.page.evaluate(() => Reflect.get(globalThis, 'intruder') === true);

describe('the page is kept in', () => {
  test('no Node: neither require nor process nor module reach the page', async () => {
    expect(
      await lab.page.evaluate(() => ['require', 'process', 'module', 'global', 'Buffer', '__dirname'].filter((name) => name in globalThis)),
    ).toEqual([]);
    expect(await webPreference('nodeIntegration')).toBe(false);
  });

  test('context isolation: the page cannot touch what the preload sees', async () => {
    const outcome = await lab.page.evaluate(async () => {
      // Without isolation, the preload's promises and functions would be the page's and could be replaced.
      const frozen = Object.isFrozen(window.astrolab) && Object.isFrozen(window.astrolab.call);
      const names = Object.keys(window.astrolab).toSorted();
      const replaced = Reflect.set(window.astrolab, 'call', () => 'replaced');
      return { frozen, names, replaced, foreign: Object.keys(window).includes('ipcRenderer') };
    });
    expect(outcome).toEqual({ frozen: true, names: ['call', 'listen', 'pathOf'], replaced: false, foreign: false });
    expect(await webPreference('contextIsolation')).toBe(true);
  });

  test('sandbox: the preload runs with Electron’s sandboxed loader, without Node’s modules', async () => {
    expect(await webPreference('sandbox')).toBe(true);
    expect(await preloadEvaluates("typeof process === 'undefined' ? 'none' : String(process.sandboxed)")).not.toBe('false');
  });

  test.each([
    ['inline-script', /script-src|require-trusted-types-for/],
    ['inline-handler', /script-src|require-trusted-types-for/],
    ['inline-style', /style-src/],
    ['inline-sheet', /style-src/],
    ['image OUTSIDE', /img-src/],
    ['frame OUTSIDE', /frame-src|default-src/],
    ['fetch OUTSIDE', /connect-src/],
    ['socket OUTSIDE', /connect-src/],
    ['remote-script OUTSIDE', /script-src/],
  ])('content security policy refuses %s', async (action, directive) => {
    visits = [];
    const heard = await violations(action.replace('OUTSIDE', outside));
    expect(heard.join(' ')).toMatch(directive);
    expect(await intruder()).toBe(false);
    expect(visits).toEqual([]);
  });

  test('content security policy refuses eval and new Function', async () => {
    const refused = await lab.page.evaluate(async () => {
      await new Promise((resolve) => setTimeout(resolve)); // what the debugger itself runs is exempt; a separate task is not
      const attempts = [
        () => Reflect.apply(Reflect.get(globalThis, 'eval'), undefined, ['1 + 1']),
        () => new Function('return 2')(),
        () => setTimeout('globalThis.intruder = true', 0),
      ];
      return attempts.map((attempt) => {
        try {
          return typeof attempt();
        } catch (error) {
          return error instanceof Error ? error.name : 'refused';
        }
      });
    });
    expect(refused.slice(0, 2)).toEqual(['EvalError', 'EvalError']);
    expect(await intruder()).toBe(false);
  });

  test('navigation is denied', async () => {
    visits = [];
    const before = lab.page.url();
    for (const target of [outside, 'file:///etc/passwd', 'data:text/html,hello']) {
      await lab.page.evaluate((url) => {
        const link = document.createElement('a');
        link.href = url;
        document.body.append(link);
        link.click();
        link.remove();
      }, target);
    }
    // What the page is allowed comes after what it tried before: once the window is there, all of it has been decided.
    await visit(lab, '/settings');
    await until('the allowed address', () =>
      lab.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getURL().endsWith('#/settings')),
    );
    expect(lab.page.url().replace(/#.*$/, '')).toBe(before.replace(/#.*$/, ''));
    expect(visits).toEqual([]);
    await expect.poll(() => lab.page.evaluate(() => document.querySelector('nav')?.getAttribute('aria-label'))).toBe('Main');
  });

  test('new windows are denied', async () => {
    const opened = await lab.page.evaluate(
      (url) => [window.open(url), window.open('about:blank'), window.open('app://astrolab/index.html')].map(String),
      outside,
    );
    expect(opened).toEqual(['null', 'null', 'null']);
    expect(await lab.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
  });

  test('a webview is not attached', async () => {
    const attached = await lab.page.evaluate(async (url) => {
      const view = document.createElement('webview');
      view.setAttribute('src', url);
      document.body.append(view);
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const isReal = 'getWebContentsId' in view;
      view.remove();
      return isReal;
    }, outside);
    expect(attached).toBe(false);
  });

  test('permissions are denied', async () => {
    const states = await lab.page.evaluate(async () => {
      const names: PermissionName[] = ['geolocation', 'notifications', 'camera', 'microphone', 'midi', 'persistent-storage'];
      const asked = await Promise.all(names.map(async (name) => `${name} ${(await navigator.permissions.query({ name })).state}`));
      const notification = await Notification.requestPermission();
      const clipboard = await navigator.clipboard.readText().then(
        () => 'read',
        () => 'refused',
      );
      const place = await new Promise((resolve) =>
        navigator.geolocation.getCurrentPosition(
          () => resolve('given'),
          ({ code }) => resolve(code),
        ),
      );
      return { asked, notification, clipboard, place };
    });
    expect(states.asked.filter((line) => !line.endsWith(' denied'))).toEqual([]);
    expect(states).toMatchObject({ notification: 'denied', clipboard: 'refused', place: 1 });
  });

  test('the page’s scheme serves the page’s folder only', async () => {
    const answers = await lab.app.evaluate(async ({ session }) => {
      const paths = [
        'index.html',
        '../../package.json',
        '..%2f..%2fpackage.json',
        '%2e%2e/%2e%2e/package.json',
        '..%5c..%5cpackage.json',
        'nothing.js',
      ];
      return Promise.all(paths.map(async (path) => (await session.defaultSession.fetch(`app://astrolab/${path}`)).status));
    });
    expect(answers).toEqual([200, 404, 404, 404, 404, 404]);
  });

  test('a call from any other page is refused, even with our preload', async () => {
    const outcome = await lab.app.evaluate(
      async ({ BrowserWindow }, preload) => {
        const stranger = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true, contextIsolation: true } });
        await stranger.loadURL('data:text/html,<p>stranger</p>');
        const answer: unknown = await stranger.webContents.executeJavaScript("window.astrolab.call('system.about', {})");
        stranger.destroy();
        return answer;
      },
      join(projectFolder(), 'out/preload/index.cjs'),
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  test('a call with anything but what the contract says is refused, as data without a stack', async () => {
    const outcome = await lab.page.evaluate(() => Reflect.apply(window.astrolab.call, undefined, ['system.setTheme', { theme: 'pink' }]));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid-input', hint: '' } });
    expect(JSON.stringify(outcome)).not.toMatch(/\bat .*\.[jt]s/);
  });
});

describe('the network is kept out', () => {
  test('not even the main process reaches a server, by address or by name', async () => {
    visits = [];
    const failures = await lab.app.evaluate(async ({ net }, url) => {
      const attempt = (target: string) =>
        net.fetch(target).then(
          () => 'reached',
          (error: Error) => error.message,
        );
      return Promise.all([attempt(`${url}/main`), attempt(url.replace('127.0.0.1', 'localhost')), attempt('https://registry.npmjs.org/')]);
    }, outside);
    expect(failures).toEqual(failures.map(() => 'net::ERR_BLOCKED_BY_CLIENT'));
    expect(visits).toEqual([]);
  });

  test('names are not even looked up', async () => {
    const answer = await lab.app.evaluate(({ session }) =>
      session.defaultSession.resolveHost('localhost').then(
        () => 'resolved',
        (error: Error) => error.message,
      ),
    );
    expect(answer).toContain('ERR_NAME_NOT_RESOLVED');
  });

  test('the spell checker, which would fetch dictionaries, is off and has no language to fetch one for', async () => {
    expect(await lab.app.evaluate(({ session }) => session.defaultSession.isSpellCheckerEnabled())).toBe(false);
    expect(await lab.app.evaluate(({ session }) => session.defaultSession.getSpellCheckerLanguages())).toEqual([]);
  });

  test('telemetry of the runtime is off in the main process and in the worker process', async () => {
    expect(await lab.app.evaluate(() => process.env.ORT_DISABLE_TELEMETRY)).toBe('1');
    const outcome = await lab.page.evaluate(() => window.astrolab.call('worker.selfTest', { steps: 1 }));
    expect(outcome).toMatchObject({ ok: true, value: { telemetryOff: true } });
  });

  test.runIf(process.platform === 'linux')('nothing listens and nothing is connected, in any of its processes', async () => {
    // Started plainly: under Playwright the debugging port would listen.
    const data = freshDataFolder();
    const child = spawn(electronExecutable(), [...SWITCHES, projectFolder()], { env: launchEnvironment(data), stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const family = await until('the window’s processes', async () => {
        const pids = processFamily(child.pid ?? 0);
        return pids.some((pid) => commandLine(pid).includes('--type=renderer')) ? pids : null;
      });
      await until('the database, which the page asks for', async () => existsSync(join(data, 'astrolab.db')));
      expect(family.length).toBeGreaterThanOrEqual(3);
      expect(processFamily(child.pid ?? 0).flatMap(networkSockets)).toEqual([]);
    } finally {
      child.kill('SIGTERM');
      await ended;
      rmSync(data, { recursive: true, force: true });
    }
  });
});

describe('one instance', () => {
  test('a second start with the same data folder gives way to the first, which comes to the front and follows the link', async () => {
    await lab.app.evaluate(({ BrowserWindow, app }) => {
      BrowserWindow.getAllWindows()[0]?.hide();
      app.once('second-instance', () => Reflect.set(globalThis, 'secondSeen', true));
    });
    const second = spawn(electronExecutable(), [...SWITCHES, projectFolder(), 'astrolab://run/12/episode/5/step/3'], {
      env: launchEnvironment(lab.data),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    second.stderr.on('data', (chunk) => (said += String(chunk)));
    const code = await new Promise((resolve) => second.once('exit', resolve));
    expect(code).toBe(0);
    expect(said).toContain('already open');
    await until('the first window to show', () =>
      lab.app.evaluate(
        ({ BrowserWindow }) => Reflect.get(globalThis, 'secondSeen') === true && (BrowserWindow.getAllWindows()[0]?.isVisible() ?? false),
      ),
    );
    await until('the link’s address', () => lab.page.evaluate(() => window.location.hash === '#/replay/12/5/3'));
  });
});

/** A preference of the real window; Electron keeps the function for it out of its type definitions. */
function webPreference(name: string): Promise<unknown> {
  return lab.app.evaluate(({ BrowserWindow }, wanted) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents;
    if (!contents) return null;
    const all: unknown = Reflect.apply(Reflect.get(contents, 'getLastWebPreferences'), contents, []);
    return typeof all === 'object' && all !== null ? (Reflect.get(all, wanted) as unknown) : null;
  }, name);
}

/** Evaluates in the preload's world, which the page cannot reach. */
async function preloadEvaluates(expression: string): Promise<unknown> {
  const session = await lab.page.context().newCDPSession(lab.page);
  const worlds: { id: number; name: string }[] = [];
  session.on('Runtime.executionContextCreated', ({ context }) => worlds.push({ id: context.id, name: context.name }));
  await session.send('Runtime.enable');
  const isolated = worlds.find(({ name }) => name.includes('Electron Isolated'));
  if (!isolated) throw new Error(`No isolated world among ${JSON.stringify(worlds)}`);
  const { result } = await session.send('Runtime.evaluate', { expression, contextId: isolated.id });
  await session.detach();
  return result.value;
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function processFamily(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const;
      } catch {
        return [Number(name), -1] as const;
      }
    });
  const family = [root];
  for (const member of family) family.push(...parents.filter(([, parent]) => parent === member).map(([pid]) => pid));
  return family;
}

/** The internet sockets a process holds, as lines of /proc/net, whatever their state. */
function networkSockets(pid: number): string[] {
  const inodes = new Set<string>();
  try {
    for (const name of readdirSync(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1];
      if (inode) inodes.add(inode);
    }
  } catch {
    return [];
  }
  return ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .filter((line) => inodes.has(line.trim().split(/\s+/)[9] ?? ''))
      .map((line) => `${table} ${line.trim()}`),
  );
}
