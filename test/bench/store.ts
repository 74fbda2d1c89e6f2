// `npm run bench -- store`: a database with a year of runs, read by us and by the peer in the same process. One large run
// is written as training writes it; the others are copies of parts of it, made in SQL to save time. By default a tenth
// of the size; `--full` is 1,000 runs, 1 million episodes, 5 million steps and 10 million metric points. Each read is
// timed on a fresh connection. Filling takes minutes: `--fill DIR` does only that, and `--filled DIR` measures it later (once, the
// folder goes afterwards), for a machine that is quiet only now and then.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Random } from '../../main/base/random.ts';
import type { Trajectory } from '../../main/rollout/trajectory.ts';
import { episodeRange } from '../../main/store/trajectories.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import { newRun } from '../store/samples.ts';
import { type BenchRow, report } from './report.ts';
import { benchMetrics, benchTrajectory, METRICS } from './store-data.ts';
import { PlainStore } from './store-peer.ts';
import { shareOfTraining } from './store-share.ts';

const { values: options } = parseArgs({
  options: { json: { type: 'boolean' }, full: { type: 'boolean' }, fill: { type: 'string' }, filled: { type: 'string' } },
});
const RUNS = 1000;
/** The large run: as many points and episodes as the goals speak of. */
const BIG = { updates: 10_000, episodes: 100_000, written: 4000 };
const OTHERS = options.full ? { chunks: 20, episodes: 900 } : { chunks: 2, episodes: 90 };
const PER_UPDATE = 64;
/** Points of a metric in each of the other runs: one chunk of ours. */
const CHUNK_POINTS = 480;

const folder = options.filled ?? options.fill ?? mkdtempSync(join(tmpdir(), 'astrolab-bench-store-'));
mkdirSync(folder, { recursive: true });
const countsFile = join(folder, 'filled.json');
if (options.filled !== undefined && !existsSync(countsFile))
  throw new Error(`${folder} was not filled to the end: run with --fill ${folder} first`);
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const seconds = (work: () => void): number => {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
};

/** The best of several timings in ms, each on a separate connection: what the work takes when nothing else runs. */
function readTime(times: number, work: (store: Store) => void): number {
  return Math.min(
    ...Array.from({ length: times }, () => {
      const store = Store.read(folder);
      const start = performance.now();
      work(store);
      const time = performance.now() - start;
      store.close();
      return time;
    }),
  );
}

function peerTime(times: number, work: () => void): number {
  peer.db.pragma('shrink_memory');
  return Math.min(...Array.from({ length: times }, () => seconds(work) * 1000));
}

/** Trajectories are made beforehand, so that only their storing is timed. */
const pool: Trajectory[] = [];
const random = Random.from('bench-store', 1);
for (let i = 0; i < BIG.written; i++) pool.push(benchTrajectory(random, i % 500));
const pick = (): Trajectory => random.pick(pool);
const config = { seed: 1, training: { updates: 100, learningRate: 0.001 }, algorithm: { id: 'astar-po', beta1: 0.5 } };

const store = Store.open(folder);
const big = options.filled === undefined ? store.runs.create(newRun({ name: 'the large run', config })).id : 1;

