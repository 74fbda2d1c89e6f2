// The six steps: what each says, where it leads and what it points at. Every number is read from the study (plan.ts) or from
// the episodes themselves when the tour is loaded.

import type { QueryClient } from '@tanstack/react-query';
import { call, callOptions } from '../bridge.ts';
import type { Claim } from '../../main/lab/features/studies.ts';
import { countVerdicts, headline } from '../compare/claims.tsx';
import { align } from '../compare/divergence.ts';
import { markParting } from '../compare/parting.ts';
import { points } from '../../main/base/format.ts';
import { formatValue } from '../format.ts';
import { filterEpisodes } from '../replay/list-view.ts';
import { writeView } from '../state/view.ts';
import { planTour } from './plan.ts';

export interface TourStep {
  readonly title: string;
  readonly text: string;
  readonly address: string;
  /** The `data-tour-id` of what the step points at. */
  readonly target: string;
  /** Settles the view of the page before it is shown. */
  prepare?(): void;
}

const share = (value: number): string => formatValue(value, 'share');
const apart = (a: number, b: number): string => `${points(Math.abs(a - b))} points`;
const seeds = (count: number): string => `${count} ${count === 1 ? 'seed' : 'seeds'}`;

/** Reads the study and lays the six steps out. */
export async function loadSteps(id: number, client: QueryClient): Promise<TourStep[]> {
  const study = (await call('studies.list', {})).studies.find((one) => one.id === id);
  if (!study) throw new Error('The study of the tour was deleted. Open the sample study again.');
  // As the Compare page asks for it, so that it is worked out once.
  const data = await client.fetchQuery(callOptions('compare.open', { runs: [...study.runs] }));
  const { matrix } = await client.fetchQuery(callOptions('compare.tasks', { runs: [...study.runs] }));
  const plan = planTour({ ...data, matrix });
  if (!plan) throw new Error('The tour needs a study with at least two evaluated arms; this one has fewer.');
  const { better, worse, parting, example } = plan;
  const both = `/compare/${[...better.runs, ...worse.runs].join(',')}`;
  const [first, last] = [better.curve.y[0] ?? 0, better.curve.y.at(-1) ?? 0];
  const run = example?.failer.run ?? worse.runs[0] ?? 0;
  const behind = await episodesBehind([run, ...worse.runs.filter((other) => other !== run)], parting?.update ?? 0);
  const failure = await failureOf(example?.failer.episode ?? null, worse.runs);
  const parted = example ? await partingStep(example.solver.episode, example.failer.episode) : null;
  const { claims } = await call('studies.claims', { id });
  const curvesFirst = (mark: number | null) => (): void => {
    writeView('compare.metric', 'evaluation.success');
    writeView('compare.grouping', '');
    markParting(mark);
  };
  return [
    {
      title: 'Learning curves',
      text: `Each line is one arm: success on validation tasks, averaged over seeds, with a 95% band. ${better.key} (${seeds(better.runs.length)}) starts at ${share(first)} and ends at ${share(last)}.`,
      address: both,
      target: 'curves',
      prepare: curvesFirst(null),
    },
    {
      title: 'Where two arms diverge',
      text: parting
        ? `At update ${parting.update}, ${better.key} solves ${share(parting.better)} and ${worse.key} ${share(parting.worse)}, a difference of ${apart(parting.better, parting.worse)}. The chart marks it. Click any point to see its episodes.`
        : `${better.key} and ${worse.key} were not evaluated at the same updates, so their curves have no common points.`,
      address: both,
      target: 'curves',
      prepare: curvesFirst(parting?.update ?? null),
    },
    {
      title: 'The episodes behind a point',
      text: `Run #${behind.run} of ${worse.key} has ${behind.total} ${behind.total === 1 ? 'episode' : 'episodes'} ${behind.when}; ${behind.failed} failed. Filter the list by outcome, category, failure class and more.`,
      address: `/replay/${behind.run}`,
      target: 'episodes',
      prepare: () => filterEpisodes(behind.run, behind.filter),
    },
    failure
      ? {
          title: 'A failure, step by step',
          text: `“${failure.instruction}” failed: ${failure.failure}. ${failure.evidence} Use the arrow keys to step through its ${failure.steps} steps; every token shows its probability.`,
          address: `/replay/${failure.run}/${failure.episode}`,
          target: 'episode',
          prepare: () => filterEpisodes(failure.run, { success: false }),
        }
      : {
          title: 'A failure, step by step',
          text: 'These runs stored no failed episode, so any episode is shown.',
          address: `/replay/${worse.runs[0] ?? 0}`,
          target: 'episode',
        },
    {
      title: 'Two policies side by side',
      text: example
        ? `On the same task, run #${example.solver.run} (${better.key}) solves ${example.task} and run #${example.failer.run} (${worse.key}) does not. ${parted === null ? 'Their actions are identical.' : `They diverge at step ${parted + 1}.`}`
        : `No stored task separates ${better.key} and ${worse.key}; below are two runs on one stored task.`,
      address: both,
      target: 'side-by-side',
      prepare: () => {
        if (example) writeView('compare.pair', { task: example.task, left: example.solver.run, right: example.failer.run });
      },
    },
    {
      title: 'The verdict',
      text: claims.length > 0 ? verdictOf(claims) : inWords(better, worse),
      address: `/compare/study-${id}`,
      target: claims.length > 0 ? 'verdicts' : 'results',
    },
  ];
}

