// `lab eval`: play fixed tasks (test unless --split says otherwise) without learning and say how well it went: success with its interval, return, steps,
// per category and tier, and why episodes failed. Who plays is a run, or an agent that needs no learning (--agent with --world).

import { Option, type Command } from 'commander';
import { AGENT_NAMES, type AgentName, createAgent } from '../environment/agents.ts';
import type { Environment, Task, World } from '../environment/environment.ts';
import type { Split } from '../base/vocabulary.ts';
import { againstReference } from '../evaluation/against.ts';
import { conductedEpisodes, conductOf } from '../evaluation/conduct.ts';
import { evaluationSeed, type EvaluationTable, playAgent, tabulateIn } from '../evaluation/evaluate.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { policyOfRun, referencePolicy, type StoredPolicy } from '../replay/policies.ts';
import { conductRows } from '../report/conduct-text.ts';
import { evaluationText, summaryText, textTable } from '../report/report.ts';
import type { Store } from '../store/store.ts';
import { parseConfig } from '../config/config.ts';
import { loadPreset } from '../config/presets.ts';
import type { EvaluationReport, EvaluationResult } from '../evaluation/evaluation-report.ts';
import { openRun, worldHash } from '../training/run-setup.ts';
import { catalog } from './shared/catalog.ts';
import { answer, CallError, dataFolder, note } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';
import { addWorldOptions, makeEnvironment, namedWorld, type WorldOptions, worldSettings } from './shared/world-options.ts';

interface EvalOptions extends WorldOptions {
  readonly world?: string;
  readonly agent?: AgentName | 'reference' | 'all';
  readonly preset?: string;
  readonly checkpoint?: number | 'best';
  readonly temperature: number;
  readonly beam: number;
  readonly prune: number;
  readonly split: Split;
  readonly tasks: number;
  readonly seed: number;
  readonly draws: number;
}

export function register(program: Command): void {
  addWorldOptions(program.command('eval [run]'))
    .description('evaluate a run, or an agent without learning, on fixed tasks of a split')
    .option(
      '--world <name>',
      `the world, when an agent plays (${catalog()
        .worlds.map(({ name }) => name)
        .join(', ')})`,
    )
    .addOption(new Option('--agent <name>', 'who plays instead of a run').choices([...AGENT_NAMES, 'reference', 'all']))
    .addOption(new Option('--split <name>', 'which tasks').choices(['test', 'validation', 'train']).default('test'))
    .option('--tasks <n>', 'how many of them', wholeNumber('--tasks'), 500)
    .option('--temperature <t>', 'of a policy; 0 takes the most probable token', decimal('--temperature'), 0)
    .option('--beam <width>', 'of a policy: search the most probable answer among so many hypotheses', wholeNumber('--beam'), 1)
    .option('--prune <nats>', 'with --beam: drop hypotheses that are so much less probable; 0: none', decimal('--prune'), 0)
    .option('--checkpoint <update>', 'of the run: the update, or `best` (validation); default is the newest', checkpointNumber)
    .option('--preset <name>', 'whose reference plays, with --agent reference (default: the world’s flagship)')
    .option('--seed <n>', 'seed of the episodes', wholeNumber('--seed'), 1)
    .option(
      '--draws <n>',
      'of a run: number of times that it and its reference draw each task for their comparison',
      wholeNumber('--draws'),
      1,
    )
    .action((run: string | undefined, options: EvalOptions) => {
      if (run === undefined && options.checkpoint !== undefined) throw new CallError('--checkpoint belongs to a run; give the run');
      if (options.beam < 1 || options.beam > 64) throw new CallError(`--beam takes 1 to 64, found ${options.beam}`);
      if (run !== undefined && options.agent !== undefined) throw new CallError('Give a run or --agent, not both');
      checkDraws(run, options);
      if (run !== undefined) return evaluateRun(run, options);
      return options.agent === 'reference' ? evaluateReference(options) : evaluateAgents(options);
    });
}

