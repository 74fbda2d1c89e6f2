// Whether a policy's context holds the pages that its world shows. A page that does not fit is cut off at its end, where the
// rest of it is needed as much; so a run that would read nothing but beginnings is refused before it is made, with the length that would do.

import { ConfigError } from '../../config/config.ts';
import type { Environment } from '../../environment/environment.ts';
import { answerReserve, encodePage } from '../../policy/model/chat-text.ts';
import { ACTION_RESERVE } from '../../policy/text/prompt.ts';
import type { RunSetup } from '../run-setup.ts';

/** Tasks that are looked at. */
const TASKS = 60;
/** Marks around the task, an earlier part and a page. */
const MARKS = 5;

interface PageLengths {
  /** Tokens of the longest first page and of the longest page of all. */
  readonly task: number;
  readonly page: number;
  /** Tokens of the longest episode that takes the oracle's steps. */
  readonly episode: number;
}

/** What somebody who takes the shortest way is shown. */
export function pageLengths(environment: Environment, tokenizer: { encode(text: string): { readonly length: number } }): PageLengths {
  const longest = { task: 0, page: 0, episode: 0 };
  for (const task of environment.tasks('train').slice(0, TASKS)) {
    let turn = environment.reset(task, 1);
    let total = 0;
    for (let step = 0; !turn.done && step <= environment.maxSteps; step++) {
      const tokens = tokenizer.encode(turn.observation).length;
      if (step === 0) longest.task = Math.max(longest.task, tokens);
      longest.page = Math.max(longest.page, tokens);
      total += tokens + 2;
      const action = environment.oracle(turn.state);
      if (action === undefined) break;
      total += tokenizer.encode(action).length;
      turn = environment.step(turn.state, action);
    }
    longest.episode = Math.max(longest.episode, total);
  }
  return longest;
}

/** Tokens beside the task and one page: the turns' frames, and what may be said. */
function framing({ config: { policy }, codec }: Pick<RunSetup, 'config' | 'codec'>): number {
  if (!('chat' in codec)) return ACTION_RESERVE + (policy.thoughts ? policy.thoughtTokens + 1 : 0) + MARKS;
  const { opening, answering, turning } = codec.template;
  // The first answer stays in the context with the task.
  return 2 * (opening.length + answering.length) + turning.length + 2 * answerReserve(codec.prompt);
}

/** Refuses to clone a reference that could read only the beginnings of its world's pages. Only worlds with long pages are looked at. */
export function checkPagesFit(setup: Pick<RunSetup, 'config' | 'environment' | 'codec'>): void {
  const { environment, codec, config } = setup;
  if (environment.lexicon.longPages === undefined) return;
  const { task, page, episode } = pageLengths(
    environment,
    'chat' in codec ? { encode: (text) => encodePage(codec, text) } : codec.tokenizer,
  );
  // A language model may have less than is asked for.
  const { contextLength } = 'chat' in codec ? codec.prompt : config.policy;
  const needed = task + page + framing(setup);
  if (needed <= contextLength) return;
  throw new ConfigError(
    `policy.contextLength: whole pages have up to ${page} tokens here and the task up to ${task}: expected at least ${needed} (${episode} hold an episode on the shortest way), ` +
      `found ${contextLength}. Set policy.contextLength=${Math.ceil(needed / 64) * 64}, or ${environment.lexicon.longPages}`,
  );
}
