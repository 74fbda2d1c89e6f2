import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EpisodeSearch } from '../../main/lab/episode-search.ts';
import { Random } from '../../main/base/random.ts';
import type { StepTokens, Trajectory } from '../../main/rollout/trajectory.ts';
import { packTokens, unpackTokens } from '../../main/store/pack.ts';
import { retained } from '../../main/store/retention.ts';
import type { Store } from '../../main/store/store.ts';
import { openStore } from './helpers.ts';
import { newRun, someTokens, someTrajectory } from './samples.ts';

function filled(count: number): { store: Store; run: number; all: Trajectory[] } {
  const store = openStore();
  const run = store.runs.create(newRun()).id;
  const random = Random.from('episodes', count);
  const all = Array.from({ length: count }, (_, i) =>
    someTrajectory(random, { purpose: i % 10 === 0 ? 'evaluation' : 'train', update: Math.floor(i / 10) }),
  );
  store.write(() => all.forEach((trajectory) => store.trajectories.add(run, trajectory.update + 1, [trajectory])));
  return { store, run, all };
}

describe('an episode', () => {
  it('comes back as it was recorded, with every number of every token', () => {
    const { store, run, all } = filled(30);
    const { episodes, total } = store.episodes.page(run, {}, 'time', false, 30);
    expect(total).toBe(30);
    expect(episodes.map(({ id }) => store.trajectories.read(id))).toEqual(all);
  });

  it('is read from the block it shares with others, or from a blob of its own as version 0.1.0 wrote it', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    const random = Random.from('blocks');
    const small = Array.from({ length: 40 }, () => someTrajectory(random));
    const large = small.map((one) => ({ ...one, steps: one.steps.map((step) => ({ ...step, tokens: someTokens(random, 400) })) }));
    const ids = [
      ...store.trajectories.add(run, 1, small),
      ...store.trajectories.add(run, 2, large),
      ...store.trajectories.add(run, 3, small),
    ];
    const blobs = (): number => store.db.prepare<[], { n: number }>('SELECT count(*) AS n FROM episode_tokens').get()?.n ?? 0;
    // Few for the small ones, and about one for each large one: to read an episode its block is inflated.
    expect(blobs()).toBeLessThan(2 * 5 + 40 + 1);
    expect(blobs()).toBeGreaterThan(20);
    const everything = [...small, ...large, ...small];
    for (const index of [0, 119, 60, 39, 40, 79, 80, 5, 6]) expect(store.trajectories.read(ids[index] ?? 0)).toEqual(everything[index]);
    // As 0.1.0 stored the last update.
    const [first = 0, last = 0] = [ids[80], ids[119]];
    store.db.prepare('DELETE FROM episode_tokens WHERE episode_id BETWEEN ? AND ?').run(first, last);
    expect(() => store.trajectories.read(last)).toThrow('it is damaged');
    const add = store.db.prepare('INSERT INTO episode_tokens VALUES (?, ?)');
    small.forEach((one, index) => add.run(first + index, packTokens(one.steps.map(({ tokens }) => tokens))));
    expect(ids.map((id) => store.trajectories.read(id))).toEqual(everything);
    store.trajectories.truncate(run, 1);
    expect(store.trajectories.add(run, 2, [...small].reverse()).map((id) => store.trajectories.read(id))).toEqual([...small].reverse());
  });

  it('survives numbers that are none, empty steps, strange texts and actions of several lines', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    const base = someTrajectory(Random.from('strange'));
    const [step] = base.steps;
    if (step === undefined) throw new Error('no step');
    const none = someTokens(Random.from('none'), 0);
    const strange: Trajectory = {
      ...base,
      return: NaN,
      vstar: -Infinity,
      advantage: NaN,
      steps: [
        {
          ...step,
          action: 'two\nlines \\n and a \\',
          thought: '\0 \u{1F9ED} %_',
          reward: Infinity,
          facts: { share: NaN, none: null, yes: true },
          tokens: none,
        },
        { ...step, observation: '', action: '', tokens: someTokens(Random.from('critic'), 4, true) },
      ],
    };
    const [id = 0] = store.trajectories.add(run, 1, [strange]);
    expect(store.trajectories.read(id)).toEqual(strange);
    expect(store.episodes.get(id)).toMatchObject({ return: NaN, vstar: -Infinity, advantage: NaN });
    const [empty = 0] = store.trajectories.add(run, 1, [{ ...base, steps: [] }]);
    expect(store.trajectories.read(empty).steps).toEqual([]);
  });

  it('stores a text that occurs again only once', () => {
    const { store, run, all } = filled(5);
    const texts = (): number => store.db.prepare<[], { n: number }>('SELECT count(*) AS n FROM texts').get()?.n ?? 0;
    const before = texts();
    store.trajectories.add(run, 9, all);
    expect(texts()).toBe(before);
  });
});