/** The large run through the writer, then copies of its rows: within itself and in all other runs. */
function fillOurs(): { points: number; episodes: number } {
  const writer = new RunWriter(store, big);
  const before = (update: number): number => Math.floor((update * BIG.written) / BIG.updates);
  for (let first = 1; first <= BIG.updates; first += 50) {
    store.write(() => {
      for (let update = first; update < first + 50; update++) {
        const trajectories = Array.from({ length: before(update) - before(update - 1) }, pick);
        const totals = { episodes: update * 10, tokens: update * 300, seconds: update };
        writer.apply({ type: 'update', update, metrics: benchMetrics(random, METRICS), distributions: {}, episodes: trajectories, totals });
      }
    });
  }
  writer.apply({ type: 'finished', outcome: 'done', update: BIG.updates });
  say('ours: the large run is written');
  const [from] = episodeRange(big);
  for (let copy = 1; copy < BIG.episodes / BIG.written; copy++) copyEpisodes(from, big, from + copy * BIG.written, BIG.written);
  for (let index = 1; index < RUNS; index++) {
    store.write(() => {
      const { id } = store.runs.create(
        newRun({ name: `run ${index}`, seed: index, variant: ['astar-po', 'grpo', 'ppo'][index % 3] ?? '', config }),
      );
      store.runs.change(id, { state: 'done', updates: 500 });
      store.runs.setEvaluated(id, {
        test: { k: 120, n: 200, update: 500, temperature: 0 },
        validation: { k: 120, n: 200, update: 500 },
        best: { k: 130, n: 200, update: 5 },
      });
      for (let update = 1; update <= 40; update++) store.runs.addSpark(id, update, random.next());
      copyEpisodes(from, id, episodeRange(id)[0], OTHERS.episodes);
      store.db
        .prepare(
          `INSERT INTO metric_chunks (run_id, metric, first_update, last_update, points, data)
           SELECT ?, metric, first_update, last_update, points, data FROM metric_chunks WHERE run_id = ? AND first_update = 1
           AND metric IN (SELECT id FROM labels WHERE text LIKE 'metric.%') ORDER BY metric LIMIT ?`,
        )
        .run(id, big, OTHERS.chunks);
    });
    if (index % 250 === 0) say(`ours: ${index} runs`);
  }
  const count = (sql: string): number => store.db.prepare<[], { n: number }>(sql).get()?.n ?? 0;
  return { points: count('SELECT sum(points) AS n FROM metric_chunks'), episodes: count('SELECT count(*) AS n FROM episodes') };
}

function copyEpisodes(from: number, run: number, to: number, count: number): void {
  const columns =
    'recorded, acted, purpose, split, task, category, tier, failure, seed, success, return, vstar, advantage, surprise, steps, tokens, final_text, actions';
  const range = [from, from + count - 1] as const;
  store.write(() => {
    store.db
      .prepare(`INSERT INTO episodes (id, run_id, ${columns}) SELECT id + ?, ?, ${columns} FROM episodes WHERE id BETWEEN ? AND ?`)
      .run(to - from, run, ...range);
    store.db
      .prepare(
        `INSERT INTO steps SELECT episode_id + ?, step, observation, thought, reward, reason, valid, facts FROM steps WHERE episode_id BETWEEN ? AND ?`,
      )
      .run(to - from, ...range);
    store.db
      .prepare('INSERT INTO episode_tokens SELECT episode_id + ?, data FROM episode_tokens WHERE episode_id BETWEEN ? AND ?')
      .run(to - from, ...range);
  });
}

const peer = new PlainStore(join(folder, 'peer.db'));
const PEER_BIG = 'b'.repeat(32);
/** The same points as ours; of the episodes the 4,000 different ones, for their size. Returns how many points. */
function fillPeer(): number {
  peer.beginFilling();
  const params = { seed: '1', updates: '100', learningRate: '0.001', id: 'astar-po', beta1: '0.5' };
  peer.addRun(PEER_BIG, params);
  for (let first = 1; first <= BIG.updates; first += 50) {
    peer.db.transaction(() => {
      for (let update = first; update < first + 50; update++) {
        const totals = { episodes: update * 10, tokens: update * 300, 'system/time.elapsed': update };
        peer.addUpdate(PEER_BIG, update, { ...benchMetrics(random, METRICS), ...totals });
      }
    })();
  }
  peer.db.transaction(() => pool.forEach((trajectory, index) => peer.addEpisode(PEER_BIG, index, trajectory)))();
  say('peer: the large run is written');
  const others = Array.from({ length: RUNS - 1 }, (_, index) => (index + 1).toString(16).padStart(32, '0'));
  peer.copyPoints(PEER_BIG, others, METRICS.slice(0, OTHERS.chunks), CHUNK_POINTS, (uuid) => peer.addRun(uuid, params));
  say('peer: all runs are written');
  peer.finishFilling();
  return peerPoints();
}

