// One episode being played: the world's state, the prompt so far, the action being written. It knows nothing of batches:
// whoever samples asks which tokens to feed and which mask to draw under, and hands back the token that was drawn.
// An episode's seed decides everything in it, so it is the same in whatever company it is played.

import type { Environment, Grammar, Task, Turn, View } from '../environment/environment.ts';
import { grammarOfView } from '../environment/grammar.ts';
import { type DrawnToken, TOP_ALTERNATIVES } from '../policy/sampling/draw.ts';
import type { AnswerPath, EpisodeText } from '../policy/text/episode-text.ts';
import type { TokenMask } from '../policy/text/grammar-mask.ts';
import { type ChatCodec, ChatText } from '../policy/model/chat-text.ts';
import type { EncodedRow } from '../policy/text/prompt.ts';
import type { Feed } from '../policy/sampling/sampler.ts';
import { type ScratchCodec, ScratchText } from '../policy/text/scratch-text.ts';
import { Random } from '../base/random.ts';
import { type Step, type StepTokens, type Trajectory } from './trajectory.ts';
import { type Purpose } from '../base/vocabulary.ts';

/** What an episode needs to know of the policy: how it reads and writes. */
export type TextCodec = ScratchCodec | ChatCodec;

export interface EpisodeRequest {
  readonly task: Task;
  readonly seed: number;
  readonly purpose: Purpose;
  readonly update: number;
  /** Shuffle the names (an aid to copying, for training), by the episode's seed or by this one; evaluation uses the true ones. */
  readonly relabel: boolean | number;
  readonly level: number | undefined;
  /** The world is not asked at once: the action waits until `answer` brings its turn. */
  readonly batched?: boolean;
  /** Turns that are played as given before the first one is drawn. */
  readonly before?: readonly { readonly thought: string; readonly action: string }[];
  /** Decides what is drawn, and where the world allows it also its chance after `before`; by default `seed` does. */
  readonly drawSeed?: number;
}

/** A finished episode: what was asked for, the record to keep, and the rows to learn from. */
export interface Episode {
  readonly request: EpisodeRequest;
  readonly trajectory: Trajectory;
  readonly rows: readonly EncodedRow[];
}

export class EpisodeInPlay {
  readonly random: Random;
  readonly #finished: () => void;
  readonly #environment: Environment;
  readonly #request: EpisodeRequest;
  readonly #text: EpisodeText;
  #turn: Turn;
  /** What the policy reads and says instead of the page and the action, in worlds that offer it. */
  #view: View | undefined;
  #thought = '';
  #drawn: DrawnToken[] = [];
  #steps: Step[] = [];
  #return = 0;
  /** The action that the world has not answered yet. */
  #said: string | undefined;
  /** The row being read and how much of it the policy has read. */
  #read: { row: EncodedRow | undefined; count: number } = { row: undefined, count: 0 };