describe('packed tokens', () => {
  const floats = (length: number): fc.Arbitrary<Float32Array> => fc.float32Array({ minLength: length, maxLength: length });
  const step = fc.nat(12).chain((n) =>
    fc.record({
      ids: fc.int32Array({ minLength: n, maxLength: n }),
      logProbs: floats(n),
      referenceLogProbs: fc.oneof(floats(n), floats(0)),
      entropies: floats(n),
      values: fc.oneof(floats(n), floats(0)),
      advantages: fc.oneof(floats(n), floats(0)),
      topIds: fc.int32Array({ minLength: n * 4, maxLength: n * 4 }),
      topProbs: fc.array(fc.nat(65535), { minLength: n * 4, maxLength: n * 4 }).map((list) => Float32Array.from(list, (p) => p / 65535)),
    }),
  );

  it('unpack to the same numbers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps: StepTokens[]) => {
        expect(unpackTokens(packTokens(steps))).toEqual(steps);
      }),
    );
  });

  it('that are damaged are refused, never misread', () => {
    const blob = packTokens([someTokens(Random.from('damage'), 20)]);
    expect(() => unpackTokens(blob.subarray(0, blob.length - 10))).toThrow('token data is damaged');
    expect(() => unpackTokens(Buffer.concat([Uint8Array.of(9), blob.subarray(1)]))).toThrow('format 9');
  });
});