const peerPoints = (): number => peer.db.prepare<[], { n: number }>('SELECT count(*) AS n FROM metrics').get()?.n ?? 0;

function bytesOf(table: string, database: Store['db'] = store.db): number {
  return (
    database
      .prepare<[string, string], { n: number | null }>(
        `SELECT sum(pgsize) AS n FROM dbstat WHERE name = ? OR name LIKE ? || '\\_by\\_%' ESCAPE '\\'`,
      )
      .get(table, table)?.n ?? 0
  );
}

const counts = z.object({ points: z.number(), episodes: z.number() });

/** Fills both databases, or finds what was filled before. */
function filled(): z.infer<typeof counts> {
  if (options.filled !== undefined) return counts.parse(JSON.parse(readFileSync(countsFile, 'utf8')));
  // Nobody would miss a half-filled database, so nothing waits for the disk until it is full.
  store.db.pragma('synchronous = OFF');
  store.db.pragma('wal_autocheckpoint = 50000');
  const start = performance.now();
  const made = fillOurs();
  store.db.pragma('wal_autocheckpoint = 1000');
  store.db.pragma('synchronous = NORMAL');
  store.db.pragma('wal_checkpoint(TRUNCATE)');
  const middle = performance.now();
  const theirs = fillPeer();
  say(`filled in ${((middle - start) / 1000).toFixed(0)} s; peer ${((performance.now() - middle) / 1000).toFixed(0)} s`);
  if (theirs !== made.points) throw new Error(`The same points are to be compared: ours has ${made.points}, the peer ${theirs}`);
  writeFileSync(countsFile, JSON.stringify(made));
  return made;
}

try {
  const { points, episodes } = filled();
  const megabytes = (name: string): string => `${(statSync(join(folder, name)).size / 1e6).toFixed(0)} MB`;
  say(
    `${RUNS} runs, ${episodes} episodes, ${episodes * 5} steps, ${points} points: ${megabytes('astrolab.db')}; peer ${megabytes('peer.db')}`,
  );

  if (options.fill === undefined) await measure(points, episodes);
} finally {
  store.close();
  peer.db.close();
  if (options.fill === undefined) rmSync(folder, { recursive: true, force: true });
}

