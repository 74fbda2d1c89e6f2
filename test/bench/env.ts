// `npm run bench -- env`: how many steps per second each world answers to each agent that needs no learning. The agent's
// own time counts too (it has to act), so the world itself is a little faster than these figures. Then which share of a
// training run's time the world takes: a few updates of the flagship preset (goal: under 3%). A trivial world in Python, in other processes,
// stands beside them (goal: 5,000 turns a second with batching).

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT_NAMES, createAgent } from '../../main/environment/agents.ts';
import type { Environment, Plain, Turn, World } from '../../main/environment/environment.ts';
import { closeWorlds, externalWorld } from '../../main/environment/external/external.ts';
import { readManifest } from '../../main/environment/external/manifest.ts';
import { BUILT_IN_WORLDS } from '../../main/environment/registry.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { Random } from '../../main/base/random.ts';
import { Store } from '../../main/store/store.ts';
import { type BenchRow, median, report } from './report.ts';

const REPEATS = 3;
const SECONDS = 0.4;
const TRIVIAL_PYTHON = `from astrolab_world import serve

class Trivial:
    def reset(self, seed=0, options=None):
        self.steps = 0
        return "begin", {}

    def step(self, action):
        self.steps += 1
        return "page %d" % self.steps, 0.0, self.steps >= 10, False, {}

serve(Trivial)
`;

const rows: BenchRow[] = [];
for (const world of BUILT_IN_WORLDS) {
  const started = performance.now();
  const environment = world.create({});
  const tasks = environment.tasks('test');
  rows.push({ name: `${world.name}: made ready`, ours: performance.now() - started, peer: null, unit: 'ms', better: 'lower', goal: null });
  for (const name of AGENT_NAMES) {
    const rates = Array.from({ length: REPEATS }, () => stepsPerSecond(world, environment, name, tasks));
    rows.push({ name: `${world.name}: ${name}`, ours: median(rates), peer: null, unit: 'steps/s', better: 'higher', goal: null });
  }
}
rows.push(...otherProcess());
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

/** A trivial world in Python, 128 episodes at once as a rollout plays them, beside the same world inside this process. */
function otherProcess(): BenchRow[] {
  if (spawnSync('python3', ['--version']).status !== 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-world-'));
  try {
    writeFileSync(join(folder, 'world.py'), TRIVIAL_PYTHON);
    writeFileSync(
      join(folder, 'world.json'),
      JSON.stringify({ name: 'trivial', command: ['python3', 'world.py'], actions: ['a', 'b'], episodes: 256 }),
    );
    const environment = externalWorld(readManifest(folder), folder, () => {}).create({});
    const rate = (many: boolean): number => median(Array.from({ length: REPEATS }, () => turnsPerSecond(environment, many)));
    const inside = median(Array.from({ length: REPEATS }, () => turnsPerSecond(trivialTwin(environment), false)));
    turnsPerSecond(environment, true); // both processes are up
    const row = { peer: null, unit: 'turns/s', better: 'higher', goal: null } as const;
    return [
      { ...row, name: 'Python in other processes: 128 episodes at once', ours: rate(true), goal: 5000, absolute: true },
      { ...row, name: 'Python in other processes: one after another', ours: rate(false) },
      { ...row, name: 'the same world in TypeScript inside the lab', ours: inside },
    ];
  } finally {
    closeWorlds(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The trivial world without another process: what its rules and the loop around it cost. */
function trivialTwin<State extends Plain>(other: Environment<State>): Environment<{ steps: number }> {
  const turn = (steps: number): Turn<{ steps: number }> => ({
    state: { steps },
    observation: steps === 0 ? 'begin' : `page ${steps}`,
    reward: 0,
    reason: 'no reward',
    done: steps >= 10,
    valid: true,
    success: false,
    clickables: [],
    facts: {},
  });
  const { name, settings, maxSteps, rewardRange, returnRange, categories, tiers, levels } = other;
  return {
    name,
    settings,
    maxSteps,
    rewardRange,
    returnRange,
    categories,
    tiers,
    levels,
    tasks: (split) => other.tasks(split),
    reset: () => turn(0),
    step: ({ steps }) => turn(steps + 1),
    grammar: () => [],
    oracle: () => undefined,
    lexicon: { corpus: () => [] },
  };
}

function turnsPerSecond<State extends Plain>(environment: Environment<State>, many: boolean): number {
  const starts = environment
    .tasks('train')
    .slice(0, 128)
    .map((task, seed) => ({ task, seed, level: undefined }));
  const begin = performance.now();
  let turns = 0;
  while (performance.now() - begin < SECONDS * 1000) {
    if (many) environment.batching?.prefetch(starts);
    let playing = starts.map(({ task, seed }) => environment.reset(task, seed));
    while (playing.length > 0) {
      const moves = playing.map(({ state }) => ({ state, action: 'a' }));
      turns += moves.length;
      const next = many ? environment.batching?.stepMany(moves) : moves.map(({ state, action }) => environment.step(state, action));
      playing = (next ?? []).filter(({ done }) => !done);
    }
  }
  return (turns / (performance.now() - begin)) * 1000;
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
    const { status, stderr } = spawnSync(process.execPath, [join(projectFolder(), 'main', 'commands', 'cli.ts'), ...args], {
      encoding: 'utf8',
    });
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
