// The report of one run, gathered from what the store keeps: its final evaluation beside the reference and the agents
// without learning on the very same tasks, how success developed, where the time went, and why what failed did fail.

import { AGENT_NAMES, createAgent } from '../environment/agents.ts';
import type { Environment, World } from '../environment/environment.ts';
import { findWorld } from '../environment/registry.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { Evaluation, StoredResult } from '../store/evaluations.ts';
import { playAgent, tabulate } from '../evaluation/evaluate.ts';
import { diagnose, failureMeaning, inOrder } from '../evaluation/failures.ts';
import { type FailureExample, type NamedTable, type ReportInput } from './report.ts';
import { interval, percent } from '../base/format.ts';
import { wilson } from '../base/statistics.ts';
import { timeRows, timeSpent } from './timing.ts';

/** Examples of each failure class that are looked up. */
const EXAMPLES = 3;

export function reportOfRun(store: Store, run: Run): ReportInput {
  const evaluation = store.evaluations.finalOrLatest(run.id);
  if (!evaluation) throw new Error(`Run ${run.id} has not been evaluated yet: let it train on, or evaluate it with "lab eval ${run.id}"`);
  const results = store.evaluations.results(evaluation.id);
  const { name, settings } = run.config.world;
  const world = findWorld(store.catalog, name);
  const environment = world.create(settings);
  const own: NamedTable = { name: `run ${run.id} (${run.name})`, table: tabulate(results) };
  return {
    title: `${run.name}: run ${run.id}`,
    about: {
      world: run.world,
      variant: run.variant,
      seed: run.seed,
      state: run.state,
      updates: `${run.updates} of ${run.planned}`,
      episodes: run.episodes,
      'training time': `${run.seconds.toFixed(0)} s`,
      evaluated: `${evaluation.split} tasks at temperature ${evaluation.temperature}, after update ${evaluation.update}`,
      config: run.configHash,
    },
    agents: [own, ...reference(store, run, evaluation), ...baselines(world, environment, results, evaluation)],
    sections: [
      { title: 'Success during training', header: ['update', 'split', 'success', '95% interval'], rows: development(store, run) },
      {
        title: 'Where the time went',
        header: ['part', 'seconds', 'share'],
        rows: timeRows(timeSpent(store, run.id)).map(({ name, seconds, share }) => [name, seconds.toFixed(1), percent(share)]),
      },
    ].filter((section) => section.rows.length > 0),
    examples: examples(store, environment, results),
    commands: [
      `npm run lab -- train --preset ${run.preset ?? 'NAME'} --seed ${run.seed}`,
      `npm run lab -- eval ${run.id} --split ${evaluation.split}`,
    ],
  };
}

/** The reference policy's evaluation on the same split, where the run recorded one. */
function reference(store: Store, run: Run, evaluation: Evaluation): NamedTable[] {
  const found = store.evaluations.list(run.id).findLast((one) => one.agent === 'reference' && one.split === evaluation.split);
  return found ? [{ name: 'reference', table: tabulate(store.evaluations.results(found.id)) }] : [];
}

/** Agents without learning, on the same tasks with the same seeds. */
function baselines(world: World, environment: Environment, results: readonly StoredResult[], evaluation: Evaluation): NamedTable[] {
  const byId = new Map(environment.tasks(evaluation.split).map((task) => [task.id, task]));
  return AGENT_NAMES.map((name) => {
    const agent = createAgent(world, name);
    const played = results.flatMap(({ task, seed }) => {
      const found = byId.get(task);
      return found ? [playAgent(environment, agent, found, seed).result] : [];
    });
    return { name, table: tabulate(played) };
  });
}

function development(store: Store, run: Run): string[][] {
  return store.evaluations
    .list(run.id)
    .filter((evaluation) => evaluation.agent === 'policy')
    .map(({ update, split, success }) => {
      const found = wilson(success.k, success.n);
      return [String(update), split, percent(found.rate), interval(found)];
    });
}

/** A few failed episodes of each class, diagnosed again from what was stored. */
function examples(store: Store, environment: Environment, results: readonly StoredResult[]): FailureExample[] {
  return inOrder(results.flatMap(({ failure }) => failure ?? [])).flatMap((failure) =>
    results
      .filter((result) => result.failure === failure && result.episode !== null)
      .slice(0, EXAMPLES)
      .flatMap(({ task, episode }) => {
        if (episode === null) return [];
        const diagnosis = diagnose(environment, store.trajectories.read(episode), { reachable: failure !== 'unreachable' });
        return diagnosis ? [{ task, failure, meaning: failureMeaning(store.catalog, failure), evidence: diagnosis.evidence }] : [];
      }),
  );
}