async function measure(points: number, episodes: number): Promise<void> {
  const steps = episodes * 5;
  const stepBytes = ['episodes', 'steps', 'episode_tokens', 'texts'].reduce((sum, table) => sum + bytesOf(table), 0) / steps;
  const pointBytes = (bytesOf('metric_chunks') + bytesOf('metric_tail')) / points;
  const peerSteps = peer.db.prepare<[], { n: number }>('SELECT count(*) AS n FROM steps').get()?.n ?? 1;
  const peerStepBytes = (bytesOf('steps', peer.db) + bytesOf('sqlite_autoindex_steps_1', peer.db)) / peerSteps;
  const peerPointBytes = ['metrics', ...PlainStore.pointIndexes].reduce((sum, name) => sum + bytesOf(name, peer.db), 0) / peerPoints();
  for (const table of ['episodes', 'steps', 'episode_tokens', 'texts', 'metric_chunks'])
    say(`${table}: ${(bytesOf(table) / 1e6).toFixed(1)} MB`);

  const [firstEpisode] = episodeRange(big);
  const update = someBigUpdate();
  const share = await shareOfTraining();
  const rows: BenchRow[] = [
    row(
      'list of 1,000 runs',
      readTime(9, (s) => void s.runs.list()),
      peerTime(9, () => void peer.listRuns()),
      'ms',
      50,
    ),
    row(
      'metric of 10,000 points for a chart',
      readTime(9, (s) => void s.metrics.series(big, 'metric.7', { points: 1000 })),
      peerTime(5, () => void peer.series(PEER_BIG, 'metric.7')),
      'ms',
      30,
    ),
    row(
      'all 40 metrics of that run for charts',
      readTime(5, (s) => void s.metrics.many(big, METRICS, { points: 1000 })),
      peerTime(1, () => METRICS.forEach((name) => peer.series(PEER_BIG, name))),
      'ms',
      null,
    ),
    row(
      'first episode of a run on screen, with the list',
      readTime(9, (s) => {
        s.episodes.page(big, {}, 'time', false, 50);
        s.trajectories.read(firstEpisode);
      }),
      null,
      'ms',
      100,
    ),
    row(
      'one episode with all its tokens',
      readTime(9, (s) => void s.trajectories.read(firstEpisode)),
      peerTime(9, () => void peer.episode(PEER_BIG, 0)),
      'ms',
      null,
    ),
    ...(
      [
        ['category and failure', { category: 'books', failure: 'timeout' }],
        ['text of an action', { text: 'search[steel' }],
        ['updates 500–600', { fromUpdate: 500, toUpdate: 600 }],
      ] as const
    ).map(([name, filter]) =>
      row(
        `${BIG.episodes} episodes by ${name}`,
        readTime(9, (s) => void s.episodes.page(big, filter, 'time', false, 100)),
        null,
        'ms',
        100,
      ),
    ),
    row(
      `${BIG.episodes} episodes by surprise`,
      readTime(9, (s) => void s.episodes.page(big, {}, 'surprise', true, 100)),
      null,
      'ms',
      100,
    ),
    row(`one update stored (${METRICS.length} metrics, ${PER_UPDATE} episodes)`, update.ours, update.peer, 'ms', null),
    row('metrics of one update stored', update.oursMetrics, update.peerMetrics, 'ms', null),
    row('writing, share of a training run', share.writing, null, '%', 1.5),
    row('… with receiving and checking the reports', share.everything, null, '%', null),
    row('bytes per step, all its tokens and texts', stepBytes, peerStepBytes, 'bytes', null),
    row('bytes per metric point', pointBytes, peerPointBytes, 'bytes', null),
  ];
  report(rows, 'the same data in plain SQLite: metrics in MLflow’s tables (one row per point), episodes as JSON (one row per step)');
}

function row(name: string, ours: number, theirs: number | null, unit: string, goal: number | null): BenchRow {
  return { name, ours, peer: theirs, unit, better: 'lower', goal, absolute: true };
}

/** Storing an update in the full database; the cost that a training run pays. */
function someBigUpdate(): { ours: number; peer: number; oursMetrics: number; peerMetrics: number } {
  const writer = new RunWriter(store, big);
  const uuid = 'f'.repeat(32);
  const batch = (): Trajectory[] => Array.from({ length: PER_UPDATE }, pick);
  const time = (
    withEpisodes: boolean,
    apply: (update: number, metrics: Record<string, number>, trajectories: Trajectory[]) => void,
  ): number =>
    Math.min(
      ...Array.from({ length: 40 }, (_, i) => {
        const values = benchMetrics(random, METRICS);
        const trajectories = withEpisodes ? batch() : [];
        return seconds(() => apply(BIG.updates + 1 + i + (withEpisodes ? 100 : 0), values, trajectories)) * 1000;
      }),
    );
  const ours = (update: number, metrics: Record<string, number>, trajectories: Trajectory[]): void =>
    writer.apply({
      type: 'update',
      update,
      metrics,
      distributions: {},
      episodes: trajectories,
      totals: { episodes: 0, tokens: 0, seconds: 0 },
    });
  let told = 0;
  const theirs = (update: number, metrics: Record<string, number>, trajectories: Trajectory[]): void =>
    peer.db.transaction(() => {
      peer.addUpdate(uuid, update, metrics);
      for (const trajectory of trajectories) peer.addEpisode(uuid, told++, trajectory);
    })();
  return { oursMetrics: time(false, ours), ours: time(true, ours), peerMetrics: time(false, theirs), peer: time(true, theirs) };
}