function verdictOf(claims: readonly Claim[]): string {
  const decided = claims.find((claim) => headline(claim) !== 'inconclusive') ?? claims[0];
  const example = decided ? ` “${decided.claim.replace(/\.$/, '')}”: ${headline(decided)}.` : '';
  const rule = claims.some(({ corrected }) => corrected !== null) ? ', corrected for their number' : '';
  return `The study tests ${claims.length} claims: ${countVerdicts(claims)}${rule}.${example} Open a claim to see the statistics behind it.`;
}

function inWords(better: { key: string; rate: number; runs: readonly number[] }, worse: typeof better): string {
  return `${better.key} solves ${share(better.rate)} of the test tasks on average over ${seeds(better.runs.length)}, ${worse.key} ${share(worse.rate)}, a difference of ${apart(better.rate, worse.rate)}. The table compares each arm with the baseline over seeds and tasks, with intervals and p-values corrected for the number of comparisons.`;
}

/** The episodes of the first of these runs that kept some near the update: those of the update itself, or of a window around it. */
async function episodesBehind(runs: readonly number[], update: number) {
  const count = async (run: number, filter: object): Promise<number> =>
    (await call('episodes.list', { run, filter, order: 'time', descending: true, offset: 0, limit: 1 })).total;
  for (const reach of [0, 2, 5, 10, 25, 100, 1_000_000]) {
    const filter = { fromUpdate: Math.max(0, update - reach), toUpdate: update + reach };
    for (const run of runs) {
      const total = await count(run, filter);
      if (total === 0) continue;
      const when = reach === 0 ? `at update ${update}` : `between updates ${filter.fromUpdate} and ${filter.toUpdate}`;
      return { run, total, filter, when, failed: await count(run, { ...filter, success: false }) };
    }
  }
  return { run: runs[0] ?? 0, total: 0, filter: {}, when: 'stored', failed: 0 };
}

async function failureOf(chosen: number | null, runs: readonly number[]) {
  const found = chosen ?? (await anyFailure(runs));
  if (found === null) return null;
  const { replay } = await call('episodes.read', { episode: found });
  const { instruction, diagnosis, steps, run } = replay;
  const [failure, evidence] = [diagnosis?.failure ?? 'failure', diagnosis?.evidence ?? ''];
  return { run: run.id, episode: found, instruction, steps: steps.length, failure, evidence };
}

async function anyFailure(runs: readonly number[]): Promise<number | null> {
  for (const run of runs) {
    const { episodes } = await call('episodes.list', {
      run,
      filter: { success: false },
      order: 'time',
      descending: true,
      offset: 0,
      limit: 1,
    });
    if (episodes[0]) return episodes[0].id;
  }
  return null;
}

/** Index of the step at which the two episodes part. */
async function partingStep(solver: number, failer: number): Promise<number | null> {
  const [a, b] = await Promise.all([call('episodes.read', { episode: solver }), call('episodes.read', { episode: failer })]);
  return align(a.replay, b.replay).divergence;
}
