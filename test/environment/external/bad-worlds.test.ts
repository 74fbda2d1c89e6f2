// Worlds written in a hurry: each mistake ends the episode or the run with a reason that says what to change, and never the lab.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { closeWorlds } from '../../../main/environment/external/external.ts';
import { WorldFault } from '../../../main/environment/external/messages.ts';
import { GOOD, open, playUp, removeWorlds, worldFolder } from './helpers.ts';

afterEach(removeWorlds);

function faultOf(body: string, manifest: Readonly<Record<string, unknown>> = {}): WorldFault {
  try {
    playUp(open(worldFolder(body, manifest)));
  } catch (error) {
    if (error instanceof WorldFault) return error;
    throw error;
  }
  return expect.fail('the world was believed');
}

/** What is wrong, what it does, what its author reads, and what to change. */
const LIES: readonly [what: string, body: string, message: RegExp, hint: RegExp, manifest?: Record<string, unknown>][] = [
  ['prints to standard output', `console.log('loading…'); ${GOOD}`, /not JSON: loading…/, /standard error/],
  ['writes broken JSON', `process.stdout.write('{"type": "observation", \\n');`, /not JSON/, /Standard output carries messages only/],
  ['writes a list', `say([1, 2]);`, /without a type: \[1,2\]/, /object with "type" and "data"/],
  [
    'gives a NaN reward',
    `process.stdout.write('{"type":"observation","data":{"observation":{"text":"x"},"reward":NaN}}\\n');`,
    /NaN or Infinity/,
    /division by zero/,
  ],
  ['gives a text as the reward', `say(page('x', { reward: 'much' }));`, /finite number as the reward; found much/, /Give a number/],
  [
    'pays outside the declared range',
    `say(page('x', { reward: 7 }));`,
    /reward 7 lies outside 0 to 1/,
    /"reward" in world.json/,
    { reward: [0, 1] },
  ],
  [
    'leaves the page out',
    `say({ type: 'observation', data: { observation: { page: 'x' } } });`,
    /field "text".*found fields page/,
    /"observation": "…"/,
  ],
  ['leaves the data out', `say({ type: 'observation' });`, /data of the observation/, /BRING_YOUR_OWN/],
  ['says "done" as a text', `say(page('x', { done: 'False' }));`, /true or false as "done"; found False/, /without quotes/],
  [
    'lists actions as numbers',
    `say(page('x', { admissible_commands: [1, 2] }));`,
    /list of texts as "admissible_commands"/,
    /as they are said/,
  ],
  [
    'answers with another kind of message',
    `say({ type: 'state', data: {} });`,
    /type state, where “observation” or “error” is expected/,
    /Answer every reset/,
  ],
  ['answers for another episode', `say({ ...page('x'), episode_id: 'e9' });`, /episode e9, where the answer for e0-0/, /in the order/],
  // Both lines in one write: a second one that comes later would be found at a later step.
  [
    'answers twice',
    `process.stdout.cork(); ${GOOD} say(page('and another thing')); process.stdout.uncork();`,
    /a line that answers nothing/,
    /exactly one line/,
  ],
  [
    'sends 100 MB',
    `process.stdout.write('{"type":"observation","data":{"observation":{"text":"' + 'x'.repeat(1e8));`,
    /more than 1000000 bytes/,
    /raise "bytes"/,
  ],
  ['never answers', ``, /did not answer within 0\.5 s/, /flush/, { seconds: { start: 0.5, message: 0.4 } }],
  ['ends at once', `process.exit(3);`, /ended while it was asked: ended with exit code 3/, /Run the command in its folder/],
];

test.each(LIES)('a world that %s gets an error that says what to change', (_what, body, message, hint, manifest) => {
  const fault = faultOf(body, manifest);
  expect(fault.message).toMatch(message);
  expect(fault.hint).toMatch(hint);
});

test('a command that does not exist is named', () => {
  const fault = faultOf(GOOD, { command: ['no-such-program-here', 'x'] });
  expect(fault.message).toMatch(/could not be started with “no-such-program-here x”/);
});

const AFTER_TWO = `if (episode.count === 2 && episode.seed === 0)`;

