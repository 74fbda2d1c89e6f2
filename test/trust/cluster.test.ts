// A cluster that wants to do harm: files in the shared folder that others wrote, and a login node that lies. Nothing outside the place of
// submissions is read, written or deleted, nothing of theirs reaches a shell, and one damaged submission hides none of the others.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lab, type Answer } from '../commands/lab.ts';
import { PretendedLogin } from '../cluster/pretended-login.ts';
import { temporaryFolder } from '../store/helpers.ts';

interface Attack {
  readonly folder: string;
  readonly data: string;
  /** The folder of submissions as the cluster sees it. */
  readonly remote: string;
  readonly login: PretendedLogin;
  readonly canary: string;
  run(...args: string[]): Promise<Answer>;
}

const CANARY = 'the work of years\n';

async function attack(host: string): Promise<Attack> {
  const folder = temporaryFolder();
  const login = new PretendedLogin(folder);
  const [data, remote, canary] = [join(folder, 'data'), join(folder, 'remote'), join(folder, 'canary.txt')];
  writeFileSync(canary, CANARY);
  const run = (...args: string[]): Promise<Answer> => lab('--data', data, ...args);
  mkdirSync(remote);
  const added = await run('cluster', 'add', 'far', '--folder', remote, '--code', '/code', ...(host === '' ? [] : ['--host', host]));
  expect(added.err, 'the cluster is added').not.toMatch(/error/i);
  return { folder, data, remote, login, canary, run };
}

/** Sends two runs; gives the id of the submission. */
async function submit({ run, remote }: Attack): Promise<string> {
  const { code, err } = await run('train', '--preset', 'shop-tiny', '--size', 'quick', '--seeds', '1-2', '--on', 'far');
  expect([code, err]).toEqual([0, expect.stringMatching(/Submission/)]);
  return readdirSync(remote).at(-1) ?? '';
}

const NOW = Date.now();
const SHA = 'ab'.repeat(32);

