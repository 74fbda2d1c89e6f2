// What the lab and a world in another process say to each other, one JSON document a line. The messages are those of OpenEnv's
// persistent sessions: reset, step, state, close; observation, state, error (with a message and a code); schema and metadata as
// its pages of that name. Ours are only optional fields: episode_id beside the type (to keep many episodes of one process apart), and in
// an answer admissible_commands, success, valid, reason, failure, facts, oracle and snapshot, wherever the world finds it handy to put them.

import type { Facts, Plain } from '../environment.ts';
import type { WorldManifest } from './manifest.ts';

export type Request = { readonly type: string; readonly episode_id?: string; readonly data?: Plain };

/** The world broke the rules: nothing it says can be relied on, so the run ends and the error says what to change. */
export class WorldFault extends Error {
  override name = 'WorldFault';
  readonly code = 'world-fault';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** What a world answered to reset, step or restore. */
export interface Answer {
  readonly text: string;
  readonly reward: number;
  readonly done: boolean;
  readonly valid: boolean;
  /** What may be said now; null where the world does not say. */
  readonly commands: readonly string[] | null;
  readonly success: boolean | null;
  readonly failure: string | null;
  readonly reason: string | null;
  readonly facts: Facts;
  readonly oracle: string | null;
  readonly snapshot: Plain;
}

/** The world answered with `error`: this episode is over, others are not concerned. */
export interface Refusal {
  readonly error: string;
}

type Fields = { readonly [key: string]: unknown };

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
};

/** Reads one line. `request` is what it answers; `world` is the manifest, for names of fields and limits. */
export function readAnswer(line: string, request: Request, world: WorldManifest): Answer | Refusal {
  const message = parseLine(line, world);
  const { type, data } = message;
  if (type === 'error') {
    const { message: text = 'no message', code = 'UNKNOWN' } = isFields(data) ? data : {};
    return { error: `${shown(text)} (${shown(code)})` };
  }
  if (type !== 'observation') {
    throw new WorldFault(
      `${world.name} answered “${request.type}” with a message of the type ${shown(type)}, where “observation” or “error” is expected`,
      `Answer every ${request.type} with one line {"type": "observation", "data": {"observation": {"${world.observation}": "…"}, "reward": 0, "done": false}}.`,
    );
  }
  const { episode_id: episode } = message;
  if (episode !== undefined && request.episode_id !== undefined && episode !== request.episode_id) {
    throw new WorldFault(
      `${world.name} answered for the episode ${shown(episode)}, where the answer for ${request.episode_id} was expected`,
      'Answer the messages in the order in which they come, one line each.',
    );
  }
  if (!isFields(data)) throw missing(world, 'data', `an object, found ${shown(data)}`);
  return readData(data, world);
}

/** Any message; `lab plugin check` reads schema and metadata with it. */
export function parseLine(line: string, world: WorldManifest): Fields {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    if (/[:,[]\s*-?(NaN|Infinity)\b/.test(line)) {
      throw new WorldFault(
        `${world.name} wrote NaN or Infinity, which JSON does not have: ${shown(line)}`,
        'They come from a division by zero or a logarithm of 0. Give a finite reward, or null where there is none.',
      );
    }
    throw new WorldFault(
      `${world.name} wrote a line that is not JSON: ${shown(line)}`,
      'Standard output carries messages only. Print everything else to standard error (Python: print(…, file=sys.stderr); shell: echo … >&2).',
    );
  }
  if (!isFields(message) || typeof message.type !== 'string') {
    throw new WorldFault(
      `${world.name} wrote a message without a type: ${shown(message)}`,
      'Every message is an object with "type" and "data".',
    );
  }
  return message;
}

const missing = (world: WorldManifest, field: string, expected: string): WorldFault =>
  new WorldFault(
    `${world.name}: ${field} of the observation: expected ${expected}`,
    `See docs/BRING_YOUR_OWN.md for an example of an answer.`,
  );

function readData(data: Fields, world: WorldManifest): Answer {
  const { observation } = data;
  const inside = isFields(observation) ? observation : {};
  const places = [data, data.metadata, inside, inside.metadata].filter(isFields);
  const find = (...names: readonly string[]): unknown => {
    for (const place of places) for (const name of names) if (place[name] !== undefined && place[name] !== null) return place[name];
    return undefined;
  };
  return {
    text: textOf(observation, world),
    reward: rewardOf(find('reward'), world),
    done: flag(find('done'), 'done', world) || flag(find('terminated'), 'terminated', world) || flag(find('truncated'), 'truncated', world),
    valid: find('valid') === undefined || flag(find('valid'), 'valid', world),
    commands: commandsOf(find('admissible_commands', 'valid_actions'), world),
    success: find('success') === undefined ? null : flag(find('success'), 'success', world),
    failure: optionalText(find('failure'), 'failure', world),
    reason: optionalText(find('reason'), 'reason', world),
    facts: factsOf(find('facts'), world),
    oracle: optionalText(find('oracle'), 'oracle', world),
    snapshot: plainOf(find('snapshot')),
  };
}

function textOf(observation: unknown, world: WorldManifest): string {
  if (typeof observation === 'string') return observation;
  const text = isFields(observation) ? observation[world.observation] : undefined;
  if (typeof text === 'string') return text;
  const found = isFields(observation) ? `fields ${Object.keys(observation).join(', ') || '(none)'}` : shown(observation);
  throw new WorldFault(
    `${world.name}: expected a text in the field "${world.observation}" of the observation; found ${found}`,
    `Put the page there, or name the right field in world.json: "observation": "…".`,
  );
}

function rewardOf(reward: unknown, world: WorldManifest): number {
  if (reward === undefined) return 0;
  const value = typeof reward === 'boolean' ? Number(reward) : reward;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new WorldFault(
      `${world.name}: expected a finite number as the reward; found ${shown(reward)}`,
      'Give a number, or null where there is none. NaN and Infinity come from a division by zero or a logarithm of 0.',
    );
  }
  const [low, high] = world.reward ?? [-Infinity, Infinity];
  if (value < low || value > high) {
    throw new WorldFault(
      `${world.name}: the reward ${value} lies outside ${low} to ${high}, which world.json declares`,
      'Correct the reward, or "reward" in world.json.',
    );
  }
  return value;
}

function flag(value: unknown, name: string, world: WorldManifest): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new WorldFault(
    `${world.name}: expected true or false as "${name}"; found ${shown(value)}`,
    'JSON has true and false without quotes.',
  );
}

function optionalText(value: unknown, name: string, world: WorldManifest): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw new WorldFault(`${world.name}: expected a text as "${name}"; found ${shown(value)}`, 'Leave the field out where there is none.');
}

function commandsOf(value: unknown, world: WorldManifest): readonly string[] | null {
  if (value === undefined) return null;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '')) return value;
  throw new WorldFault(
    `${world.name}: expected a list of texts as "admissible_commands"; found ${shown(value)}`,
    'List the actions as they are said, for example ["left", "right"].',
  );
}

function factsOf(value: unknown, world: WorldManifest): Facts {
  if (value === undefined) return {};
  const flat =
    isFields(value) && Object.values(value).every((item) => item === null || ['string', 'number', 'boolean'].includes(typeof item));
  if (!flat) {
    throw new WorldFault(
      `${world.name}: expected flat values as "facts"; found ${shown(value)}`,
      'Texts, numbers, true, false and null only.',
    );
  }
  return value as Facts;
}

/** It came out of JSON.parse. */
const plainOf = (value: unknown): Plain => (value === undefined ? null : (value as Plain));