describe('the list of episodes', () => {
  it('finds what each filter asks for, as a search through all of them would', () => {
    const { store, run, all } = filled(300);
    const total = (filter: Parameters<Store['episodes']['page']>[1]): number => store.episodes.page(run, filter).total;
    const count = (test: (trajectory: Trajectory) => boolean): number => all.filter(test).length;
    expect(total({ purpose: 'evaluation' })).toBe(30);
    expect(total({ success: true })).toBe(count(({ success }) => success));
    expect(total({ category: 'books', tier: 'plain' })).toBe(count(({ category, tier }) => category === 'books' && tier === 'plain'));
    expect(total({ failure: 'wrong-purchase' })).toBe(count(({ failure }) => failure !== null));
    expect(total({ task: 'task-7' })).toBe(count(({ task }) => task === 'task-7'));
    expect(total({ fromUpdate: 3, toUpdate: 5 })).toBe(30);
    expect(total({ text: 'coffee' })).toBe(count(({ steps }) => steps.some(({ action }) => action.includes('coffee'))));
    expect(total({ text: '%' })).toBe(0);
    expect(total({ category: 'no such category' })).toBe(0);
    const { categories, failures } = store.episodes.facets(run);
    expect(categories.books).toBe(count(({ category }) => category === 'books'));
    expect(failures).toEqual({ 'wrong-purchase': count(({ failure }) => failure !== null) });
  });

  it('looks into observations and thoughts where that is asked for, in whatever case', async () => {
    const { store, run } = filled(60);
    const search = new EpisodeSearch();
    const strange = { ...someTrajectory(Random.from('deep')), finalObservation: 'You bought 100% of the QUAGGA.' };
    const [step] = strange.steps;
    if (!step) throw new Error('no step');
    store.trajectories.add(run, 9, [
      strange,
      { ...strange, finalObservation: 'over', steps: [{ ...step, thought: 'a quagga, surely' }] },
      { ...strange, finalObservation: 'over', steps: [{ ...step, observation: 'Results: quagga_blue' }] },
    ]);
    const found = (text: string): number => search.episodes(store, run, { text }).length;
    expect(store.episodes.page(run, { text: 'quagga' }).total).toBe(0);
    expect(found('Quagga')).toBe(3);
    expect(found('quagga_')).toBe(1);
    expect(found('100% of')).toBe(1);
  });

  it('shows what a search in observations found page by page, in every order, as one query would', async () => {
    const { store, run } = filled(120);
    const found = new EpisodeSearch().episodes(store, run, { text: 'e', success: true });
    const observations = [...store.episodes.textsOf(run)].flat().filter((text) => store.episodes.textHas(text, 'e'));
    expect(found.length).toBeGreaterThan(20);
    for (const order of ['time', 'return', 'steps'] as const) {
      for (const descending of [false, true]) {
        const whole = store.episodes.page(run, { text: 'e', success: true, observations }, order, descending, 7, 14);
        expect(store.episodes.pageOf(found, order, descending, 7, 14)).toEqual(whole);
      }
    }
    expect(store.episodes.pageOf(found, 'time', true, 50, found.length - 3).episodes).toHaveLength(3);
    expect(store.episodes.pageOf(found, 'time', true, 50, found.length + 9).episodes).toHaveLength(0);
  });

  it('keeps a star and a comment with the episode, finds them, and lets them go with it', () => {
    const { store, run } = filled(40);
    const [first, , third] = store.episodes.page(run, {}, 'time', false, 3).episodes;
    if (!first || !third) throw new Error('no episodes');
    store.notes.set(first.id, { starred: true, comment: '' });
    store.notes.set(third.id, { starred: false, comment: 'Gives up too early' });
    expect(store.episodes.page(run, { starred: true }).episodes.map(({ id }) => id)).toEqual([first.id]);
    expect(store.episodes.page(run, { text: 'too early' }).episodes.map(({ id }) => id)).toEqual([third.id]);
    expect(store.notes.get(third.id)).toEqual({ starred: false, comment: 'Gives up too early' });
    store.notes.set(first.id, { starred: false, comment: '' });
    expect([...store.notes.ofRun(run).keys()]).toEqual([third.id]);
    store.trajectories.truncate(run, 0);
    expect([...store.notes.ofRun(run)]).toEqual([]);
  });

  it('counts what there is to filter by, also of what comes later and after a step back', () => {
    const { store, run, all } = filled(100);
    const counted = (): number => store.episodes.facets(run).categories.books ?? 0;
    const books = (list: readonly Trajectory[]): number => list.filter(({ category }) => category === 'books').length;
    expect(counted()).toBe(books(all));
    const later = Array.from({ length: 40 }, () => someTrajectory(Random.from('later'), { category: 'books' }));
    store.trajectories.add(run, 11, later);
    expect(counted()).toBe(books(all) + 40);
    expect(counted()).toBe(books(all) + 40);
    store.trajectories.truncate(run, 10);
    expect(counted()).toBe(books(all));
  });

  it('sorts by surprise and turns its pages', () => {
    const { store, run } = filled(120);
    const first = store.episodes.page(run, {}, 'surprise', true, 50, 0).episodes;
    const second = store.episodes.page(run, { purpose: 'train' }, 'surprise', true, 50, 50).episodes;
    expect(first.every(({ surprise }, i) => i === 0 || surprise <= (first[i - 1]?.surprise ?? 0))).toBe(true);
    expect(first[0]?.surprise).toBeGreaterThan(first[49]?.surprise ?? Infinity);
    expect(second.length).toBe(50);
  });
});

describe('retention', () => {
  const random = Random.from('retention');
  const train = Array.from({ length: 8 }, (_, i) => someTrajectory(random, { return: [3, 1, 4, 1, 5, 9, 2, 6][i] ?? 0 }));
  const evaluated = someTrajectory(random, { purpose: 'evaluation' });
  const sampled = someTrajectory(random, { purpose: 'vstar' });
  const all = [...train, evaluated, sampled];
  const settings = { keep: 'all', every: 10, ends: 2, vstar: true } as const;

  it('keeps what the setting says, and evaluations always', () => {
    expect(retained(settings, 7, all)).toEqual(all);
    expect(retained({ ...settings, vstar: false }, 7, all)).toEqual([...train, evaluated]);
    expect(retained({ ...settings, keep: 'nth' }, 7, all)).toEqual([evaluated]);
    expect(retained({ ...settings, keep: 'nth' }, 20, all)).toEqual(all);
    expect(retained({ ...settings, keep: 'evaluation' }, 20, all)).toEqual([evaluated]);
    const ends = retained({ ...settings, keep: 'best-worst', vstar: false }, 7, all).filter(({ purpose }) => purpose === 'train');
    expect(ends.map((one) => one.return)).toEqual([1, 1, 9, 6]);
  });
});
