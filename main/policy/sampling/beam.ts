// Beam search over one answer (thought and action): several hypotheses are read side by side, each is continued by every allowed token, and the
// most probable ones are kept. An answer is final once no unfinished hypothesis is more probable, because more tokens can only make one less so:
// with enough width and no margin it is the most probable answer of all. The world is asked nothing meanwhile, so any world will do.

import { at } from '../../base/indexed.ts';
import { Drawer, type Drawn } from './draw.ts';
import type { AnswerPath } from '../text/episode-text.ts';
import type { Reader, ReadRow } from './reader.ts';
import type { RunOptions, SampledEpisode } from './sampler.ts';

export interface BeamSettings {
  /** Hypotheses that are kept. */
  readonly width: number;
  /** Those less probable than the best by more than this (in nats) are dropped; 0: none are. */
  readonly prune: number;
}

/** An answer as far as it goes. */
interface Hypothesis {
  readonly said: readonly Drawn[];
  readonly logProb: number;
  /** undefined: complete. */
  readonly path: AnswerPath | undefined;
}

interface Row extends ReadRow {
  readonly turn: TurnInSearch;
  readonly hypothesis: Hypothesis;
}

/** The turn of one episode: what was read before it, and the answers found so far. */
interface TurnInSearch {
  readonly episode: SampledEpisode;
  tokens: number[];
  flags: number[];
  /** The most probable complete answer so far. */
  best: Hypothesis | undefined;
}

/** The most probable continuations: complete ones count as much as others, and the earlier one wins a tie. */
export function keepBest(candidates: readonly Hypothesis[], { width, prune }: BeamSettings): Hypothesis[] {
  const kept = candidates.toSorted((a, b) => b.logProb - a.logProb).slice(0, width);
  const [best] = kept;
  return best && prune > 0 ? kept.filter(({ logProb }) => logProb >= best.logProb - prune) : kept;
}

export class BeamSearch {
  readonly #reader: Reader;
  readonly #settings: BeamSettings;
  readonly #drawer: Drawer;
  /** In the order of the reader's rows. */
  #rows: Row[] = [];

  constructor(reader: Reader, settings: BeamSettings) {
    this.#reader = reader;
    this.#settings = settings;
    this.#drawer = new Drawer(reader.network.vocabulary);
  }

  async run(episodes: Iterable<SampledEpisode>, { signal, settle = () => {}, most = Number.POSITIVE_INFINITY }: RunOptions): Promise<void> {
    const room = Math.min(most, Math.floor(this.#reader.capacity / this.#settings.width));
    if (room < 1)
      throw new RangeError(`A beam of ${this.#settings.width} does not fit: at most ${this.#reader.capacity} hypotheses are read at once`);
    const waiting = episodes[Symbol.iterator]();
    const turns = new Set<TurnInSearch>();
    this.#rows = [];
    this.#reader.begin();
    for (;;) {
      while (turns.size < room) {
        const { value: episode, done } = waiting.next();
        if (done) break;
        if (episode.done) continue;
        const turn: TurnInSearch = { episode, tokens: [], flags: [], best: undefined };
        turns.add(turn);
        this.#rows.push(this.#listen(turn, 0));
      }
      if (turns.size === 0) return;
      signal?.throwIfAborted();
      const arrived = new Map<Row, Drawn[]>();
      await this.#reader.read(this.#rows, (row, logits) => {
        if (row.hypothesis.path) arrived.set(row, this.#drawer.each(logits, row.hypothesis.path.mask?.allowed));
      });
      this.#extend(arrived);
      this.#settle(turns, settle);
      for (const turn of turns) if (turn.episode.done) turns.delete(turn);
      this.#compact();
    }
  }

  /** The row that reads what the episode has not read yet; `position` of its tokens are in the cache. */
  #listen(turn: TurnInSearch, position: number): Row {
    const { tokens, flags, newRow } = turn.episode.take();
    turn.tokens = newRow ? [...tokens] : [...turn.tokens, ...tokens];
    turn.flags = newRow ? [...flags] : [...turn.flags, ...flags];
    turn.best = undefined;
    const { contextLength } = this.#reader.network;
    if (turn.tokens.length > contextLength)
      throw new RangeError(`An episode of ${turn.tokens.length} tokens does not fit the model's context of ${contextLength}`);
    const { path } = turn.episode;
    if (!path)
      throw new RangeError('Beam search is for the lab’s small policies: language models are sampled, or greedy (a beam width of 1)');
    const hypothesis = { said: [], logProb: 0, path };
    return { turn, hypothesis, tokens: [...turn.tokens], flags: [...turn.flags], position: newRow ? 0 : position };
  }

