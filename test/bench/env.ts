// `npm run bench -- env`: how many steps per second each world answers to each agent that needs no learning. The agent's
// own time counts too (it has to act), so the world itself is a little faster than these figures. Then which share of a
// training run's time the world takes: a few updates of the flagship preset (goal: under 3%).

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT_NAMES, createAgent } from '../../main/environment/agents.ts';
import type { Environment, World } from '../../main/environment/environment.ts';
import { WORLDS } from '../../main/environment/registry.ts';
import { projectFolder } from '../../main/paths.ts';
import { Random } from '../../main/random.ts';
import { Store } from '../../main/store/store.ts';
import { type BenchRow, median, report } from './report.ts';

const REPEATS = 3;
const SECONDS = 0.4;

const rows: BenchRow[] = [];
for (const world of WORLDS) {
  const started = performance.now();
  const environment = world.create({});
  const tasks = environment.tasks('test');
  rows.push({ name: `${world.name}: made ready`, ours: performance.now() - started, peer: null, unit: 'ms', better: 'lower', goal: null });
  for (const name of AGENT_NAMES) {
    const rates = Array.from({ length: REPEATS }, () => stepsPerSecond(world, environment, name, tasks));
    rows.push({ name: `${world.name}: ${name}`, ours: median(rates), peer: null, unit: 'steps/s', better: 'higher', goal: null });
  }
}
rows.push({
  name: 'shop: share of a training run',
  ours: shareOfTraining() * 100,
  peer: null,
  unit: '%',
  better: 'lower',
  goal: 3,
  absolute: true,
});
report(rows, 'none: the original environments are not part of this repository');

function stepsPerSecond(
  world: World,
  environment: Environment,
  name: (typeof AGENT_NAMES)[number],
  tasks: ReturnType<Environment['tasks']>,
): number {
  const agent = createAgent(world, name);
  const random = Random.from('bench-env', name);
  const start = performance.now();
  let steps = 0;
  for (let episode = 0; performance.now() - start < SECONDS * 1000; episode++) {
    const task = tasks[episode % tasks.length];
    if (!task) throw new Error(`${world.name} has no test tasks`);
    let turn = environment.reset(task, episode);
    while (!turn.done) {
      turn = environment.step(turn.state, agent.act(environment, turn, random.next));
      steps++;
    }
  }
  return (steps / (performance.now() - start)) * 1000;
}

/** Seconds inside the world ÷ seconds of all updates, in a short run of the flagship with a hasty reference policy. */
function shareOfTraining(): number {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-env-'));
  const changes = [
    'reference.demonstrations=200',
    'reference.steps=10',
    'vstar.samples=[2]',
    'training.updates=4',
    'training.batch=64',
    'training.tasks=64',
    'evaluation.every=0',
    'evaluation.finalTasks=10',
  ];
  try {
    const args = ['train', '--preset', 'shop-astar-po', '--data', folder, '--json', ...changes.flatMap((change) => ['--set', change])];
    const { status, stderr } = spawnSync(process.execPath, [join(projectFolder(), 'main', 'cli.ts'), ...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`The training run failed:\n${stderr}`);
    const store = Store.read(folder);
    const run = store.runs.list()[0]?.id ?? 1;
    const seconds = (name: string): number => store.metrics.series(run, name).values.reduce((sum, value) => sum + value, 0);
    const share = seconds('system/time.environment') / seconds('system/time.total');
    store.close();
    return share;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