test.each<[what: string, body: string, reason: RegExp, seconds?: number]>([
  ['crashes', `${AFTER_TWO} { console.error('Traceback: boom'); process.exit(1); } ${GOOD}`, /Traceback: boom/],
  ['exits with 0', `${AFTER_TWO} process.exit(0); ${GOOD}`, /exit code 0 in the middle of an episode/],
  ['hangs', `${AFTER_TWO} continue; ${GOOD}`, /did not answer within 5 s/, 5],
  [
    'answers with an error',
    `${AFTER_TWO} say({ type: 'error', data: { message: 'out of ice', code: 'EXECUTION_ERROR' } }); else ${GOOD}`,
    /out of ice \(EXECUTION_ERROR\)/,
  ],
])('a world that %s in one episode ends that episode with the reason, and continues with others', (_what, body, reason, message = 60) => {
  const environment = open(worldFolder(body, { seconds: { start: 120, message } }));
  const broken = playUp(environment, 0);
  expect(broken.at(-1)).toMatchObject({ done: true, success: false, reward: 0, facts: { kind: 'world-error' } });
  expect(broken.at(-1)?.reason).toMatch(reason);
  expect(playUp(environment, 1).at(-1)).toMatchObject({ done: true, success: true, observation: 'count 3 of seed 1' });
});

test('episodes that shared a process with the one that crashed it are played on, without anybody noticing', () => {
  const environment = open(worldFolder(`${AFTER_TWO} process.exit(1); ${GOOD}`, { processes: 1 }));
  const tasks = environment.tasks('train').slice(0, 4);
  let turns = tasks.map((task) => environment.reset(task, 1));
  for (let step = 0; step < 3; step++) {
    turns = environment.batching?.stepMany(turns.map(({ state }) => ({ state, action: 'up' }))) ?? [];
  }
  expect(turns.map(({ success }) => success)).toEqual([false, true, true, true]);
  expect(turns.map(({ observation }) => observation)).toEqual([
    'count 1 of seed 0',
    'count 3 of seed 1',
    'count 3 of seed 2',
    'count 3 of seed 3',
  ]);
});

test('a world that fails every episode ends the run', () => {
  const environment = open(worldFolder(`if (episode.count === 1) process.exit(1); ${GOOD}`));
  expect(() => [0, 1, 2, 3, 4, 5].forEach((index) => playUp(environment, index))).toThrow(/ended while it was asked/);
});

test('what a world forks ends with it', async () => {
  const folder = worldFolder(`
    const { spawn } = await import('node:child_process');
    const { writeFileSync } = await import('node:fs');
    const child = spawn('sleep', ['1000'], { stdio: 'inherit' });
    writeFileSync('forked.pid', String(child.pid));
    process.exit(1);`);
  expect(() => playUp(open(folder))).toThrow(/ended while it was asked/);
  const file = join(folder, 'forked.pid');
  expect(existsSync(file)).toBe(true);
  const pid = Number(readFileSync(file, 'utf8'));
  const alive = (): boolean => {
    try {
      process.kill(pid, 0);
      return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '); // nobody may have collected it yet
    } catch {
      return false;
    }
  };
  await expect.poll(alive).toBe(false);
});

test('an episode that takes too long in all ends with that reason', () => {
  const slow = `await new Promise((resolve) => setTimeout(resolve, 120)); ${GOOD}`;
  const environment = open(worldFolder(slow, { seconds: { start: 120, message: 60, episode: 0.2 } }));
  expect(playUp(environment).at(-1)?.reason).toMatch(/longer than 0\.2 s \(seconds\.episode/);
});

test('a world that is not deterministic is found out when it has to be replayed', () => {
  const environment = open(worldFolder(`say({ ...page('page ' + Math.random()), episode_id: id });`));
  const [task] = environment.tasks('train');
  if (!task) return expect.fail('no task');
  const first = environment.step(environment.reset(task, 1).state, 'up');
  environment.step(first.state, 'up');
  expect(() => environment.step(first.state, 'down')).toThrow(/not deterministic: after the same seed and the same 1 actions/);
  return undefined;
});

test('a world sees a path and a language, and none of the lab’s secrets', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('ASTROLAB_TEST_TOKEN', 'secret');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const environment = open(worldFolder(`say({ ...page(Object.keys(process.env).join(' ')), episode_id: id });`));
  const [task] = environment.tasks('train');
  const seen = task ? environment.reset(task, 1).observation : '';
  expect(seen).toContain('PATH');
  expect(seen).not.toMatch(/TOKEN|SECRET|KEY/);
});

test('a world that was removed is not started again by whoever still holds it', () => {
  const folder = worldFolder(GOOD);
  const environment = open(folder);
  expect(playUp(environment).at(-1)?.success).toBe(true);
  closeWorlds(folder);
  expect(() => playUp(environment)).toThrow(/was removed or has changed/);
  expect(playUp(open(folder)).at(-1)?.success).toBe(true);
});
