// `lab demo` (npm run demo): the whole idea in about a minute. Trains the flagship in small, then plays test tasks with what was learned and
// with everyone it should be compared with, and says where to look next.

import type { Command } from 'commander';
import { AGENT_NAMES, createAgent } from '../environment/agents.ts';
import { evaluationSeed, playAgent, tabulate } from '../evaluation/evaluate.ts';
import { evaluatePolicy } from '../evaluation/play.ts';
import { policyOfRun, referencePolicy, type StoredPolicy } from '../replay/policies.ts';
import { duration, percent } from '../base/format.ts';
import { summaryText } from '../report/report.ts';
import { newRun } from '../queue/new-run.ts';
import { FLAGSHIP, loadPreset } from '../config/presets.ts';
import { worldHash } from '../training/run-setup.ts';
import { answer, note } from './shared/output.ts';
import { withStore } from './shared/store.ts';
import { trainHere } from './train.ts';

const PRESET = 'shop-minute';
const TASKS = 200;

export function register(program: Command): void {
  program
    .command('demo')
    .description('train a small policy in about a minute and compare it with the baselines')
    .action(() =>
      withStore(async (store) => {
        const preset = loadPreset(store.catalog, PRESET);
        note(`${preset.title}. ${preset.description}`);
        const { id } = store.runs.create(newRun(store.catalog, preset.config, PRESET, ['demo']));
        await trainHere(store, id);
        const run = store.runs.get(id);
        if (run.state !== 'done') throw new Error(`The demo's run ended as ${run.state}${run.reason === null ? '' : `: ${run.reason}`}`);

        const trained = policyOfRun(store, id);
        const reference = await referencePolicy(store, trained.setup);
        const { world, environment } = trained.setup;
        const tasks = environment.tasks('test').slice(0, TASKS);
        const rows = [
          ...AGENT_NAMES.map((name) => {
            const agent = createAgent(world, name);
            return { name, table: tabulate(tasks.map((task) => playAgent(environment, agent, task, evaluationSeed(task, 1)).result)) };
          }),
          { name: 'reference, greedy', table: await play(reference, 0) },
          { name: 'trained, greedy', table: await play(trained, 0) },
          { name: 'reference, sampled', table: await play(reference, 1) },
          { name: 'trained, sampled', table: await play(trained, 1) },
        ];
        const [before, after] = rows.slice(-2).map(({ table }) => table.success);
        await trained.player.sampler.dispose();
        await reference.player.sampler.dispose();
        answer(
          { run: id, seconds: run.seconds, agents: Object.fromEntries(rows.map(({ name, table }) => [name, table])) },
          [
            '',
            `Test tasks (targets never seen in training), ${TASKS} each:`,
            summaryText(rows),
            '',
            `${run.episodes} episodes in ${duration(run.seconds)} of updates took the policy from ${percent(before?.rate ?? 0)} (the reference) to ${percent(after?.rate ?? 0)}, sampled as in training.`,
            `Run ${id} is stored in ${store.dataFolder}.`,
            'Next: npm start (the window: curves, episodes, comparison), or',
            `  npm run lab -- eval ${id}         why episodes failed`,
            `  npm run lab -- metrics ${id}      every recorded number`,
            `  npm run lab -- train --preset ${FLAGSHIP}     the flagship itself`,
          ].join('\n'),
        );
      }),
    );
}

/** Temperature 0 always takes the likeliest token; 1 draws, as episodes in training do. */
async function play({ player, setup, update }: StoredPolicy, temperature: 0 | 1): Promise<ReturnType<typeof tabulate>> {
  const { environment } = setup;
  const hash = worldHash(environment, environment.levels - 1);
  const request = {
    split: 'test',
    tasks: TASKS,
    temperature,
    seed: 1,
    update,
    kind: 'manual',
    agent: 'policy',
    worldHash: hash,
  } as const;
  return tabulate((await evaluatePolicy(player, request)).results);
}
