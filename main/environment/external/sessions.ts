// Episodes of a world in another process, kept open between steps. A session is found by what has happened in it (task, seed, actions), so
// the world above stays a function of plain data: a step from a state whose session is still open is one message, and a step from
// any other (a branch, an episode of yesterday, one whose program died) first restores the world's snapshot or replays seed and actions.
// A replay that shows another page than before means that the world is not deterministic, which is reported, not hidden.

import type { Plain } from '../environment.ts';
import { Bridge } from './bridge.ts';
import type { Reply } from './channel.ts';
import type { WorldManifest } from './manifest.ts';
import { type Answer, readAnswer, type Refusal, type Request, WorldFault } from './messages.ts';

/** An episode so far. `seen` is the page that the last action led to. */
export interface History {
  /** What the program is reset with, besides the episode's id. */
  readonly start: { readonly [field: string]: Plain };
  readonly actions: readonly string[];
  readonly seen: string | undefined;
  readonly snapshot: Plain;
}

/** A history to be continued by one action, or (without one) to be begun. */
export interface Job {
  readonly history: History;
  readonly action: string | undefined;
}

/** `ended` says why the world could not answer; the episode is over. */
export type Outcome = Answer | { readonly ended: string };

interface Session {
  readonly channel: number;
  readonly slot: number;
  /** Empty when it is free. */
  key: string;
  /** When it was last used, in exchanges. */
  used: number;
  seconds: number;
}

interface Sent {
  readonly job: Job;
  readonly session: Session;
  readonly requests: readonly Request[];
}

/** That many episodes in a row without an answer: the world is broken, not the episode. */
const MOST_FAILURES = 5;

const keyOf = ({ start }: History, actions: readonly string[]): string => JSON.stringify([start, actions]);

export class Sessions {
  readonly #world: WorldManifest;
  readonly #bridge: Bridge;
  readonly #sessions: Session[];
  readonly #byKey = new Map<string, Session[]>();
  #clock = 0;
  #closed = false;
  #answers = 0;
  #failures = 0;

