// Episodes with their steps and tokens. What repeats is stored once (dictionary.ts), token numbers of the episodes of an update
// are packed together, in blocks (pack.ts). `read` gives back the very trajectory that was written; the list is in episodes.ts.

import type { Statement } from 'better-sqlite3';
import type { Facts } from '../environment/environment.ts';
import { agentTokenCount, logProbability, type Step, type StepTokens, type Trajectory } from '../rollout/trajectory.ts';
import { type Purpose } from '../base/vocabulary.ts';
import { canonicalJson, parseCanonical } from '../base/canonical.ts';
import type { Connection } from './database.ts';
import { type Dictionary, fromColumn, toColumn } from './dictionary.ts';
import { isBlock, openBlock, readTokens, TokenBlock, unpackTokens } from './pack.ts';

/** Episodes of one run have ids from run × 2^32 on, in the order they were recorded. */
const EPISODES_PER_RUN = 2 ** 32;

export function episodeRange(run: number): readonly [first: number, last: number] {
  return [run * EPISODES_PER_RUN, (run + 1) * EPISODES_PER_RUN - 1];
}

export function runOfEpisode(episode: number): number {
  return Math.floor(episode / EPISODES_PER_RUN);
}

/** The columns of an episode that the list shows and the trajectory needs. */
export interface EpisodeColumns {
  readonly id: number;
  readonly acted: number;
  readonly purpose: number;
  readonly split: number;
  readonly task: number;
  readonly category: number;
  readonly tier: number;
  readonly failure: number | null;
  readonly seed: number;
  readonly success: number;
  readonly return: number | string;
  readonly vstar: number | string | null;
  readonly advantage: number | string | null;
  readonly actions: string;
}

interface EpisodeRow extends EpisodeColumns {
  readonly run_id: number;
  readonly tokens: number;
  readonly final_text: number;
}

interface StepRow {
  observation: number;
  thought: string;
  reward: number | string;
  reason: number;
  valid: number;
  facts: number;
}

export class TrajectoryStore {
  readonly #db: Connection;
  readonly #dictionary: Dictionary;
  readonly #lastId: Statement<[number, number], { id: number | null }>;
  readonly #addEpisode: Statement<(number | string | null)[]>;
  readonly #addStep: Statement<(number | string)[]>;
  readonly #addTokens: Statement<[number, Buffer]>;
  readonly #episode: Statement<[number], EpisodeRow>;
  readonly #steps: Statement<[number], StepRow>;
  readonly #tokens: Statement<[number], { first: number; data: Buffer }>;
  /** The block that was read last: neighbours are often read one after the other. */
  #block: { readonly data: Buffer; readonly episodes: readonly Uint8Array[] } | undefined;

