// Worlds in other processes behave like all others: plain states, branching, batches, grammars; and the shipped examples pass the checks.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { Game } from '../../../main/environment/game.ts';
import { admits } from '../../../main/environment/grammar.ts';
import { externalWorld } from '../../../main/environment/external/external.ts';
import { readManifest } from '../../../main/environment/external/manifest.ts';
import { resourceFile } from '../../../main/base/paths.ts';
import { checkWorld } from '../../../main/plugin/check-world.ts';
import { GOOD, open, playUp, removeWorlds, worldFolder } from './helpers.ts';

afterEach(removeWorlds);

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

describe('the shipped examples hold what every world promises', () => {
  for (const [name, program] of [
    ['frozen-lake-py', 'python3'],
    ['guess-number-py', 'python3'],
    ['tic-tac-toe-js', 'node'],
    ['vault-sh', 'bash'],
  ] as const) {
    test.skipIf(!has(program))(`${name} passes every check`, async () => {
      const folder = resourceFile('worlds', name);
      const results = await checkWorld(externalWorld(readManifest(folder), folder, () => {}));
      expect(results.filter(({ problem }) => problem !== null)).toEqual([]);
      expect(results.length).toBeGreaterThanOrEqual(7);
    });
  }
});

test('seeds of the splits follow each other, and a task is reset with its seed', () => {
  const environment = open(worldFolder(GOOD, { splits: { train: 3, test: 2 } }));
  expect(environment.tasks('test').map(({ id }) => id)).toEqual(['seed-3', 'seed-4']);
  expect(environment.tasks('validation')).toEqual([]);
  const [task] = environment.tasks('test');
  expect(task && environment.reset(task, 77).observation).toBe('count 0 of seed 3');
});

test('a state is plain data: saved, restored and branched from, also after another lab has played on', () => {
  const folder = worldFolder(GOOD);
  const turns = playUp(open(folder));
  expect(turns.map(({ observation }) => observation)).toEqual([0, 1, 2, 3].map((count) => `count ${count} of seed 0`));
  const saved = JSON.parse(JSON.stringify(turns[1]?.state));
  const again = open(folder);
  expect(again.step(saved, 'up')).toEqual(turns[2]);
  expect(again.step(saved, 'up')).toEqual(turns[2]);
  const game = new Game(again, again.tasks('train')[0] ?? expect.fail('no task'));
  game.say('up');
  game.say('nonsense');
  expect(game.now).toMatchObject({ valid: false, observation: 'count 1 of seed 0', state: { steps: 2 } });
  game.undo();
  game.say('down');
  expect(game.now.observation).toBe('count 2 of seed 0');
});

test('a world with snapshots is restored from them instead of replayed', () => {
  const body = `
    if (type === 'restore') episodes.set(id, { ...data.snapshot, restored: true });
    const now = episodes.get(id);
    say({ ...page('count ' + now.count + (now.restored ? ' restored' : ''), { snapshot: { count: now.count, seed: now.seed } }), episode_id: id });`;
  const environment = open(worldFolder(body));
  const task = environment.tasks('train')[0] ?? expect.fail('no task');
  const first = environment.step(environment.reset(task, 1).state, 'up');
  environment.step(first.state, 'up');
  expect(() => environment.step(first.state, 'up')).not.toThrow();
  expect(environment.step(first.state, 'up').observation).toBe('count 2 restored');
});

test('many at once give the same turns as one after another, with any number of processes', () => {
  const turnsWith = (processes: number, many: boolean): unknown => {
    const environment = open(worldFolder(GOOD, { processes, episodes: 5 }));
    const tasks = environment.tasks('train').slice(0, 12);
    if (many) environment.batching?.prefetch(tasks.map((task) => ({ task, seed: 1, level: undefined })));
    let turns = tasks.map((task) => environment.reset(task, 1));
    const seen = [turns];
    for (let step = 0; step < 3; step++) {
      const moves = turns.map(({ state }, index) => ({ state, action: index % 3 === step ? 'sideways' : 'up' }));
      turns = many ? (environment.batching?.stepMany(moves) ?? []) : moves.map(({ state, action }) => environment.step(state, action));
      seen.push(turns);
    }
    return seen;
  };
  const one = turnsWith(1, false);
  expect(turnsWith(1, true)).toEqual(one);
  expect(turnsWith(4, true)).toEqual(one);
});

