// One study from its definition to its verdicts: tune where the definition asks for it, train every arm with every seed,
// evaluate the baselines once, decide the claims, and keep all of it as a study of the store. May be stopped or killed at any
// time: called again it continues, because every part finds what is there already. Without `work` it trains nothing and
// decides from the runs that are finished.

import { AGENT_NAMES, createAgent } from '../environment/agents.ts';
import { evaluationSeed, playAgent } from '../evaluation/evaluate.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { referencePolicy } from '../replay/policies.ts';
import type { Run, RunSummary } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { applyOverrides } from '../config/overrides.ts';
import { openRun, worldHash } from '../training/run-setup.ts';
import { BASELINES, type StudyDefinition } from './definition.ts';
import { armRecord, decide, resultsOf } from './findings.ts';
import { changesSince, freeze } from './freeze.ts';
import { armConfig, armsToTune, chosenArms, equalTokens, type PlanOptions, planRuns, seedsOf, type Tuned, tunedRoots } from './plan.ts';
import { readRecord, StudyRecord, type TuningRecord } from './record.ts';
import { tune, type Tuning } from './tune.ts';
import { finishedRuns, sameRun, trainAll, type WorkOptions } from './work.ts';

export interface StudyOptions extends PlanOptions {
  /** Settings found before; null tunes here. */
  readonly tuned: Tuned | null;
  /** What is being done, for people. */
  readonly stage?: (text: string) => void;
}

export async function runStudy(
  store: Store,
  name: string,
  definition: StudyDefinition,
  asked: StudyOptions,
  work: WorkOptions | null,
): Promise<{ record: StudyRecord; failed: Run[] }> {
  const existing = readRecord(store.studies.find(name)?.plan);
  const frozen = existing ? existing.frozen : freeze(definition, new Date());
  // Kept before the first run starts: what is decided later was said before there was anything to see.
  if (work && !existing) keep(store, name, emptyRecord(name, definition, asked, { tuned: {}, tuning: [], frozen }));
  const before = sameStudy(store, name, asked);
  const { tuned, tuning } = await tunedSettings(store, definition, asked, work, before);
  const updatesOf = definition.equalise === 'tokens' ? await pilots(store, definition, asked, tuned, work) : {};
  const options = { ...asked, updatesOf };
  let failed: Run[] = [];
  if (work) {
    const planned = planRuns(store.catalog, definition, options, tuned);
    options.stage?.(
      `Training ${planned.length} runs of ${chosenArms(definition, options.only).length} arms, seeds ${options.seeds.join(', ')}`,
    );
    const { preset } = definition.base;
    const wanted = planned.map(({ arm, config }) => ({ config, preset, tags: [`study ${name}`, arm] }));
    failed = (await trainAll(store, wanted, work)).filter(({ state }) => state !== 'done');
  }
  const arms = finishedArms(store, definition, { ...options, only: null }, tuned);
  const holder = arms.flatMap(({ runs }) => runs)[0];
  if (holder) {
    options.stage?.('Evaluating the baselines on the test tasks');
    await evaluateBaselines(store, store.runs.get(holder.id));
  }
  const record = {
    ...emptyRecord(name, definition, options, { tuned, tuning, frozen }),
    arms: arms.map(({ id, title, runs }) => armRecord(store, id, title, runs)),
    baselines: holder?.uid ?? null,
  };
  return { record: keep(store, name, judged(store, record, definition)), failed };
}

/** The record of a study before its runs. */
function emptyRecord(
  name: string,
  { title, question, discussion, equalise }: StudyDefinition,
  { updates, updatesOf, seeds, set }: StudyOptions,
  known: Pick<StudyRecord, 'tuning' | 'frozen'> & { readonly tuned: Tuned },
): StudyRecord {
  const asked = { updates, updatesOf, seeds: [...seeds], set: [...set] };
  return StudyRecord.parse({
    astrolab: 'study',
    definition: name,
    title,
    question,
    discussion,
    equalise,
    ...asked,
    ...known,
    arms: [],
    baselines: null,
    claims: [],
  });
}

/** The record with the definition's claims decided from its runs; also after claims or discussion were edited. */
export function judged(store: Store, record: StudyRecord, definition: StudyDefinition): StudyRecord {
  const { title, question, discussion } = definition;
  const titles = (id: string): string => definition.arms.find((arm) => arm.id === id)?.title ?? id;
  const changes = record.frozen ? changesSince(record.frozen, definition) : [];
  const listed = changes.map(({ key, before, after }) => ({ key, before: plainJson(before), after: plainJson(after) }));
  return {
    ...record,
    title,
    question,
    discussion,
    changes: listed,
    claims: decide(store.catalog, definition, resultsOf(store, record), titles),
  };
}

/** A value of a definition, which came out of JSON; null where there was none. */
const plainJson = (value: unknown): StudyRecord['changes'][number]['before'] => JSON.parse(JSON.stringify(value ?? null));

/** Saves the record as the study's plan, with the finished runs of its arms as the study's runs. */
export function keep(store: Store, name: string, record: StudyRecord): StudyRecord {
  const uids = [...new Set(record.arms.flatMap(({ runs }) => runs.map(({ uid }) => uid)))];
  const runs = uids.flatMap((uid) => store.runs.findByUid(uid)?.id ?? []);
  store.write(() => {
    const study = store.studies.find(name) ?? store.studies.create(name, []);
    store.studies.change(study.id, { plan: record });
    store.studies.removeRuns(study.id, study.runs);
    store.studies.addRuns(study.id, runs);
  });
  return record;
}

