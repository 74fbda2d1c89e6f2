// What only a real Slurm and a real ssh show, and takes minutes: a time limit that is reached (a minute is the least that Slurm knows; the
// run is warned before it, saves, is requeued and continues, until it is done), and a login node behind an sshd with keys made here.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Cluster } from '../../main/cluster/cluster.ts';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import { follow } from '../../main/cluster/follow.ts';
import { spawnChild } from '../../main/process/child.ts';
import { launchWith } from '../../main/process/launch.ts';
import { trainAll } from '../../main/study/work.ts';
import { openStore } from '../store/helpers.ts';
import { outcome, smallRuns } from './outcome.ts';
import { freePorts, pauseInTraining, SlurmCluster, slurmMissing, until } from './slurm-cluster.ts';

const missing = slurmMissing();
const sshMissing = missing ?? (existsSync('/usr/sbin/sshd') ? null : 'no sshd: apt-get install openssh-server');

describe.skipIf(missing !== null)(`limits of a real cluster${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 2 });
  });
  afterAll(() => slurm.stop());

  test('a run that is longer than the time limit is warned, saves, is requeued and equals a local one', async () => {
    const store = openStore();
    const folder = join(slurm.folder, 'shared', 'limit');
    // Warned 45 s before the end of the minute, so that saving has time on a busy machine too.
    const at = new Cluster(store, clusterSettings.parse({ name: 'test', folder, memory: '200', time: '1', warning: 45 }));
    const wanted = smallRuns([1], 40);
    const { submission } = await at.submit(wanted, { title: 'long' });
    if (!submission) throw new Error('nothing was submitted');
    // It stands still until Slurm warns it, as a run that is longer than the limit would compute until then.
    const paused = await pauseInTraining(submission.folder, '0001');
    await until('the time limit is near', () => paused.warned(), 180_000);
    paused.resume();
    const local = openStore();
    const [[trained], failed] = await Promise.all([
      trainAll(local, wanted, { launch: launchWith(spawnChild, local.dataFolder), jobs: 1 }),
      follow(at, [submission]),
    ]);
    expect(failed).toEqual([]);
    const { tasks } = await at.status(submission);
    expect(tasks[0]?.state).toBe('done');
    expect(tasks[0]?.attempts).toBeGreaterThan(1);
    const ends = readdirSync(submission.path('progress'))
      .sort()
      .map((name) => /"is":"(stopped|done)"[^\n]*\n$/.exec(readFileSync(submission.path('progress', name), 'utf8'))?.[1]);
    expect(ends, 'every attempt but the last ended because it was warned, after saving').toEqual([
      ...ends.slice(1).map(() => 'stopped'),
      'done',
    ]);
    const run = store.runs.findByUid(tasks[0]?.uid ?? '');
    expect(outcome(store, run?.id ?? 0)).toEqual(outcome(local, trained?.id ?? 0));
  });

  describe.skipIf(sshMissing !== null)(`behind ssh${sshMissing === null ? '' : ` (skipped: ${sshMissing})`}`, () => {
    let daemon: ChildProcess | undefined;
    const home = process.env.PATH ?? '';
    afterEach(() => {
      process.env.PATH = home;
      daemon?.kill();
    });

    test('a run goes through a real sshd and comes back; a key that is not accepted is said', async () => {
      const place = join(slurm.folder, 'ssh');
      const { process: started, bin } = await startSshd(place);
      daemon = started;
      process.env.PATH = `${bin}:${home}`;
      const store = openStore();
      const folder = join(slurm.folder, 'shared', 'ssh');
      const at = new Cluster(store, clusterSettings.parse({ name: 'far', host: 'login', folder, memory: '200' }));
      expect(await at.test()).toMatchObject({ node: expect.stringMatching(/^n[12]$/) });
      const { submission } = await at.submit(smallRuns([7, 8], 4), { title: 'over ssh' });
      if (!submission) throw new Error('nothing was submitted');
      expect(submission.folder.startsWith(store.dataFolder)).toBe(true);
      expect(await follow(at, [submission])).toEqual([]);
      expect(store.runs.list().map(({ seed, state }) => [seed, state])).toEqual([
        [8, 'done'],
        [7, 'done'],
      ]);
      expect(await at.log(submission, '0001')).toMatch(/task 0001 on/);
      const stranger = new Cluster(openStore(), clusterSettings.parse({ name: 'far', host: 'stranger', folder }));
      await expect(stranger.submissions()).rejects.toThrow(/stranger did not answer.*Permission denied/s);
    });
  });
});

/** An sshd on a port of this machine that accepts one new key, and a program `ssh` that reads a configuration with two hosts: one has the key. */
async function startSshd(place: string): Promise<{ process: ChildProcess; bin: string }> {
  mkdirSync(join(place, 'bin'), { recursive: true, mode: 0o700 });
  mkdirSync('/run/sshd', { recursive: true });
  const file = (name: string): string => join(place, name);
  for (const name of ['host', 'user', 'other']) execFileSync('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)]);
  writeFileSync(file('authorized'), readFileSync(file('user.pub')), { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  const options = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${file('host')}`,
    `AuthorizedKeysFile ${file('authorized')}`,
    `PidFile ${file('pid')}`,
    'StrictModes no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'LogLevel ERROR',
    `SetEnv SLURM_CONF=${process.env.SLURM_CONF}`,
  ];
  writeFileSync(file('sshd_config'), `${options.join('\n')}\n`);
  const host = (name: string, key: string): string =>
    `Host ${name}\n HostName 127.0.0.1\n Port ${port}\n User root\n IdentityFile ${file(key)}\n IdentitiesOnly yes\n IdentityAgent none\n`;
  const hosts = `StrictHostKeyChecking accept-new\nUserKnownHostsFile ${file('known')}\n`;
  writeFileSync(file('config'), `${host('login', 'user')}${host('stranger', 'other')}Host *\n ${hosts.replace('\n', '\n ')}`);
  // The user's configuration lies in the home folder, which is not the test's to change.
  writeFileSync(join(place, 'bin', 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${file('config')}' "$@"\n`, { mode: 0o755 });
  const daemon = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', file('sshd_config')], { stdio: ['ignore', 'ignore', 'inherit'] });
  await until('sshd listens', () => answers(port));
  return { process: daemon, bin: join(place, 'bin') };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1')
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });
}
