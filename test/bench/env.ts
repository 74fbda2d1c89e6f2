// `npm run bench -- env`: how many steps per second each world answers to each agent that needs no learning. The agent's
// own time counts too (it has to act), so the world itself is a little faster than these figures.

import { AGENT_NAMES, createAgent } from '../../main/environment/agents.ts';
import type { Environment, World } from '../../main/environment/environment.ts';
import { WORLDS } from '../../main/environment/registry.ts';
import { Random } from '../../main/random.ts';
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
