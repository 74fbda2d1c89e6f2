// Validation and test are two numbers: an evaluation on request changes neither, whatever its temperature.

import { describe, expect, it } from 'vitest';
import { openDatabase, databaseFile, readMigrations } from '../../main/store/database.ts';
import type { EvaluationReport } from '../../main/evaluation/evaluation-report.ts';
import type { Store } from '../../main/store/store.ts';
import { openStore, temporaryFolder } from './helpers.ts';
import { newRun } from './samples.ts';

type Asked = Pick<EvaluationReport, 'update' | 'kind'> & Partial<Pick<EvaluationReport, 'split' | 'temperature'>>;

function evaluate(store: Store, run: number, k: number, asked: Asked): void {
  const results = Array.from({ length: 10 }, (_, i) => ({
    task: `task-${i}`,
    category: 'shoes',
    tier: 'plain',
    seed: i,
    success: i < k,
    return: i < k ? 1 : 0,
    steps: 2,
    failure: null,
  }));
  const about = { agent: 'policy', world: 'shop', worldHash: 'w', split: 'validation', temperature: 0, seconds: 1 } as const;
  store.evaluations.add(run, { ...about, ...asked, results }, []);
}

describe('what the list says of a run', () => {
  it('is the final test, the latest validation and the best validation, whatever was evaluated on request', () => {
    const store = openStore(temporaryFolder());
    const { id } = store.runs.create(newRun({ name: 'a run' }));
    evaluate(store, id, 8, { update: 10, kind: 'periodic' });
    evaluate(store, id, 6, { update: 20, kind: 'periodic' });
    expect(store.runs.get(id)).toMatchObject({ test: null, validation: { k: 6, n: 10, update: 20 }, best: { k: 8, n: 10, update: 10 } });
    expect(store.evaluations.finalOrLatest(id)).toMatchObject({ kind: 'periodic', update: 20 });
    evaluate(store, id, 9, { update: 20, kind: 'final', split: 'test' });
    evaluate(store, id, 1, { update: 20, kind: 'manual', split: 'test', temperature: 1 });
    evaluate(store, id, 10, { update: 20, kind: 'manual', split: 'validation' });
    expect(store.runs.get(id)).toMatchObject({
      test: { k: 9, n: 10, update: 20, temperature: 0 },
      validation: { k: 6, update: 20 },
      best: { k: 8, update: 10 },
    });
    expect(store.evaluations.finalOrLatest(id)).toMatchObject({ kind: 'final' });
    store.evaluations.truncate(id, 10);
    expect(store.runs.get(id)).toMatchObject({ test: null, validation: { k: 8, update: 10 }, best: { k: 8, update: 10 } });
  });

  it('takes a greedy evaluation on request for the test only while there is no final one', () => {
    const store = openStore(temporaryFolder());
    const { id } = store.runs.create(newRun({ name: 'a run' }));
    evaluate(store, id, 3, { update: 5, kind: 'manual', split: 'test', temperature: 0.7 });
    expect(store.runs.get(id).test).toBeNull();
    evaluate(store, id, 4, { update: 5, kind: 'manual', split: 'test' });
    expect(store.runs.get(id).test).toMatchObject({ k: 4, temperature: 0 });
  });

  it('is put right in a database of version 0.1.0, where the latest evaluation of any kind stood for it', () => {
    const folder = temporaryFolder();
    const db = openDatabase(databaseFile(folder), { migrations: readMigrations().slice(0, 3) });
    db.exec(`INSERT INTO runs (uid, name, world, variant, seed, device, config, config_hash, group_hash, versions, state, created_at, last_k, last_n, best_k, best_n, best_update)
      VALUES ('u', 'old', 'shop', 'grpo', 1, 'cpu', '{}', 'c', 'g', '{}', 'done', 1, 1, 10, 9, 10, 20)`);
    const add = db.prepare(
      `INSERT INTO evaluations (run_id, update_no, kind, agent, world, world_hash, split, temperature, k, n, mean_return, mean_steps, seconds, created_at)
       VALUES (1, ?, ?, 'policy', 'shop', 'w', ?, ?, ?, 10, 0, 1, 1, 1)`,
    );
    add.run(10, 'periodic', 'validation', 0, 8);
    add.run(20, 'periodic', 'validation', 0, 6);
    add.run(20, 'final', 'test', 0, 9);
    add.run(20, 'manual', 'test', 1, 1);
    db.close();
    const { test, validation, best } = openStore(folder).runs.get(1);
    expect({ test, validation, best }).toEqual({
      test: { k: 9, n: 10, update: 20, temperature: 0 },
      validation: { k: 6, n: 10, update: 20 },
      best: { k: 8, n: 10, update: 10 },
    });
  });
});
