import { Command } from 'commander';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { register as registerExport } from '../../main/commands/export.ts';
import { CallError, chooseOutput } from '../../main/commands/shared/output.ts';
import { register as registerRuns } from '../../main/commands/runs.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { newRun, someEvaluation, someUpdate } from './samples.ts';

/** Runs a command as `lab --json` does and returns its document. */
async function lab(data: string, ...args: string[]): Promise<unknown> {
  chooseOutput({ json: true, data });
  const program = new Command().exitOverride();
  registerRuns(program);
  registerExport(program);
  let output = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return JSON.parse(output);
}

function filled(): string {
  const store = openStore();
  for (const seed of [1, 2]) {
    const { id } = store.runs.create(newRun({ seed, name: `seed ${seed}` }));
    const writer = new RunWriter(store, id);
    for (let update = 1; update <= 3; update++) {
      const one = someUpdate(seed, update);
      writer.apply({ ...one, metrics: { ...one.metrics, loss: update === 2 ? NaN : update, 'system/memory': 100 } });
    }
    writer.apply(someEvaluation(seed, 3));
    store.runs.change(id, { state: 'done', position: null });
  }
  return store.dataFolder;
}

describe('the commands of the store', () => {
  it('list runs with their success and interval, and filter them', async () => {
    const data = filled();
    expect(await lab(data, 'runs')).toMatchObject([
      { run: 2, name: 'seed 2', variant: 'astar-po', seed: 2, state: 'done', updates: 3, success: null, validation: { n: 4 } },
      { run: 1, name: 'seed 1', variant: 'astar-po', seed: 1, state: 'done', updates: 3, success: null, validation: { n: 4 } },
    ]);
    expect(await lab(data, 'runs', '--seed', '1', '--state', 'done,failed')).toHaveLength(1);
    await expect(lab(data, 'runs', '--state', 'asleep')).rejects.toThrow(CallError);
  });

  it('print every recorded point, those of the machine only when asked', async () => {
    const data = filled();
    const points = await lab(data, 'metrics', '1');
    expect(points).toMatchObject({
      loss: [
        [1, 1],
        [2, 'NaN'],
        [3, 3],
      ],
      episodes: [
        [1, 4],
        [2, 8],
        [3, 12],
      ],
    });
    expect(Object.keys(Object(points)).some((name) => name.startsWith('system/'))).toBe(false);
    expect(await lab(data, 'metrics', '1', '--system')).toMatchObject({
      'system/memory': [
        [1, 100],
        [2, 100],
        [3, 100],
      ],
    });
    expect(Object.keys(Object(await lab(data, 'metrics', '1', '--name', 'loss')))).toEqual(['loss']);
    await expect(lab(data, 'metrics', '9')).rejects.toThrow('There is no run 9');
    await expect(lab(data, 'metrics', '1', '--name', 'los')).rejects.toThrow('has no metric "los"');
  });

  it('export to every format and import again', async () => {
    const data = filled();
    const out = temporaryFolder();
    for (const format of ['metrics-csv', 'metrics-jsonl', 'episodes-csv', 'episodes-jsonl', 'astrolab']) {
      const file = join(out, `run.${format}`);
      expect(await lab(data, 'export', '1', '--format', format, '--out', file)).toEqual({ file, bytes: statSync(file).size });
    }
    expect(readFileSync(join(out, 'run.episodes-jsonl'), 'utf8').trimEnd().split('\n').length).toBe(16);
    const board = Object(await lab(data, 'export', '1', '2', '--format', 'tensorboard', '--out', join(out, 'tb')));
    expect(board.files.every((file: string) => existsSync(file))).toBe(true);
    const target = temporaryFolder();
    expect(await lab(target, 'import', join(out, 'run.astrolab'))).toMatchObject({ runs: [{ run: 1, name: 'seed 1', added: true }] });
    expect(await lab(target, 'metrics', '1')).toEqual(await lab(data, 'metrics', '1'));
    await expect(lab(target, 'import', join(out, 'run.metrics-csv'))).rejects.toThrow('was refused');
    await expect(lab(data, 'export', '--study', 'none')).rejects.toThrow('There is no study "none"');
    await expect(lab(data, 'export', '1', '--format', 'pdf')).rejects.toThrow('There is no format "pdf"');
  });

  it('delete, restore and clean', async () => {
    const data = filled();
    expect(await lab(data, 'delete', '1')).toEqual({ deleted: [1] });
    expect(await lab(data, 'runs')).toHaveLength(1);
    expect(await lab(data, 'restore', '1')).toEqual({ restored: [1] });
    await lab(data, 'delete', '1');
    expect(await lab(data, 'clean')).toMatchObject({ purged: 1 });
    expect(await lab(data, 'runs', '--deleted')).toEqual([]);
    expect(await lab(data, 'runs')).toHaveLength(1);
  });
});
