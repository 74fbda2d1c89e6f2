// Worlds in other processes for tests: a folder with a manifest and a few lines of Node that answer messages.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment, Turn } from '../../../main/environment/environment.ts';
import { closeWorlds, type ExternalState, externalWorld } from '../../../main/environment/external/external.ts';
import { readManifest } from '../../../main/environment/external/manifest.ts';

const made: string[] = [];

/** A counter that ends at `n`; `BODY` may change what happens on each message. */
const program = (body: string): string => `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const page = (text, more = {}) => ({ type: 'observation', data: { observation: { text }, reward: 0, done: false, ...more } });
const episodes = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { type, data = {}, episode_id: id } = JSON.parse(line);
  if (type === 'reset') episodes.set(id, { count: 0, seed: data.seed });
  else if (type === 'step') episodes.get(id).count += 1;
  const episode = episodes.get(id);
  ${body}
}
`;

/** What a well-behaved one answers: the action \`up\` three times ends the episode. */
export const GOOD = `say({ ...page('count ' + episode.count + ' of seed ' + episode.seed, { done: episode.count >= 3, reward: episode.count >= 3 ? 1 : 0 }), episode_id: id });`;

export function worldFolder(body: string, manifest: Readonly<Record<string, unknown>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-world-'));
  made.push(folder);
  writeFileSync(join(folder, 'world.mjs'), program(body));
  const base = {
    name: 'tested',
    command: ['node', 'world.mjs'],
    actions: ['up', 'down'],
    maxSteps: 6,
    episodes: 8,
    seconds: { start: 120, message: 60 },
  };
  writeFileSync(join(folder, 'world.json'), JSON.stringify({ ...base, ...manifest }));
  return folder;
}

export function open(folder: string): Environment<ExternalState> {
  return externalWorld(readManifest(folder), folder, () => {}).create({});
}

/** Plays \`up\` to the end. */
export function playUp(environment: Environment<ExternalState>, index = 0): Turn<ExternalState>[] {
  const task = environment.tasks('train')[index];
  if (!task) throw new Error('no task');
  const turns = [environment.reset(task, 1)];
  for (let turn = turns[0]; turn && !turn.done; turn = turns.at(-1)) turns.push(environment.step(turn.state, 'up'));
  return turns;
}

export function removeWorlds(): void {
  for (const folder of made.splice(0)) {
    closeWorlds(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}