  /** `finished` is called once, when the episode is over. */
  constructor(environment: Environment, codec: TextCodec, request: EpisodeRequest, finished: () => void = () => {}) {
    this.#finished = finished;
    this.#environment = environment;
    this.#request = request;
    this.random = Random.from('sample', request.drawSeed ?? request.seed);
    this.#text = textOf(codec, request);
    this.#turn = environment.reset(request.task, request.seed, request.level);
    this.#observe();
    for (const step of request.before ?? []) this.#replay(step);
    if (request.before && request.drawSeed !== undefined && environment.reseed && !this.#turn.done)
      this.#turn = { ...this.#turn, state: environment.reseed(this.#turn.state, request.drawSeed) };
  }

  get done(): boolean {
    return this.#turn.done;
  }

  get waiting(): boolean {
    return this.#said !== undefined;
  }

  /** What the world is to answer. */
  get move(): { readonly state: Turn['state']; readonly action: string } {
    if (this.#said === undefined) throw new Error('The episode has not acted since its world answered last');
    return { state: this.#turn.state, action: this.#said };
  }

  /** The world's answer to `move`. */
  answer(turn: Turn): void {
    const { action } = this.move;
    this.#said = undefined;
    this.#arrive(action, turn);
  }

  /** What was done so far. */
  get actions(): readonly string[] {
    return this.#steps.map(({ action }) => action);
  }

  get rows(): readonly EncodedRow[] {
    return this.#text.rows;
  }

  /** What the next token may be, in the names this episode uses. */
  get mask(): TokenMask | undefined {
    return this.#text.mask;
  }

  get path(): AnswerPath | undefined {
    return this.#text.path;
  }

  /** The tokens to read before the next draw (the last one drawn among them); they count as read from now on. */
  take(): Feed {
    const row = this.#text.rows.at(-1);
    if (!row) throw new Error('The episode has no row yet');
    const newRow = row !== this.#read.row;
    const from = newRow ? 0 : this.#read.count;
    this.#read = { row, count: row.tokens.length };
    return { tokens: row.tokens.slice(from), flags: row.flags.slice(from), newRow };
  }

  /** Takes the token that was drawn under `mask`. */
  accept(drawn: DrawnToken): void {
    this.#drawn.push(drawn);
    const answer = this.#text.accept(drawn.token);
    if (!answer) return;
    this.#thought = answer.thought;
    this.#act(answer.action);
  }

  /** Plays a given step instead of drawing it: a demonstration, or the steps before the one to re-sample from. */
  force(step: { readonly thought: string; readonly action: string }): void {
    const tokens = this.#text.encode({ thought: step.thought, action: this.#wording(step.action) });
    for (const token of tokens) this.accept({ token, policyLogProb: 0, entropy: 0, top: [] });
  }

  /** Forces a step and has the world answer at once. */
  #replay(step: { readonly thought: string; readonly action: string }): void {
    this.force(step);
    if (this.waiting) this.answer(this.#environment.step(this.move.state, this.move.action));
  }

  /** The record of the episode, once it is over. */
  finish(): Episode {
    if (!this.#turn.done) throw new Error('The episode is still being played');
    const { task, seed, purpose, update } = this.#request;
    const trajectory: Trajectory = {
      task: task.id,
      split: task.split,
      category: task.category,
      tier: task.tier,
      seed,
      purpose,
      update,
      steps: this.#steps,
      finalObservation: this.#turn.observation,
      return: this.#return,
      success: this.#turn.success,
      vstar: null,
      advantage: null,
      failure: null,
    };
    return { request: this.#request, trajectory, rows: this.#text.rows };
  }

  /** Shows the policy what the world says now. */
  #observe(): void {
    this.#view = this.#environment.view?.(this.#turn.state);
    this.#thought = '';
    this.#drawn = [];
    this.#text.observe(this.#view?.text ?? this.#turn.observation, this.#grammar());
  }

  #grammar(): Grammar {
    return this.#view ? grammarOfView(this.#view) : this.#environment.grammar(this.#turn.state);
  }

  /** How an action of the world is said. */
  #wording(action: string): string {
    if (!this.#view) return action;
    for (const [said, meant] of this.#view.sayings) if (meant === action) return said;
    throw new Error(
      `The view of this page has no words for the action '${action.slice(0, 80)}': ${[...this.#view.sayings.keys()].join(', ')}`,
    );
  }

  #act(said: string): void {
    const action = this.#view?.sayings.get(said) ?? said;
    if (this.#request.batched) this.#said = action;
    else this.#arrive(action, this.#environment.step(this.#turn.state, action));
  }

  #arrive(action: string, turn: Turn): void {
    const before = this.#turn;
    this.#steps.push({
      observation: before.observation,
      thought: this.#thought,
      action,
      reward: turn.reward,
      reason: turn.reason,
      valid: turn.valid,
      facts: turn.facts,
      tokens: this.#tokens(),
    });
    this.#return += turn.reward;
    this.#turn = turn;
    if (turn.done) this.#finished();
    else this.#observe();
  }

  #tokens(): StepTokens {
    const count = this.#drawn.length;
    const topIds = new Int32Array(count * TOP_ALTERNATIVES).fill(-1);
    const topProbs = new Float32Array(count * TOP_ALTERNATIVES);
    for (const [row, { top }] of this.#drawn.entries()) {
      for (const [column, { token, probability }] of top.slice(0, TOP_ALTERNATIVES).entries()) {
        topIds[row * TOP_ALTERNATIVES + column] = this.#text.original(token);
        topProbs[row * TOP_ALTERNATIVES + column] = probability;
      }
    }
    return {
      ids: Int32Array.from(this.#drawn, ({ token }) => this.#text.original(token)),
      logProbs: Float32Array.from(this.#drawn, ({ policyLogProb }) => policyLogProb),
      referenceLogProbs: new Float32Array(0),
      entropies: Float32Array.from(this.#drawn, ({ entropy }) => entropy),
      values: new Float32Array(0),
      advantages: new Float32Array(0),
      topIds,
      topProbs,
    };
  }
}

function textOf(codec: TextCodec, { task, seed, relabel }: EpisodeRequest): EpisodeText {
  const names = typeof relabel === 'number' ? relabel : relabel ? seed : undefined;
  return 'chat' in codec ? new ChatText(codec, names, task) : new ScratchText(codec, task.instruction, names);
}
