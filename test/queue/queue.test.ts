import { describe, expect, it } from 'vitest';
import type { RunState } from '../../main/base/vocabulary.ts';
import type { Store } from '../../main/store/store.ts';
import { chooseCard } from '../../main/queue/cards.ts';
import { RunQueue } from '../../main/queue/queue.ts';
import { openStore } from '../store/helpers.ts';
import { launchPretend, type PretendSettings } from '../store/processes/launch.ts';
import { newRun, record } from '../store/samples.ts';

function open(settings: PretendSettings & { concurrent?: number; folder?: string } = {}): {
  store: Store;
  queue: RunQueue;
  seen: string[];
} {
  const store = openStore(settings.folder);
  const seen: string[] = [];
  const queue = new RunQueue({
    store,
    launch: launchPretend(store, settings),
    concurrent: settings.concurrent ?? 1,
    onReport: (run, report) => seen.push(`${run}:${report.type}`),
  });
  queue.start();
  return { store, queue, seen };
}

async function until(store: Store, run: number, ...states: RunState[]): Promise<void> {
  await expect.poll(() => store.runs.get(run).state, { interval: 10 }).toBeOneOf(states);
}

describe('the queue', () => {
  it('trains waiting runs one after the other and continues after a crash, which is marked with its reason', async () => {
    const { store, queue, seen } = open({ crashes: new Map([[2, 5]]) });
    queue.add([1, 2, 3].map((seed) => newRun({ seed })));
    await queue.settled();
    expect(store.runs.list().map(({ id, state, updates }) => [id, state, updates])).toEqual([
      [3, 'done', 10],
      [2, 'failed', 4],
      [1, 'done', 10],
    ]);
    expect(store.runs.get(2).reason).toContain('signal SIGKILL');
    expect(seen.lastIndexOf('1:finished')).toBeLessThan(seen.indexOf('2:started'));

    queue.resume(2);
    await queue.settled();
    expect(store.runs.get(2).state).toBe('done');
  });

  it('steps a paused run by exactly one update and gives the numbers of a run that was never paused', async () => {
    const straight = open();
    straight.queue.add([newRun()]);
    await straight.queue.settled();

    const { store, queue } = open({ holds: new Map([[1, 2]]) });
    queue.add([newRun()]);
    await until(store, 1, 'running');
    queue.pause(1);
    await until(store, 1, 'paused');
    for (let step = 0; step < 2; step++) {
      const { updates } = store.runs.get(1);
      queue.step(1);
      await until(store, 1, 'running', 'paused');
      await until(store, 1, 'paused');
      expect(store.runs.get(1).updates).toBe(updates + 1);
    }
    queue.resume(1);
    await queue.settled();
    expect(store.runs.get(1).state).toBe('done');
    expect(record(store, 1)).toEqual(record(straight.store, 1));
  });

  it('frees the process and the lock of a paused run, which resumes with the same numbers', async () => {
    const straight = open();
    straight.queue.add([newRun()]);
    await straight.queue.settled();

    const { store, queue } = open({ holds: new Map([[1, 2]]) });
    queue.add([newRun()]);
    await until(store, 1, 'running');
    queue.pause(1);
    await until(store, 1, 'paused');
    expect(queue.trains(1)).toBe(false);
    expect(store.locks.holder(1)).toBeUndefined();
    const { updates } = store.runs.get(1);
    expect(store.runs.get(1)).toMatchObject({ reason: `Paused after update ${updates}`, finishedAt: null, pauseAt: null });
    expect(store.checkpoints.newestSound(1)?.update ?? 0).toBe(updates);
    queue.resume(1);
    await queue.settled();
    expect(record(store, 1)).toEqual(record(straight.store, 1));
  });

  it('starts the next run in the place of a paused one', async () => {
    const { store, queue } = open({
      holds: new Map([
        [1, 2],
        [2, 2],
      ]),
    });
    queue.add([1, 2].map((seed) => newRun({ seed })));
    await until(store, 1, 'running');
    queue.pause(1);
    await until(store, 2, 'running');
    expect([store.runs.get(1).state, queue.trains(1)]).toEqual(['paused', false]);
    await queue.close();
  });

  it('lets a stopped run finish its update and resumes it from there', async () => {
    const { store, queue } = open({ holds: new Map([[1, 2]]) });
    queue.add([newRun()]);
    await until(store, 1, 'running');
    queue.stop(1);
    expect(store.runs.get(1).state).toBe('stopping');
    await until(store, 1, 'stopped');
    const { updates } = store.runs.get(1);
    expect(store.checkpoints.newestSound(1)?.update ?? 0).toBe(updates);
    queue.resume(1);
    await queue.settled();
    expect(store.runs.get(1)).toMatchObject({ state: 'done', updates: 10 });
  });

  it('keeps the order the user gives it, and what is cancelled never starts', async () => {
    const { store, queue, seen } = open();
    queue.add([1, 2, 3, 4].map((seed) => newRun({ seed })));
    queue.move(4, 2);
    queue.cancel(3);
    expect(store.runs.queue().map(({ id }) => id)).toEqual([4, 2]);
    await queue.settled();
    expect(seen.filter((entry) => entry.endsWith('started'))).toEqual(['1:started', '4:started', '2:started']);
    expect(store.runs.get(3)).toMatchObject({ state: 'stopped', reason: 'Cancelled by the user', updates: 0 });
  });

  it('trains as many runs at once as configured', async () => {
    const { store, queue } = open({ concurrent: 2 });
    queue.add([1, 2, 3].map((seed) => newRun({ seed })));
    const states = (): string[] => store.runs.list().map(({ state }) => state);
    expect(states()).toEqual(['queued', 'running', 'running']);
    queue.setConcurrent(3);
    expect(states()).toEqual(['running', 'running', 'running']);
    await queue.settled();
    expect(states()).toEqual(['done', 'done', 'done']);
  });

  it('is as it was after the lab is closed and opened again; the interrupted run can be resumed', async () => {
    const first = open({ holds: new Map([[1, 2]]) });
    first.queue.add([1, 2].map((seed) => newRun({ seed })));
    await until(first.store, 1, 'running');
    await first.queue.close();
    expect(first.store.runs.get(1).state).toBe('interrupted');
    expect(first.store.runs.get(2).state).toBe('queued');

    const { store, queue } = open({ folder: first.store.dataFolder });
    await queue.settled();
    expect(store.runs.get(2).state).toBe('done');
    queue.resume(1);
    await queue.settled();
    expect(store.runs.get(1).state).toBe('done');
  });

  it('refuses what makes no sense, with the reason', async () => {
    const { queue } = open();
    queue.add([newRun()]);
    await queue.settled();
    expect(() => queue.resume(1)).toThrow('Run 1 is done and cannot be resumed');
    expect(() => queue.pause(7)).toThrow('There is no run 7');
    expect(() => queue.setConcurrent(0)).toThrow('At least one run');
  });
});