/** The record of an earlier call with the same budget and changes. */
function sameStudy(store: Store, name: string, { updates, set }: PlanOptions): StudyRecord | undefined {
  const record = readRecord(store.studies.find(name)?.plan);
  return record?.updates === updates && record.set.join('\n') === set.join('\n') ? record : undefined;
}

/** One run of each arm with the tuner's seed, to learn how many tokens an update takes; not one of the study's runs. */
async function pilots(
  store: Store,
  definition: StudyDefinition,
  options: StudyOptions,
  tuned: Tuned,
  work: WorkOptions | null,
): Promise<Record<string, number>> {
  const ready = chosenArms(definition, options.only).filter((arm) =>
    tunedRoots(definition, arm).every((root) => tuned[root] !== undefined),
  );
  const wanted = ready.map((arm) => {
    const config = armConfig(store.catalog, definition, arm, options, tuned);
    const changes = [`seed=${definition.tuning.seed}`, 'evaluation.every=0', 'evaluation.finalTasks=0', `name=pilot ${arm.id}`];
    return { config: applyOverrides(store.catalog, config, changes), preset: definition.base.preset, tags: ['pilot', arm.id] };
  });
  if (work) options.stage?.(`Counting the tokens of an update with one pilot run for each of ${wanted.length} arms`);
  const runs = work ? await trainAll(store, wanted, work) : finishedRuns(store, wanted);
  const tokens = ready.flatMap(({ id }, place): [string, number][] => {
    const run = runs[place];
    return run && run.updates > 0 ? [[id, run.tokens / run.updates]] : [];
  });
  return equalTokens(new Map(tokens), options.updates);
}

async function tunedSettings(
  store: Store,
  definition: StudyDefinition,
  options: StudyOptions,
  work: WorkOptions | null,
  before: StudyRecord | undefined,
): Promise<{ tuned: Tuned; tuning: TuningRecord[] }> {
  if (options.tuned) return { tuned: options.tuned, tuning: [] };
  const { preset } = definition.base;
  const subjects = armsToTune(definition, options.only).map((arm) => ({
    id: arm.id,
    preset,
    config: armConfig(store.catalog, definition, arm, options, {}),
  }));
  const { trials } = definition.tuning;
  if (work && subjects.length > 0)
    options.stage?.(
      `Tuning ${subjects.length} ${subjects.length === 1 ? 'arm' : 'arms'} with ${trials} trials each: ${subjects.map(({ id }) => id).join(', ')}`,
    );
  const found = await tune(store, subjects, definition.tuning, work);
  const earlier = before?.tuning.filter(({ subject }) => !found.some((one) => one.subject === subject)) ?? [];
  return {
    tuned: { ...before?.tuned, ...Object.fromEntries(found.map(({ subject, best }) => [subject, best.settings])) },
    tuning: [...earlier, ...found.map(tuningRecord)],
  };
}

function tuningRecord({ subject, variant, best, words, trials }: Tuning): TuningRecord {
  const rows = trials.map(({ trial, settings, uid, success, return: mean }) => ({ trial, settings, uid, success, return: mean }));
  return { subject, variant, best: best.trial, words, trials: rows };
}

/** Every arm that has finished runs of this plan, whichever call trained them. */
function finishedArms(
  store: Store,
  definition: StudyDefinition,
  options: PlanOptions,
  tuned: Tuned,
): { id: string; title: string; runs: RunSummary[] }[] {
  return definition.arms.flatMap((arm) => {
    if (tunedRoots(definition, arm).some((root) => tuned[root] === undefined)) return [];
    const config = armConfig(store.catalog, definition, arm, options, tuned);
    const runs = seedsOf(arm, options.seeds).flatMap((seed) => sameRun(store, { ...config, seed }) ?? []);
    const done = runs.filter(({ state }) => state === 'done');
    return done.length > 0 ? [{ id: arm.id, title: arm.title, runs: done }] : [];
  });
}

/** The reference and the agents without learning on the same test tasks, kept with one run of the study. */
async function evaluateBaselines(store: Store, run: Run): Promise<void> {
  const known = (name: string): boolean => store.evaluations.list(run.id).some(({ agent }) => agent === name);
  // Another lab that runs the same study may have been faster.
  const add = (report: Parameters<typeof store.evaluations.add>[1]): void =>
    store.write(() => {
      if (!known(report.agent)) store.evaluations.add(run.id, report, []);
    });
  const missing = BASELINES.filter((name) => !known(name));
  if (missing.length === 0) return;
  const { config } = run;
  const { finalTasks: tasks, temperature } = config.evaluation;
  const setup = openRun(store.catalog, config, { dataFolder: store.dataFolder });
  const { environment, world } = setup;
  const about = { update: 0, kind: 'manual', split: 'test', worldHash: worldHash(environment, environment.levels - 1) } as const;
  for (const name of missing) {
    const agent = AGENT_NAMES.find((other) => other === name);
    if (agent) {
      const player = createAgent(world, agent);
      const begin = performance.now();
      const chosen = environment.tasks('test').slice(0, tasks);
      const results = chosen.map((task) => playAgent(environment, player, task, evaluationSeed(task, 1)).result);
      const seconds = (performance.now() - begin) / 1000;
      add({ ...about, agent: name, world: environment.name, temperature: 0, seconds, results });
    } else {
      const { player } = await referencePolicy(store, setup);
      const { episodes: _episodes, ...report } = await evaluatePolicy(player, { ...about, agent: name, tasks, temperature, seed: 1 });
      await player.sampler.dispose();
      add(report);
    }
  }
}