  constructor(world: WorldManifest, folder: string) {
    this.#world = world;
    this.#bridge = new Bridge(world, folder);
    const { processes, episodes } = world;
    this.#sessions = Array.from({ length: processes * episodes }, (_, index) => {
      return { channel: index % processes, slot: Math.floor(index / processes), key: '', used: 0, seconds: 0 };
    });
  }

  get size(): number {
    return this.#sessions.length;
  }

  get free(): number {
    return this.#sessions.filter(({ key }) => key === '').length;
  }

  /** One outcome for each job, in their order. */
  play(jobs: readonly Job[]): Outcome[] {
    if (this.#closed) {
      throw new WorldFault(
        `The world ${this.#world.name} was removed or has changed since it was opened`,
        'Add its folder again, or open it anew.',
      );
    }
    const outcomes: Outcome[] = [];
    for (let from = 0; from < jobs.length; from += this.size) outcomes.push(...this.#wave(jobs.slice(from, from + this.size)));
    return outcomes;
  }

  /** One message outside any episode, for checks: its answer as it came. */
  ask(request: Request): Reply {
    const [reply] = this.#bridge.exchange([{ channel: 0, line: JSON.stringify(request) }]);
    if (reply && 'failed' in reply) this.#lose(0);
    return reply ?? { failed: 'exit', detail: '' };
  }

  /** For good: whoever still holds the world must not start its program again. */
  close(): void {
    this.#closed = true;
    this.#bridge.close();
    this.#byKey.clear();
    for (const session of this.#sessions) session.key = '';
  }

  #wave(jobs: readonly Job[]): Outcome[] {
    const outcomes = this.#attempt(jobs);
    // A program that died or hangs took others down with it: each of them once more, and by itself, shows whose fault it was.
    return outcomes.map((outcome, index) => {
      const job = jobs[index];
      if (!job || !('lost' in outcome)) return this.#counted(outcome);
      if (this.#answers === 0) throw lostFault(this.#world, outcome.lost);
      const [again] = this.#attempt([job]);
      if (!again || 'lost' in again)
        return this.#counted({ ended: lostFault(this.#world, again?.lost ?? outcome.lost).message }, again?.lost);
      return this.#counted(again);
    });
  }

  #counted(outcome: Outcome | { lost: Lost }, lost?: Lost): Outcome {
    if ('lost' in outcome) throw lostFault(this.#world, outcome.lost);
    if ('ended' in outcome) this.#failures += 1;
    else if (outcome.done) this.#failures = 0;
    if (this.#failures < MOST_FAILURES || !('ended' in outcome)) return outcome;
    if (lost) throw lostFault(this.#world, lost);
    throw new WorldFault(
      `${this.#world.name} ended ${this.#failures} episodes in a row with an error. The last one: ${outcome.ended}`,
      `Correct the program and try again; \`lab plugin check\` plays it without training.`,
    );
  }

  #attempt(jobs: readonly Job[]): (Outcome | { lost: Lost })[] {
    this.#clock += 1;
    const sent = jobs.map((job) => this.#prepare(job));
    const lines = sent.flatMap(({ session, requests }) =>
      requests.map((request) => ({ channel: session.channel, line: JSON.stringify(request) })),
    );
    const begin = performance.now();
    const replies = this.#bridge.exchange(lines);
    const seconds = (performance.now() - begin) / 1000;
    let next = 0;
    return sent.map((one) => {
      const own = replies.slice(next, next + one.requests.length);
      next += one.requests.length;
      return this.#finish(one, own, seconds);
    });
  }

  #prepare(job: Job): Sent {
    const { history, action } = job;
    const open = this.#byKey.get(keyOf(history, history.actions))?.pop();
    if (action !== undefined && open) {
      open.used = this.#clock;
      return { job, session: open, requests: [this.#step(open, action)] };
    }
    if (open) this.#byKey.get(open.key)?.push(open);
    const session = this.#take();
    const requests = [...this.#rebuild(session, history), ...(action === undefined ? [] : [this.#step(session, action)])];
    return { job, session, requests };
  }

  #rebuild(session: Session, { start, actions, snapshot }: History): Request[] {
    const id = idOf(session);
    if (snapshot !== null) return [{ type: 'restore', episode_id: id, data: { ...start, episode_id: id, snapshot } }];
    // OpenEnv's messages have no room for fields beside type and data.
    const reset: Request = { type: 'reset', ...this.#named(session), data: { ...start, episode_id: id } };
    return [reset, ...actions.map((action) => this.#step(session, action))];
  }

  #step(session: Session, action: string): Request {
    return { type: 'step', ...this.#named(session), data: { [this.#world.action]: action } };
  }

  #named(session: Session): { readonly episode_id?: string } {
    return this.#world.url === undefined ? { episode_id: idOf(session) } : {};
  }

  /** A free session, or the one that nobody has used for longest. */
  #take(): Session {
    let found: Session | undefined;
    for (const session of this.#sessions) {
      if (session.used === this.#clock) continue; // in use by this very exchange
      if (!found || rank(session) < rank(found)) found = session;
      if (found.key === '') break;
    }
    if (!found) throw new Error('More episodes were asked for than there are sessions');
    this.#forget(found);
    found.used = this.#clock;
    found.seconds = 0;
    return found;
  }

  #forget(session: Session): void {
    const list = this.#byKey.get(session.key);
    const at = list?.indexOf(session) ?? -1;
    if (list && at >= 0) list.splice(at, 1);
    if (list?.length === 0) this.#byKey.delete(session.key);
    session.key = '';
  }

  #finish({ job, session, requests }: Sent, replies: readonly Reply[], seconds: number): Outcome | { lost: Lost } {
    const { history, action } = job;
    this.#forget(session);
    if (action !== undefined) session.seconds += seconds; // what a program needs to start is no episode's fault
    const broken = replies.find((reply) => 'failed' in reply);
    if (broken && 'failed' in broken) {
      this.#lose(session.channel);
      if (broken.failed === 'too-long' || broken.failed === 'no-start' || broken.failed === 'unasked') throw lostFault(this.#world, broken);
      return { lost: broken };
    }
    const answers = replies.map((reply, index) =>
      readAnswer('line' in reply ? reply.line : '', requests[index] ?? { type: 'step' }, this.#world),
    );
    this.#answers += answers.length;
    const refused = answers.find((answer): answer is Refusal => 'error' in answer);
    if (refused) return { ended: `The world answered with an error: ${refused.error}` };
    const [before, last] = [answers.at(-2), answers.at(-1)];
    if (!last || 'error' in last) return { ended: 'The world gave no answer.' };
    if (action !== undefined && history.snapshot === null && before && 'text' in before) this.#compare(history, before);
    const { episode } = this.#world.seconds;
    if (session.seconds > episode && !last.done)
      return { ended: `The episode took longer than ${episode} s (seconds.episode in world.json).` };
    if (!last.done) {
      session.key = keyOf(history, action === undefined ? history.actions : [...history.actions, action]);
      const list = this.#byKey.get(session.key);
      if (list) list.push(session);
      else this.#byKey.set(session.key, [session]);
    }
    return last;
  }

  /** The page before the new action, played again, must be the page that was seen then. */
  #compare({ seen, actions }: History, again: Answer): void {
    if (seen === undefined || seen === again.text) return;
    throw new WorldFault(
      `${this.#world.name} is not deterministic: after the same seed and the same ${actions.length} actions it showed another page than before`,
      'Draw everything at random from the seed that reset gives (Python: random.Random(seed)), or give a "snapshot" with every answer and understand "restore".',
    );
  }

  /** The channel's program has gone, and with it all its episodes. */
  #lose(channel: number): void {
    this.#bridge.end(channel);
    for (const session of this.#sessions) if (session.channel === channel) this.#forget(session);
  }
}

/** Free ones first, then by age. */
const rank = (session: Session): number => (session.key === '' ? -1 : session.used);
const idOf = (session: Session): string => `e${session.channel}-${session.slot}`;

type Lost = Extract<Reply, { failed: string }>;

function lostFault({ name, command, url, seconds }: WorldManifest, { failed, detail }: Lost): WorldFault {
  const what = url ?? (command ?? []).join(' ');
  switch (failed) {
    case 'exit':
      return new WorldFault(
        `The world ${name} (${what}) ended while it was asked: ${detail}`,
        'Run the command in its folder and type a message to see why.',
      );
    case 'silent-end':
      return new WorldFault(
        `The world ${name} (${what}) ended with exit code 0 in the middle of an episode. ${detail}`,
        'Read standard input line by line until it ends, and answer every line; do not leave after the first.',
      );
    case 'timeout':
      return new WorldFault(
        `The world ${name} (${what}) did not answer within ${detail}`,
        `Answer every line with one line, and flush it (Python: print(…, flush=True)). Slow worlds raise "seconds" in world.json (now ${seconds.message} s a message).`,
      );
    case 'unasked':
      return new WorldFault(
        `The world ${name} wrote a line that answers nothing: ${detail}`,
        'Write exactly one line for each line that is read. Print everything else to standard error.',
      );
    case 'too-long':
      return new WorldFault(
        `The world ${name} sent an answer of ${detail}`,
        'Keep observations short, a policy reads every word of them; or raise "bytes" in world.json.',
      );
    case 'no-start':
      return new WorldFault(
        `The world ${name} could not be started with “${what}”: ${detail}`,
        'Correct "command" in world.json; programs are looked for on the PATH.',
      );
  }
}