test('admissible commands become the grammar; without them and without a list actions are free text', () => {
  const listed = open(
    worldFolder(`say({ ...page('x', { admissible_commands: ['Go North', 'open the door'] }), episode_id: id });`, { actions: undefined }),
  );
  const turn = listed.reset(listed.tasks('train')[0] ?? expect.fail('no task'), 1);
  expect(listed.grammar(turn.state)).toEqual([[{ kind: 'choice', options: ['go north', 'open the door'] }]]);
  expect(listed.step(turn.state, 'GO  north').valid).toBe(true);
  const free = open(worldFolder(GOOD, { actions: undefined, words: 3 }));
  const page = free.reset(free.tasks('train')[0] ?? expect.fail('no task'), 1);
  for (const [action, allowed] of [
    ['anything at all', true],
    ['four words are more', false],
    ['', false],
  ] as const) {
    expect(admits(free.grammar(page.state), action)).toBe(allowed);
    expect(free.step(page.state, action).valid).toBe(allowed);
  }
});

test('terminated and truncated are understood, and success follows the reward, the threshold or the world’s word', () => {
  const success = (more: string, manifest = {}): boolean => {
    const environment = open(
      worldFolder(
        `const { done, ...rest } = page('x').data; say({ type: 'observation', episode_id: id, data: { ...rest, ${more} } });`,
        manifest,
      ),
    );
    return playUp(environment).at(-1)?.success ?? false;
  };
  expect(success(`terminated: episode.count === 1, reward: episode.count`)).toBe(true);
  expect(success(`truncated: episode.count === 1, reward: 0`)).toBe(false);
  expect(success(`terminated: episode.count === 2, reward: episode.count ? 0.4 : 0`, { success: 0.9 })).toBe(false);
  expect(success(`terminated: episode.count === 2, reward: episode.count ? 0.5 : 0`, { success: 0.9 })).toBe(true);
  expect(success(`terminated: episode.count === 1, reward: 0, success: true`)).toBe(true);
});

test('all mistakes of a manifest are reported', () => {
  const folder = worldFolder(GOOD);
  writeFileSync(join(folder, 'world.json'), JSON.stringify({ name: 'My World', comand: ['python3'], splits: { train: 'gone.json' } }));
  expect(() => readManifest(folder)).toThrow(/comand[\s\S]*small letters/);
  writeFileSync(join(folder, 'world.json'), JSON.stringify({ name: 'x', url: 'ws://example.com:8000/ws' }));
  expect(() => readManifest(folder)).toThrow(/on this machine/);
  writeFileSync(join(folder, 'world.json'), '{"name": }');
  expect(() => readManifest(folder)).toThrow(/is not JSON/);
});

test('a world is asked for its metadata, schema and state; a schema that does not fit world.json is a problem, silence is none', async () => {
  const described = (body: string, manifest: Record<string, unknown> = {}) => {
    const folder = worldFolder(body, manifest);
    return externalWorld(readManifest(folder), folder, () => {}).describe?.();
  };
  const answering = `
    const schema = { action: { properties: { message: {} } }, observation: { properties: { text: {} } } };
    const own = { metadata: { name: 'Counter' }, schema, state: { step_count: 4 } }[type];
    if (own) say({ type, data: own });`;
  expect(await described(answering)).toEqual({
    metadata: { name: 'Counter' },
    schema: { action: { properties: { message: {} } }, observation: { properties: { text: {} } } },
    state: { step_count: 4 },
    problem: null,
  });
  expect((await described(answering, { action: 'command' }))?.problem).toBe(
    'its schema has no field "command" in the action (there are message): correct "action" in world.json',
  );
  const nothing = { metadata: null, schema: null, state: null, problem: null };
  expect(await described(`say({ type: 'error', data: { message: 'what?' } });`)).toEqual(nothing);
  expect(await described(`process.exit(1);`)).toEqual(nothing);
});

