// The episodes of an update on the device. They are sent once, packed (a token of a small vocabulary takes a third of a word), and serve
// everything that reads them: scoring by reference and critic, and every pass of the optimizer. A micro-batch then is four bytes a row.

import { at, field } from '../../base/indexed.ts';
import { DeviceBuffers } from '../../engine/gpu/device-buffers.ts';
import { float, integer } from '../../engine/runtime/session.ts';
import type { Feeds, SessionOptions, Value } from '../../engine/runtime/session.ts';
import { type BatchLayout, type BatchShape, type FedBatch, unpackRows } from '../transformer/batch.ts';
import { FLAGS, PLACES, packDigits, rowCode } from './device-batch.ts';
import { DeviceMasks } from './device-masks.ts';
import { EVERYTHING } from '../text/grammar-mask.ts';
import type { EncodedRow } from '../text/prompt.ts';

/** An episode, and numbers of its agent's tokens (rows joined) that a loss asks for. */
export interface HeldEpisode {
  readonly rows: readonly EncodedRow[];
  readonly token?: Readonly<Record<string, Float32Array>>;
}

/** A row that is held: its number, and where its agent's tokens begin. */
interface Place {
  readonly row: number;
  readonly agentStart: number;
}

export class DeviceEpisodes {
  readonly #layout: BatchLayout;
  readonly #buffers: DeviceBuffers;
  readonly #masks: DeviceMasks;
  readonly #places = new Map<EncodedRow, Place>();
  /** What lies on the device, by the name of its input. */
  readonly #held = new Map<string, Value>();
  #numbered: ReadonlySet<HeldEpisode> = new Set();
  #agents = 0;

  constructor(layout: BatchLayout, session: SessionOptions) {
    this.#layout = layout;
    this.#buffers = new DeviceBuffers(session);
    this.#masks = new DeviceMasks(layout.vocabulary, session, this.#buffers);
  }

  /** Sends the episodes that are to be worked on, unless they are there; what was there before may go. */
  async hold(episodes: readonly HeldEpisode[]): Promise<void> {
    const rows = episodes.flatMap((episode) => episode.rows);
    if (!rows.every((row) => this.#places.has(row))) await this.#sendRows(rows);
    if (!episodes.every((episode) => this.#numbered.has(episode))) await this.#sendNumbers(episodes);
  }

  /** A batch of episodes that are held. */
  batch(episodes: readonly (readonly EncodedRow[])[], given: BatchShape): FedBatch {
    const shape: BatchShape = { ...given, masks: 1, resident: true };
    const rows = episodes.flat();
    if (rows.length > shape.rows || episodes.length > shape.episodes)
      throw new RangeError(
        `A batch of ${rows.length} rows and ${episodes.length} episodes does not fit the shape's ${shape.rows} and ${shape.episodes}`,
      );
    const owners = episodes.flatMap((episode, index) => episode.map(() => index));
    const codes = Int32Array.from({ length: shape.rows }, (_, r) => {
      const row = rows[r];
      if (!row) return rowCode(0, -1, shape.episodes);
      const place = this.#places.get(row);
      if (!place) throw new Error('The episode is not on the device');
      return rowCode(place.row, at(owners, r), shape.episodes);
    });
    const feeds: Feeds = { rows: integer(codes, [shape.rows, 1]), ...Object.fromEntries(this.#held) };
    return { shape, feeds, unpack: (result) => unpackRows(result, episodes, shape.agentTokens) };
  }

  async dispose(): Promise<void> {
    this.#held.clear();
    this.#places.clear();
    this.#numbered = new Set();
    await this.#masks.dispose();
    await this.#buffers.dispose();
  }

  async #sendRows(rows: readonly EncodedRow[]): Promise<void> {
    for (const name of this.#held.keys()) this.#drop(name);
    this.#places.clear();
    this.#numbered = new Set();
    const { vocabulary, contextLength, aids } = this.#layout;
    const tokens: number[] = [];
    const flags: number[] = [];
    const rowTable: number[] = [0, 1, 0, 0]; // as PLACES: the empty row
    let agents = 0;
    for (const row of rows) {
      const length = Math.max(1, checkedLength(row));
      this.#places.set(row, { row: rowTable.length / PLACES.length, agentStart: agents });
      rowTable.push(tokens.length, length, agents, row.agent.length);
      for (let i = 0; i < length; i++) {
        tokens.push(row.tokens[i] ?? 0);
        flags.push(Math.sign(row.flags[i] ?? 0) + 1);
      }
      agents += row.agent.length;
    }
    const said = rows.flatMap((row) => row.agent);
    const { numbers, table } = await this.#masks.numbers(said.map(({ mask }) => (mask === EVERYTHING ? undefined : mask)));
    const packed = Int32Array.from(said, ({ position }, i) => at(numbers, i) * contextLength + position);
    this.#agents = Math.max(1, agents);
    await this.#send('held.rows', Int32Array.from(rowTable));
    await this.#send('held.words', packDigits(tokens, vocabulary));
    if (aids.matchFlag) await this.#send('held.flags', packDigits(flags, FLAGS));
    await this.#send('held.agents', packed.length > 0 ? packed : new Int32Array(1));
    this.#held.set('maskTable', table);
  }

  async #sendNumbers(episodes: readonly HeldEpisode[]): Promise<void> {
    for (const name of this.#held.keys()) if (name.startsWith('token.')) this.#drop(name);
    for (const name of Object.keys(episodes[0]?.token ?? {})) {
      const numbers = new Float32Array(this.#agents);
      for (const { rows, token = {} } of episodes) {
        let offset = 0;
        const values = field(token, name);
        for (const row of rows) {
          const { agentStart = 0 } = this.#places.get(row) ?? {};
          numbers.set(values.subarray(offset, offset + row.agent.length), agentStart);
          offset += row.agent.length;
        }
        if (values.length !== offset) throw new RangeError(`An episode has ${offset} agent tokens, but ${values.length} numbers "${name}"`);
      }
      this.#held.set(`token.${name}`, await this.#buffers.upload(float(numbers, [numbers.length])));
    }
    this.#numbered = new Set(episodes);
  }

  async #send(name: string, numbers: Int32Array): Promise<void> {
    this.#held.set(name, await this.#buffers.upload(integer(numbers, [numbers.length])));
  }

  #drop(name: string): void {
    const value = this.#held.get(name);
    this.#held.delete(name);
    if (value && name !== 'maskTable') this.#buffers.free(value); // the table belongs to the masks
  }
}

/** Tokens of a row up to the last one that is predicted; what the agent says must stand where it was said. */
function checkedLength({ tokens, agent }: EncodedRow): number {
  for (const { position, target } of agent) {
    if (tokens[position + 1] !== target)
      throw new RangeError(`The token after place ${position} of a row should be ${target}, found ${tokens[position + 1] ?? 'none'}`);
  }
  return (agent.at(-1)?.position ?? -2) + 2;
}
