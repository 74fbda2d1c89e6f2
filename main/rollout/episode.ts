// One episode being played: the world's state, the prompt so far, the action being written. It knows nothing of batches:
// whoever samples asks which tokens to feed and which mask to draw under, and hands back the token that was drawn.
// An episode's own seed decides everything in it, so it is the same in whatever company it is played.

import type { Environment, Grammar, Task, Turn, View } from '../environment/environment.ts';
import { grammarOfView } from '../environment/grammar.ts';
import { type DrawnToken, TOP_ALTERNATIVES } from '../policy/draw.ts';
import type { Cursor, GrammarMasks, TokenMask } from '../policy/grammar-mask.ts';
import { type EncodedRow, type NameGroups, Prompt, type PromptSettings, Relabelling } from '../policy/prompt.ts';
import type { Feed } from '../policy/sampler.ts';
import { type Tokenizer, mark } from '../policy/tokenizer.ts';
import { Random } from '../random.ts';
import { type Step, type StepTokens, type Trajectory } from './trajectory.ts';
import { type Purpose } from '../vocabulary.ts';

/** What an episode needs to know of the policy: how it reads and writes. */
export interface TextCodec {
  readonly tokenizer: Tokenizer;
  readonly masks: GrammarMasks;
  readonly prompt: PromptSettings;
  /** What trades places in each relabelled episode. */
  readonly names: NameGroups;
}

export interface EpisodeRequest {
  readonly task: Task;
  readonly seed: number;
  readonly purpose: Purpose;
  readonly update: number;
  /** Shuffle the names (an aid to copying, for training); evaluation uses the true ones. */
  readonly relabel: boolean;
  readonly level: number | undefined;
  /** The world is not asked at once: the action waits until `answer` brings its turn. */
  readonly batched?: boolean;
}

/** A finished episode: the record to keep, and the rows to learn from. */
export interface Episode {
  readonly trajectory: Trajectory;
  readonly rows: readonly EncodedRow[];
}

export class EpisodeInPlay {
  readonly random: Random;
  readonly #finished: () => void;
  readonly #environment: Environment;
  readonly #codec: TextCodec;
  readonly #request: EpisodeRequest;
  readonly #prompt: Prompt;
  #turn: Turn;
  /** What the policy reads and says instead of the page and the action, in worlds that offer it. */
  #view: View | undefined;
  #cursor: Cursor;
  #thought: number[] | undefined;
  #thoughtText = '';
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
    this.#codec = codec;
    this.#request = request;
    this.random = Random.from('sample', request.seed);
    const relabelling =
      request.relabel && codec.names.length > 0 ? new Relabelling(codec.names, Random.from('labels', request.seed)) : undefined;
    this.#prompt = new Prompt(codec.tokenizer, codec.prompt, request.task.instruction, relabelling);
    this.#turn = environment.reset(request.task, request.seed, request.level);
    this.#cursor = this.#observe();
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

  get rows(): readonly EncodedRow[] {
    return this.#prompt.rows;
  }

  /** What the next token may be, in the names this episode uses. */
  get mask(): TokenMask {
    return this.#prompt.mask(this.#trueMask());
  }

  /** The tokens to read before the next draw (the last one drawn among them); they count as read from now on. */
  take(): Feed {
    const row = this.#prompt.rows.at(-1);
    if (!row) throw new Error('The episode has no row yet');
    const newRow = row !== this.#read.row;
    const from = newRow ? 0 : this.#read.count;
    this.#read = { row, count: row.tokens.length };
    return { tokens: row.tokens.slice(from), flags: row.flags.slice(from), newRow };
  }

  /** Takes the token that was drawn under `mask`. */
  accept(drawn: DrawnToken): void {
    const mask = this.#trueMask();
    const token = this.#prompt.original(drawn.token);
    this.#prompt.say(drawn.token, mask);
    this.#drawn.push(drawn);
    if (this.#thought) {
      if (token !== mark('</think>')) this.#thought.push(token);
      else {
        this.#thoughtText = this.#codec.tokenizer.decode(this.#thought);
        this.#thought = undefined;
      }
      return;
    }
    this.#cursor = this.#cursor.next(token);
    if (this.#cursor.action !== undefined) this.#act(this.#cursor.action);
  }

  /** Plays a given step instead of drawing it: a demonstration, or the steps before the one to re-sample from. */
  force(step: { readonly thought: string; readonly action: string }): void {
    const { tokenizer, masks, prompt } = this.#codec;
    const words = prompt.thoughts ? [...tokenizer.encode(step.thought).slice(0, prompt.maxThoughtTokens), mark('</think>')] : [];
    const { tokens } = masks.encode(this.#grammar(), this.#wording(step.action));
    for (const token of [...words, ...tokens]) this.accept({ token: this.#prompt.relabel(token), policyLogProb: 0, entropy: 0, top: [] });
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
    return { trajectory, rows: this.#prompt.rows };
  }

  #trueMask(): TokenMask {
    if (!this.#thought) return this.#cursor.mask;
    return this.#codec.masks.thought(this.#codec.prompt.maxThoughtTokens - this.#thought.length);
  }

  /** The cursor at the beginning of the next action. */
  #observe(): Cursor {
    this.#view = this.#environment.view?.(this.#turn.state);
    this.#prompt.observe(this.#view?.text ?? this.#turn.observation);
    this.#thought = this.#codec.prompt.thoughts ? [] : undefined;
    this.#thoughtText = '';
    this.#drawn = [];
    return this.#codec.masks.start(this.#grammar());
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
      thought: this.#thoughtText,
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
    else this.#cursor = this.#observe();
  }

  #tokens(): StepTokens {
    const count = this.#drawn.length;
    const topIds = new Int32Array(count * TOP_ALTERNATIVES).fill(-1);
    const topProbs = new Float32Array(count * TOP_ALTERNATIVES);
    for (const [row, { top }] of this.#drawn.entries()) {
      for (const [column, { token, probability }] of top.slice(0, TOP_ALTERNATIVES).entries()) {
        topIds[row * TOP_ALTERNATIVES + column] = this.#prompt.original(token);
        topProbs[row * TOP_ALTERNATIVES + column] = probability;
      }
    }
    return {
      ids: Int32Array.from(this.#drawn, ({ token }) => this.#prompt.original(token)),
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