  /** One more token for every turn whose hypotheses have all been read. */
  #extend(arrived: ReadonlyMap<Row, readonly Drawn[]>): void {
    const children = new Map<Row, Row[]>();
    for (const turn of new Set([...arrived.keys()].map((row) => row.turn))) {
      const rows = this.#rows.filter((row) => row.turn === turn);
      const parents = new Map<Hypothesis, Row>();
      const candidates: Hypothesis[] = turn.best ? [turn.best] : [];
      for (const row of rows) {
        const { said, logProb, path } = row.hypothesis;
        for (const drawn of arrived.get(row) ?? []) {
          const next: Hypothesis = { said: [...said, drawn], logProb: logProb + drawn.logProb, path: path?.next(drawn.token) };
          candidates.push(next);
          parents.set(next, row);
        }
      }
      const kept = keepBest(candidates, this.#settings);
      turn.best = kept.find(({ path }) => path === undefined);
      const floor = turn.best?.logProb ?? Number.NEGATIVE_INFINITY;
      const open = kept.filter(({ path, logProb }) => path !== undefined && logProb > floor);
      for (const row of rows) children.set(row, []);
      if (open.length === 0) this.#answer(turn, at(rows, 0), children);
      for (const hypothesis of open) {
        const parent = parents.get(hypothesis);
        if (parent) children.get(parent)?.push(childOf(parent, hypothesis));
      }
    }
    this.#arrange(children);
  }

  /** Says the best answer. The first row continues the episode: what it has read up to this turn is common to all. */
  #answer(turn: TurnInSearch, row: Row, children: ReadonlyMap<Row, Row[]>): void {
    if (!turn.best) throw new Error('A beam search ended without a complete answer');
    const heard = turn.tokens.length;
    for (const drawn of turn.best.said) turn.episode.accept(drawn);
    if (turn.episode.done) return;
    if (!turn.episode.waiting) children.get(row)?.push(this.#listen(turn, heard));
    else children.get(row)?.push({ ...row, tokens: [...turn.tokens], flags: [...turn.flags], position: heard });
  }

  /** Puts every row in the place of its parent, further ones in free places or at the end. */
  #arrange(children: ReadonlyMap<Row, readonly Row[]>): void {
    const before = this.#rows;
    const places: (Row | undefined)[] = before.map((row) => (children.has(row) ? children.get(row)?.[0] : row));
    for (const [from, row] of before.entries()) {
      for (const child of children.get(row)?.slice(1) ?? []) {
        const free = places.indexOf(undefined);
        const place = free < 0 ? places.length : free;
        places[place] = child;
        this.#reader.copy(from, place);
      }
    }
    this.#close(places);
  }

  /** The last rows take the places that are empty. */
  #close(places: (Row | undefined)[]): void {
    for (let place = 0; place < places.length; place++) {
      while (places.length > place && places.at(-1) === undefined) places.pop();
      if (place >= places.length || places[place]) continue;
      this.#reader.copy(places.length - 1, place);
      places[place] = places.pop();
    }
    this.#rows = places.filter((row) => row !== undefined);
  }

  #settle(turns: ReadonlySet<TurnInSearch>, settle: NonNullable<RunOptions['settle']>): void {
    const waiting = [...turns].filter(({ episode }) => episode.waiting);
    if (waiting.length === 0) return;
    settle(waiting.map(({ episode }) => episode));
    for (const turn of waiting) {
      const place = this.#rows.findIndex((row) => row.turn === turn);
      if (!turn.episode.done) this.#rows[place] = this.#listen(turn, at(this.#rows, place).position);
    }
  }

  /** Rows of episodes that are over leave. */
  #compact(): void {
    this.#close(this.#rows.map((row) => (row.turn.episode.done ? undefined : row)));
  }
}

const childOf = (parent: Row, hypothesis: Hypothesis): Row => ({
  turn: parent.turn,
  hypothesis,
  tokens: [...parent.tokens, at(hypothesis.said, -1).token],
  flags: [...parent.flags, 0],
  position: parent.position,
});