describe('a device that is lost', () => {
  it('pauses the run with the reason; it is tried again, or the run continues on the CPU', async () => {
    const store = openStore();
    const devices: unknown[] = [];
    const lost = { type: 'failed', update: 0, message: 'The device stopped: WebGPU device lost', diskFull: false, deviceLost: true };
    const queue = new RunQueue({
      store,
      launch: ({ run: { config } }, report) => {
        const { device } = config;
        devices.push(device);
        const ended = new Promise<string>((resolve) => {
          setTimeout(() => {
            report(device === 'cpu' ? { type: 'finished', outcome: 'done', update: 0 } : lost);
            resolve('exit code 0');
          }, 1);
        });
        return { pid: undefined, stop: () => {}, kill: () => {}, ended };
      },
    });
    queue.start();
    const [run] = queue.add([newRun({ config: { device: 'webgpu' } })]);
    const id = run?.id ?? 0;
    await queue.settled();
    expect(store.runs.get(id)).toMatchObject({ state: 'paused', reason: expect.stringContaining('WebGPU device lost') });
    expect(store.runs.get(id).reason).toContain('“Resume on CPU”');
    // The log says it once, as an error.
    const said = store.events.list(id, ['state']).filter(({ text }) => text.includes('WebGPU device lost'));
    expect(said.map(({ severity }) => severity)).toEqual(['error']);
    queue.resume(id);
    await queue.settled();
    expect(store.runs.get(id).state).toBe('paused');
    queue.resumeOnCpu(id);
    await queue.settled();
    expect(store.runs.get(id).state).toBe('done');
    expect(devices).toEqual(['webgpu', 'webgpu', 'cpu']);
  });
});

describe('several cards', () => {
  it('two runs at once that ask for the same kind take two cards; a third shares the first', async () => {
    const store = openStore();
    const devices: unknown[] = [];
    const queue = new RunQueue({
      store,
      concurrent: 3,
      cards: () => 2,
      launch: ({ run: { config } }, report) => {
        devices.push(config.device);
        const ended = new Promise<string>((resolve) => {
          setTimeout(() => {
            report({ type: 'finished', outcome: 'done', update: 0 });
            resolve('exit code 0');
          }, 50);
        });
        return { pid: undefined, stop: () => {}, kill: () => {}, ended };
      },
    });
    queue.start();
    queue.add([1, 2, 3].map((seed) => newRun({ seed, config: { device: 'cuda' } })));
    await queue.settled();
    expect(devices).toEqual(['cuda', 'cuda:1', 'cuda']);
    expect(store.runs.get(2).config.device).toBe('cuda');
  });

  it('a card that is named is taken, and WebGPU has no choice among several', () => {
    expect(chooseCard('cuda:0', ['cuda:0'], () => 4)).toBe('cuda:0');
    expect(chooseCard('cuda', ['cuda:1'], () => 2)).toBe('cuda');
    expect(chooseCard('dml', ['dml', 'dml:1'], () => 3)).toBe('dml:2');
    expect(chooseCard('webgpu', ['webgpu'], () => 2)).toBe('webgpu');
    expect(chooseCard('cpu', ['cpu'], () => 2)).toBe('cpu');
  });
});