  constructor(db: Connection, dictionary: Dictionary) {
    this.#db = db;
    this.#dictionary = dictionary;
    this.#lastId = db.prepare('SELECT max(id) AS id FROM episodes WHERE id BETWEEN ? AND ?');
    this.#addEpisode =
      db.prepare(`INSERT INTO episodes (id, run_id, recorded, acted, purpose, split, task, category, tier, failure, seed, success,
      return, vstar, advantage, surprise, steps, tokens, final_text, actions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#addStep = db.prepare('INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    this.#addTokens = db.prepare('INSERT INTO episode_tokens VALUES (?, ?)');
    this.#episode = db.prepare('SELECT * FROM episodes WHERE id = ?');
    this.#steps = db.prepare('SELECT observation, thought, reward, reason, valid, facts FROM steps WHERE episode_id = ? ORDER BY step');
    this.#tokens = db.prepare(
      'SELECT episode_id AS first, data FROM episode_tokens WHERE episode_id <= ? ORDER BY episode_id DESC LIMIT 1',
    );
  }

  /** Stores trajectories recorded in an update of a run; returns their episode ids. */
  add(run: number, update: number, trajectories: readonly Trajectory[]): number[] {
    return this.#dictionary.write(() => {
      const [first, last] = episodeRange(run);
      let id = (this.#lastId.get(first, last)?.id ?? first - 1) + 1;
      const block = new TokenBlock();
      const store = (): void => {
        if (block.episodes > 0) this.#addTokens.run(id - block.episodes, block.take());
      };
      const ids = trajectories.map((trajectory) => {
        this.#addOne(id, run, update, trajectory);
        block.add(trajectory.steps.map((step) => step.tokens));
        id += 1;
        if (block.full) store();
        return id - 1;
      });
      store();
      return ids;
    });
  }

  #addOne(id: number, run: number, update: number, trajectory: Trajectory): void {
    const dictionary = this.#dictionary;
    const tokens = agentTokenCount(trajectory);
    this.#addEpisode.run(
      id,
      run,
      update,
      trajectory.update,
      dictionary.label(trajectory.purpose),
      dictionary.label(trajectory.split),
      dictionary.label(trajectory.task),
      dictionary.label(trajectory.category),
      dictionary.label(trajectory.tier),
      trajectory.failure === null ? null : dictionary.label(trajectory.failure),
      trajectory.seed,
      trajectory.success ? 1 : 0,
      toColumn(trajectory.return),
      trajectory.vstar === null ? null : toColumn(trajectory.vstar),
      trajectory.advantage === null ? null : toColumn(trajectory.advantage),
      tokens === 0 ? 0 : toColumn(-logProbability(trajectory) / tokens),
      trajectory.steps.length,
      tokens,
      dictionary.text(trajectory.finalObservation),
      joinActions(trajectory.steps.map((step) => step.action)),
    );
    trajectory.steps.forEach((step, index) => {
      this.#addStep.run(
        id,
        index,
        dictionary.text(step.observation),
        step.thought,
        toColumn(step.reward),
        dictionary.label(step.reason),
        step.valid ? 1 : 0,
        dictionary.text(canonicalJson(step.facts)),
      );
    });
  }

  /** The whole episode as it was recorded. */
  read(episode: number): Trajectory {
    const row = this.#episode.get(episode);
    if (row === undefined)
      throw new Error(
        `There is no episode ${episode} (of run ${runOfEpisode(episode)}); it may have been left out by the retention setting`,
      );
    const dictionary = this.#dictionary;
    const tokens = this.#tokensOf(episode);
    const found = tokens.reduce((sum, { ids }) => sum + ids.length, 0);
    if (found !== row.tokens)
      throw new RangeError(`Episode ${episode} has ${row.tokens} tokens, its token data holds ${found}: it is damaged`);
    const actions = splitActions(row.actions);
    const steps = this.#steps.all(episode).map((step, index): Step => ({
      observation: dictionary.readText(step.observation),
      thought: step.thought,
      action: actions[index] ?? '',
      reward: fromColumn(step.reward),
      reason: dictionary.labelText(step.reason),
      valid: step.valid === 1,
      facts: readFacts(dictionary.readText(step.facts)),
      tokens: tokens[index] ?? noTokens(),
    }));
    return {
      task: dictionary.labelText(row.task),
      split: readSplit(dictionary.labelText(row.split)),
      category: dictionary.labelText(row.category),
      tier: dictionary.labelText(row.tier),
      seed: row.seed,
      purpose: readPurpose(dictionary.labelText(row.purpose)),
      update: row.acted,
      steps,
      finalObservation: dictionary.readText(row.final_text),
      return: fromColumn(row.return),
      success: row.success === 1,
      vstar: row.vstar === null ? null : fromColumn(row.vstar),
      advantage: row.advantage === null ? null : fromColumn(row.advantage),
      failure: row.failure === null ? null : dictionary.labelText(row.failure),
    };
  }

  /** Its part of the block it was stored in; in records of 0.1.0 each episode has a blob of its own. */
  #tokensOf(episode: number): StepTokens[] {
    const found = this.#tokens.get(episode);
    if (found === undefined || (found.first !== episode && !isBlock(found.data))) return [];
    if (!isBlock(found.data)) return unpackTokens(found.data);
    if (!this.#block?.data.equals(found.data)) this.#block = { data: found.data, episodes: openBlock(found.data) };
    const part = this.#block.episodes[episode - found.first];
    return part === undefined ? [] : readTokens(part);
  }

  /** Forgets every episode recorded after `lastUpdate`. */
  truncate(run: number, lastUpdate: number): void {
    this.#db.prepare('DELETE FROM episodes WHERE run_id = ? AND recorded > ?').run(run, lastUpdate);
  }

  /** Forgets the evaluation episodes recorded in an update. */
  dropEvaluated(run: number, update: number): void {
    const purpose = this.#dictionary.write(() => this.#dictionary.label('evaluation'));
    this.#db.prepare('DELETE FROM episodes WHERE run_id = ? AND recorded = ? AND purpose = ?').run(run, update, purpose);
  }
}

function joinActions(actions: readonly string[]): string {
  return actions.map((action) => action.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')).join('\n');
}

/** The actions of an episode from its one column. */
export function splitActions(column: string): string[] {
  return column.split('\n').map((line) => line.replaceAll(/\\(.)/g, (_all, mark: string) => (mark === 'n' ? '\n' : mark)));
}

export function readPurpose(text: string): Purpose {
  if (text === 'train' || text === 'vstar' || text === 'evaluation') return text;
  throw new Error(`An episode's purpose is train, vstar or evaluation; found ${JSON.stringify(text)}`);
}

export function readSplit(text: string): Trajectory['split'] {
  if (text === 'train' || text === 'validation' || text === 'test') return text;
  throw new Error(`A split is train, validation or test; found ${JSON.stringify(text)}`);
}

function readFacts(text: string): Facts {
  const value = parseCanonical(text);
  const facts: Record<string, string | number | boolean | null> = {};
  if (typeof value !== 'object' || value === null) return facts;
  for (const [name, fact] of Object.entries(value)) {
    if (fact === null || typeof fact === 'string' || typeof fact === 'number' || typeof fact === 'boolean') facts[name] = fact;
  }
  return facts;
}

function noTokens(): StepTokens {
  const none = new Float32Array();
  return {
    ids: new Int32Array(),
    logProbs: none,
    referenceLogProbs: none,
    entropies: none,
    values: none,
    advantages: none,
    topIds: new Int32Array(),
    topProbs: none,
  };
}
