// `lab credit RUN`: which step of an episode earned or lost its reward, by every method of credit and by continuations from each step.

import type { Command } from 'commander';
import { creditMethods } from '../algorithm/credit.ts';
import { duration, percent } from '../base/format.ts';
import { episodeCredit, type EpisodeCredit } from '../replay/credit.ts';
import { textTable } from '../report/report.ts';
import type { Store } from '../store/store.ts';
import { runOfEpisode } from '../store/trajectories.ts';
import { answer, CallError, note } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';
import { wholeNumber } from './shared/work.ts';

interface Options {
  readonly episode?: number;
  readonly group: number;
  readonly branches: number;
  readonly temperature: string;
}

export function register(program: Command): void {
  program
    .command('credit <run>')
    .description('which step earned or lost the reward of an episode: every method of credit, and exact values by continuations')
    .option('--episode <id>', 'a stored episode (default: the newest test episode, else the newest of all)', wholeNumber('--episode', 1))
    .option('--group <n>', 'episodes of the task that are compared, the stored one among them', wholeNumber('--group', 2), 8)
    .option('--branches <k>', 'continuations from the state before each step', wholeNumber('--branches', 1), 16)
    .option('--temperature <t>', 'of the policy that plays on', '1')
    .action((reference: string, options: Options) => withStore((store) => credit(store, findRun(store, reference), options)));
}

async function credit(store: Store, run: number, { episode, group, branches, temperature }: Options): Promise<void> {
  const heat = Number(temperature);
  if (temperature.trim() === '' || !(heat >= 0 && heat <= 10))
    throw new CallError(`--temperature takes a number from 0 to 10, not "${temperature}"`);
  const id = episode ?? newestEpisode(store, run);
  if (runOfEpisode(id) !== run) throw new CallError(`Episode ${id} is of run ${runOfEpisode(id)}, not of run ${run}`);
  const begin = performance.now();
  let shown = begin;
  const found = await episodeCredit(store.catalog, {
    dataFolder: store.dataFolder,
    episode: id,
    group,
    branches,
    temperature: heat,
    progress: (done, total) => {
      const now = performance.now();
      if (now - shown < 1000) return;
      shown = now;
      note(`${done} of ${total} episodes played; ${duration((((now - begin) / 1000) * (total - done)) / done)} left`);
    },
  });
  answer(found, described(found));
}

/** The newest of the final test, else the newest of all. */
function newestEpisode(store: Store, run: number): number {
  const newest = (purpose?: 'evaluation') => store.episodes.page(run, { ...(purpose && { purpose }) }, 'time', true, 1000).episodes;
  const found = newest('evaluation').find(({ split }) => split === 'test') ?? newest()[0];
  if (found) return found.id;
  throw new CallError(`Run ${run} has no stored episode`, 'set retention.keep to all or evaluation and train it again');
}

const signed = (value: number): string => (value > 0 ? '+' : '') + value.toFixed(3);

function described({ episode, run, task, success, update, group, steps, lostAt, cost }: EpisodeCredit): string {
  const rows = steps.map(({ step, action, advantages, trained, exact }) => [
    `${step}${step === lostAt ? ' ←' : ''}`,
    action.slice(0, 40),
    ...creditMethods.map((method) => signed(advantages[method])),
    trained === null ? '' : signed(trained),
    `${exact.k} of ${exact.n}`,
    `${percent(exact.low)}–${percent(exact.high)}`,
  ]);
  const columns = ['step', 'action', ...creditMethods, 'trained', 'succeed from here', '95%'];
  return [
    `Episode ${episode} of run ${run}, task ${task}: ${success ? 'success' : 'failure'}. Played on with the checkpoint of update ${update}, group of ${group}.`,
    textTable(columns, rows),
    ...(lostAt === null ? [] : [`Lost at step ${lostAt}, marked ←: the largest fall of the chance to succeed.`]),
    `Played for it: ${cost.episodes} episodes, ${cost.steps} steps, ${cost.tokens} tokens.`,
  ].join('\n');
}