/** What an attempt of the first task says. */
function says(remote: string, id: string, file: string): void {
  const lines = [
    { is: 'started', at: NOW, job: '4242', node: 'n1', processor: 'x' },
    { is: 'done', at: NOW, file, sha256: SHA, bytes: 1, updates: 1 },
  ];
  mkdirSync(join(remote, id, 'progress'), { recursive: true });
  writeFileSync(join(remote, id, 'progress', '0001.4242-0.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

test.each(['login', ''])('a result may only have the name of its task and attempt (host "%s")', async (host) => {
  const at = await attack(host);
  const id = await submit(at);
  const foreign = join(at.remote, id, 'results', '0002.4242-0.astrolab');
  writeFileSync(foreign, 'of the other task');
  const names = [
    '../../../../canary.txt',
    '../../../../../canary.txt',
    at.canary,
    '0002.4242-0.astrolab',
    '0001.4242-0.astrolab/../../../../../canary.txt',
    '0001.4243-0.astrolab',
    '0001.4242-0.shared',
    '',
  ];
  for (const name of names) {
    says(at.remote, id, name);
    const { out, err } = await at.run('cluster', 'collect', id);
    expect([name, readFileSync(at.canary, 'utf8')]).toEqual([name, CANARY]);
    expect([name, out, err]).toEqual([name, expect.stringMatching(/^0 runs collected/), expect.not.stringContaining('canary.txt was')]);
    const status = await at.run('--json', 'cluster', 'status', id);
    const [task] = JSON.parse(status.out).tasks;
    expect([name, task.state, task.reason, task.result]).toEqual([
      name,
      'failed',
      expect.stringMatching(/names the result .* 0001\.4242-0\.astrolab was expected/),
      null,
    ]);
  }
  expect(existsSync(foreign), 'what was not collected stays').toBe(true);
});

test('what a result is called never reaches a shell', async () => {
  const at = await attack('login');
  const id = await submit(at);
  const harm = join(at.folder, 'harm');
  for (const name of [
    `$(touch ${harm})`,
    `x;touch ${harm};echo `,
    `0001.4242-0.astrolab\ntouch ${harm}`,
    `\`touch ${harm}\``,
    `'; touch ${harm}; '`,
  ]) {
    says(at.remote, id, name);
    await at.run('cluster', 'collect', id);
    await at.run('cluster', 'logs', id, '1');
    expect([name, existsSync(harm)]).toEqual([name, false]);
  }
  expect(at.login.asked().length).toBeGreaterThan(10);
  for (const command of at.login.asked()) {
    expect(command).not.toContain(harm);
    // What is not quoted is words alone.
    expect(command.replace(/'[^']*'/g, '')).toMatch(/^[\w ./:=,@%+-]*$/);
  }
});

test('names of files in the shared folder are no options of tar and no commands', async () => {
  const at = await attack('login');
  const id = await submit(at);
  const harm = join(at.folder, 'harm');
  const script = join(at.folder, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\ntouch ${harm}\n`);
  chmodSync(script, 0o755);
  const progress = join(at.remote, id, 'progress');
  const bad = [
    'x\n--checkpoint=1',
    `x\n--checkpoint-action=exec=sh evil.sh`,
    '--use-compress-program=evil.sh',
    '$(touch harm)',
    '`touch harm`',
    'a b',
    '*',
  ];
  for (const name of bad) writeFileSync(join(progress, name), 'x');
  writeFileSync(
    join(progress, '0001.4242-0.jsonl'),
    `${JSON.stringify({ is: 'started', at: NOW, job: '4242', node: 'n7', processor: 'x' })}\n`,
  );
  const { code, out } = await at.run('--json', 'cluster', 'status', id);
  expect([code, JSON.parse(out).tasks[0].node]).toEqual([0, 'n7']);
  expect(existsSync(harm)).toBe(false);
  expect(readdirSync(join(at.data, 'clusters', 'far', id, 'progress'))).toEqual(['0001.4242-0.jsonl']);
});

/** Made by the system's tar from a folder. */
function archive(...args: readonly string[]): Buffer {
  return execFileSync('tar', ['-cf', '-', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
}

test('two archives of a login node cannot write through a link', async () => {
  const at = await attack('login');
  const id = await submit(at);
  const home = join(at.folder, 'home');
  mkdirSync(home);
  writeFileSync(join(home, '0001.4242-0.jsonl'), 'precious');
  writeFileSync(join(home, 'keys'), 'precious');
  says(at.remote, id, '0001.4242-0.astrolab');
  for (const [link, through] of [
    ['sub', 'sub/keys'],
    [`${id}/progress`, `${id}/progress/0001.4242-0.jsonl`],
    [id, `${id}/progress/0001.4242-0.jsonl`],
  ] as const) {
    const mirror = join(at.data, 'clusters', 'far');
    rmSync(mirror, { recursive: true, force: true });
    const [one, two] = [join(at.folder, `one-${link.length}`), join(at.folder, `two-${link.length}`)];
    mkdirSync(join(one, link, '..'), { recursive: true });
    symlinkSync(home, join(one, link));
    mkdirSync(join(two, through, '..'), { recursive: true });
    writeFileSync(join(two, through), 'ssh-ed25519 ATTACKER');
    for (const sent of [archive('-C', one, link), archive('-C', two, through)]) {
      at.login.sendArchive(sent);
      const { code, err } = await at.run('cluster', 'status');
      expect([link, code]).toEqual([link, 1]);
      expect(err).toMatch(/far|login/);
    }
    expect(readFileSync(join(home, 'keys'), 'utf8')).toBe('precious');
    expect(readFileSync(join(home, '0001.4242-0.jsonl'), 'utf8')).toBe('precious');
    expect(readdirSync(home).sort()).toEqual(['0001.4242-0.jsonl', 'keys']);
  }
});

test('an endless answer of a login node is refused before it fills memory or disk', async () => {
  const at = await attack('login');
  await submit(at);
  rmSync(join(at.data, 'clusters'), { recursive: true });
  at.login.sendOutputOf('exec cat /dev/zero');
  const { code, err } = await at.run('cluster', 'status');
  expect([code, err]).toEqual([1, expect.stringMatching(/login sent/)]);
});

const BROKEN: readonly (readonly [what: string, make: (file: string) => void, says: RegExp])[] = [
  ['half', (file) => writeFileSync(file, '{'), /not JSON/],
  ['empty', (file) => writeFileSync(file, ''), /not JSON/],
  ['other', (file) => writeFileSync(file, '{"astrolab":"submission","id":7}'), /another version/],
  ['pipe', (file) => execFileSync('mkfifo', [file]), /not a regular file/],
  ['folder', (file) => mkdirSync(file), /not a regular file/],
  ['link', (file) => symlinkSync('/etc/passwd', file), /not a regular file/],
  ['huge', (file) => (writeFileSync(file, ''), truncateSync(file, 10 * 2 ** 30)), /more than/],
];

test.each(['login', ''])('a damaged submission is one row, beside those that are sound (host "%s")', async (host) => {
  const at = await attack(host);
  const good = await submit(at);
  for (const [what, make] of BROKEN) {
    mkdirSync(join(at.remote, what));
    make(join(at.remote, what, 'submission.json'));
  }
  const stolen = join(at.remote, 'stolen');
  mkdirSync(stolen);
  writeFileSync(join(stolen, 'submission.json'), readFileSync(join(at.remote, good, 'submission.json')));
  const { code, out } = await at.run('--json', 'cluster', 'status');
  const rows: { submission: string; damaged?: string; counts: Record<string, number> }[] = JSON.parse(out);
  expect(code).toBe(0);
  expect(rows.find(({ submission }) => submission === good)).toMatchObject({ counts: { pending: 0, unknown: 2 } });
  expect(rows.find(({ submission }) => submission === 'stolen')?.damaged).toMatch(/calls itself/);
  // Over ssh only regular files travel, so what is none is not there at all.
  const travelling = host === '' ? BROKEN : BROKEN.filter(([what]) => ['half', 'empty', 'other'].includes(what));
  for (const [what, , reason] of travelling)
    expect([what, rows.find(({ submission }) => submission === what)?.damaged]).toEqual([what, expect.stringMatching(reason)]);
  const people = await at.run('cluster', 'status');
  expect(people.out).toMatch(/half .*damaged/);
  const asked = await at.run('cluster', 'status', 'half');
  expect([asked.code, asked.err]).toEqual([1, expect.stringMatching(/half.*submission\.json is not JSON/)]);
  // And runs can still be sent, collected and cleaned.
  expect((await at.run('train', '--preset', 'shop-tiny', '--size', 'quick', '--seeds', '7', '--on', 'far')).code).toBe(0);
  expect((await at.run('cluster', 'collect')).code).toBe(0);
});