/** Plays the policy of a run on fixed tasks, with the baselines beside it, and keeps the result. */
async function evaluateRun(reference: string, options: EvalOptions): Promise<void> {
  await withStore(async (store) => {
    const run = findRun(store, reference);
    const policy = policyOfRun(store, run, updateOf(store, run, options.checkpoint));
    const report = await play(policy, 'policy', options);
    const { episodes: _episodes, ...outcome } = report;
    store.evaluations.add(run, outcome, []);
    const reads = await referencePolicy(store, policy.setup, (done, total) => {
      if (done % 50 === 0) note(`cloning the reference: ${done} of ${total}`);
    });
    const { world, environment } = policy.setup;
    const tasks = chooseTasks(environment, options);
    const { results: before } = await play(reads, 'reference', options);
    const against = againstReference(
      store.catalog,
      policy.setup.config,
      [...report.results, ...(await furtherDraws(policy, 'policy', options))],
      [...before, ...(await furtherDraws(reads, 'reference', options))],
    );
    const baselines = [
      ...AGENT_NAMES.map((name) => ({ name, table: agentTable(world, environment, name, tasks, options.seed) })),
      { name: 'reference', table: tabulateIn(environment, before) },
    ];
    const own = { name: `run ${run}`, table: tabulateIn(environment, report.results) };
    const kept = (index: number) => report.episodes[index]?.steps ?? null;
    const conduct = conductOf(environment, conductedEpisodes(environment, report.split, report.results, kept));
    await policy.player.sampler.dispose();
    await reads.player.sampler.dispose();
    const { update, split, temperature } = report;
    const { beam } = options;
    const byName = Object.fromEntries(baselines.map(({ name, table }) => [name, table]));
    answer(
      {
        run,
        update,
        world: report.world,
        split,
        temperature,
        beam,
        tasks: report.results.length,
        ...own.table,
        conduct,
        baselines: byName,
        againstReference: against,
      },
      [
        evaluationText(own),
        textTable(['how it went', ''], conductRows(conduct)),
        summaryText([own, ...baselines]),
        ...(against ? [against.words] : []),
      ].join('\n\n'),
    );
  });
}

/** The draws after the first, which alone is in the tables: draws of one task are no further tasks. */
async function furtherDraws(policy: StoredPolicy, agent: string, options: EvalOptions): Promise<EvaluationResult[]> {
  const drawn: EvaluationResult[] = [];
  for (let draw = 1; draw < options.draws; draw++) {
    note(`${agent}: draw ${draw + 1} of ${options.draws}`);
    drawn.push(...(await play(policy, agent, { ...options, seed: options.seed + draw })).results);
  }
  return drawn;
}

function checkDraws(run: string | undefined, { draws, temperature, beam }: EvalOptions): void {
  if (draws < 1 || draws > 64) throw new CallError(`--draws takes 1 to 64, found ${draws}`);
  if (draws > 1 && run === undefined) throw new CallError('--draws belongs to a run; give the run');
  if (draws > 1 && (temperature === 0 || beam > 1))
    throw new CallError('--draws needs something to draw: without a temperature every draw is the same', 'Add --temperature 1');
}

/** The update of a checkpoint; undefined is the newest. */
function updateOf(store: Store, run: number, wanted: number | 'best' | undefined): number | undefined {
  if (wanted === undefined) return undefined;
  const { best } = store.runs.get(run);
  const update = wanted === 'best' ? best?.update : wanted;
  if (update === undefined)
    throw new CallError(`Run ${run} has no validation yet, so it has no best checkpoint`, 'Give the update instead');
  const kept = store.checkpoints.list(run).map((checkpoint) => checkpoint.update);
  if (!kept.includes(update))
    throw new CallError(`Run ${run} has no checkpoint of update ${update}`, `It has ${kept.join(', ') || 'none'}`);
  return update;
}