test.skipIf(!has('python3'))('astrolab_world.py answers for a class that knows nothing of it', async () => {
  const folder = resourceFile('worlds', 'guess-number-py');
  const described = await externalWorld(readManifest(folder), folder, () => {}).describe?.();
  expect(described).toMatchObject({ schema: { action: { required: ['message'] } }, state: { episode_id: 'e' }, problem: null });
  expect(JSON.stringify(described?.metadata)).toContain('name');
});

test('an OpenEnv server on this machine is played over its websocket, one connection an episode', async () => {
  const server = new Worker(OPENENV_SERVER, { eval: true });
  try {
    const port = await new Promise<number>((resolve) => server.once('message', resolve));
    const environment = open(
      worldFolder('', {
        command: undefined,
        url: `ws://127.0.0.1:${port}/ws`,
        episodes: 1,
        processes: 3,
        action: 'message',
        observation: 'echoed_message',
      }),
    );
    const turns = environment
      .tasks('train')
      .slice(0, 3)
      .map((task) => environment.reset(task, 1));
    const next = environment.batching?.stepMany(turns.map(({ state }) => ({ state, action: 'up' })));
    expect(next?.map(({ observation, reward }) => [observation, reward])).toEqual([0, 1, 2].map((seed) => [`seed ${seed} heard up`, 0.1]));
    const manifest = { ...readManifest(worldFolder('', { command: undefined, url: `ws://127.0.0.1:${port}/ws`, episodes: 1 })) };
    const described = await externalWorld(manifest, worldFolder(''), () => {}).describe?.();
    expect([described?.metadata, described?.problem]).toEqual([
      { name: 'echo' },
      'its schema has no field "text" in the observation (there are echoed_message): correct "observation" in world.json',
    ]);
  } finally {
    await server.terminate();
  }
});

/** The part of an OpenEnv echo server that a client meets: a websocket at /ws, messages without any field beside type and data. */
const OPENENV_SERVER = `
const { createServer } = require('node:http');
const { createHash } = require('node:crypto');
const { parentPort } = require('node:worker_threads');
const PAGES = {
  '/metadata': { name: 'echo' },
  '/schema': { action: { properties: { message: {} } }, observation: { properties: { echoed_message: {} } } },
};
const server = createServer((request, response) => response.end(JSON.stringify(PAGES[request.url])));
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
  let seed = null;
  socket.on('error', () => {});
  socket.on('data', (frame) => {
    if ((frame[0] & 15) !== 1) return socket.end();
    const length = frame[1] & 127;
    const start = length === 126 ? 4 : 2;
    const size = length === 126 ? frame.readUInt16BE(2) : length;
    const mask = frame.subarray(start, start + 4);
    const text = Buffer.from(frame.subarray(start + 4, start + 4 + size).map((byte, i) => byte ^ mask[i % 4])).toString();
    const message = JSON.parse(text);
    const extra = Object.keys(message).filter((key) => key !== 'type' && key !== 'data');
    let answer;
    if (extra.length > 0) answer = { type: 'error', data: { message: 'extra fields ' + extra, code: 'VALIDATION_ERROR' } };
    else if (message.type === 'reset') {
      seed = message.data.seed;
      answer = { type: 'observation', data: { observation: { echoed_message: 'ready ' + seed }, reward: null, done: false } };
    } else answer = { type: 'observation', data: { observation: { echoed_message: 'seed ' + seed + ' heard ' + message.data.message }, reward: 0.1, done: false } };
    const body = Buffer.from(JSON.stringify(answer));
    const head = body.length < 126 ? Buffer.from([129, body.length]) : Buffer.from([129, 126, body.length >> 8, body.length & 255]);
    socket.write(Buffer.concat([head, body]));
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