/** The reference policy that the world's flagship preset (or --preset) describes, in the world as the command line sets it. */
async function evaluateReference(options: EvalOptions): Promise<void> {
  const world = namedWorld(options.world);
  const preset = options.preset ?? world.flagship;
  if (preset === undefined) throw new CallError(`The world ${world.name} has no preset: choose the reference policy with --preset`);
  const { config } = loadPreset(catalog(), preset);
  if (config.world.name !== world.name)
    throw new CallError(`The preset ${preset} is for the world ${config.world.name}, not for ${world.name}`);
  const settings = { ...config.world.settings, ...worldSettings(world, options) };
  const setup = openRun(catalog(), parseConfig(catalog(), { ...config, world: { ...config.world, settings } }), {
    dataFolder: dataFolder(),
  });
  await withStore(async (store) => {
    const policy = await referencePolicy(store, setup, (done, total) => {
      if (done % 50 === 0) note(`cloning the reference: ${done} of ${total}`);
    });
    const report = await play(policy, 'reference', options);
    await policy.player.sampler.dispose();
    const named = { name: 'reference', table: tabulateIn(setup.environment, report.results) };
    const about = { world: world.name, split: options.split, tasks: report.results.length, seed: options.seed, preset };
    answer({ agent: 'reference', ...about, ...named.table }, evaluationText(named));
  });
}

function play({ player, setup, update }: StoredPolicy, agent: string, options: EvalOptions): Promise<EvaluationReport> {
  const { environment } = setup;
  const hash = worldHash(environment, environment.levels - 1);
  const { split, tasks, seed, temperature, beam: width, prune } = options;
  // A different name, so that nothing takes it for the run's decisive evaluation.
  const name = width > 1 ? `${agent}, beam ${width}${prune > 0 ? ` pruned at ${prune}` : ''}` : agent;
  const request = {
    split,
    tasks,
    temperature,
    beam: { width, prune },
    seed,
    update,
    kind: 'manual',
    agent: name,
    worldHash: hash,
  } as const;
  return evaluatePolicy(player, request);
}

function agentTable(world: World, environment: Environment, agent: AgentName, tasks: readonly Task[], seed: number): EvaluationTable {
  const player = createAgent(world, agent);
  return tabulateIn(
    environment,
    tasks.map((task) => playAgent(environment, player, task, evaluationSeed(task, seed)).result),
  );
}

function evaluateAgents(options: EvalOptions): void {
  if (options.agent === undefined || options.agent === 'reference')
    throw new CallError('Expected a run or --agent', `npm run lab -- eval --world ${catalog().worlds[0]?.name} --agent random`);
  const world = namedWorld(options.world);
  const environment = makeEnvironment(world, options);
  const tasks = chooseTasks(environment, options);
  const agents = options.agent === 'all' ? AGENT_NAMES : [options.agent];
  const tables = agents.map((agent) => ({ name: agent, table: agentTable(world, environment, agent, tasks, options.seed) }));
  const [only] = tables;
  const about = { world: world.name, split: options.split, tasks: tasks.length, seed: options.seed };
  if (tables.length === 1 && only) return answer({ agent: only.name, ...about, ...only.table }, evaluationText(only));
  const byAgent: Record<string, EvaluationTable> = Object.fromEntries(tables.map(({ name: agent, table }) => [agent, table]));
  return answer({ ...about, agents: byAgent }, summaryText(tables));
}

/** The first tasks of a split, in the world's fixed order. */
function chooseTasks(environment: Environment, options: EvalOptions): readonly Task[] {
  const all = environment.tasks(options.split);
  if (all.length === 0) throw new CallError(`${environment.name} has no ${options.split} tasks`);
  if (options.tasks < 1) throw new CallError(`--tasks takes at least 1, found ${options.tasks}`);
  if (all.length < options.tasks) note(`${environment.name} has ${all.length} ${options.split} tasks; all of them are played`);
  return all.slice(0, options.tasks);
}

function decimal(option: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < 0)
      throw new CallError(`${option} takes a number from 0 up, not "${text}"`);
    return value;
  };
}

function checkpointNumber(text: string): number | 'best' {
  return text === 'best' ? text : wholeNumber('--checkpoint')(text);
}

function wholeNumber(option: string): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text)) throw new CallError(`${option} takes a whole number, not "${text}"`);
    return Number(text);
  };
}
