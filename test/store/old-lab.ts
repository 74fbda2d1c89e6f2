// A data folder as version 0.1.0 left it: five runs, two of them of a study, with the references that they were trained from
// (`lab train --preset shop-tiny`, `maths-multiplication` and `lab study run` of that version, made as small as they can be).

import Sqlite from 'better-sqlite3';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { databaseFile } from '../../main/store/database.ts';
import { temporaryFolder } from './helpers.ts';

const fixture = fileURLToPath(new URL('fixtures/v0.1.0/', import.meta.url));

/** A study of the same folder, as it was exported then. */
export const OLD_STUDY = join(fixture, 'study.astrolab');

/** `change` edits the database as it lies there. */
export function oldFolder(change: (db: Sqlite.Database) => void = () => {}): string {
  const folder = temporaryFolder();
  writeFileSync(databaseFile(folder), gunzipSync(readFileSync(join(fixture, 'astrolab.db.gz'))));
  cpSync(join(fixture, 'references'), join(folder, 'references'), { recursive: true });
  const db = new Sqlite(databaseFile(folder));
  change(db);
  db.close();
  return folder;
}

type Tree = Record<string, unknown>;
const tree = (value: unknown): Tree => Object(value);

/** A config as the first labs wrote it: without what was added since, with the shop's mistakes in every world. */
export function firstConfig(config: Tree): Tree {
  const { policy, reference, training, evaluation, algorithm, deviceMemory: _device, ...rest } = config;
  const { kind: _kind, model: _model, architecture: _architecture, aids, ...network } = tree(policy);
  const { similarIds: _similar, relabelPrices: _prices, letters: _letters, phrases: _phrases, ...firstAids } = tree(aids);
  const { from: _from, skipMistakes: _skip, hold: _hold, tiers: _tiers, group: _group, imperfection, ...cloning } = tree(reference);
  const { minP: _minP, ...learning } = tree(training);
  const { beam: _beam, ...measured } = tree(evaluation);
  const { group: _rollouts, ...method } = tree(algorithm);
  const first: Readonly<Record<string, string>> = { slip: 'wrongWord', guess: 'earlyPurchase', detour: 'uselessClick' };
  const mistakes = Object.fromEntries(Object.entries(tree(imperfection)).map(([name, chance]) => [first[name] ?? name, chance]));
  return {
    ...rest,
    policy: { ...network, aids: firstAids },
    reference: { ...cloning, imperfection: mistakes },
    training: learning,
    evaluation: measured,
    algorithm: tree(algorithm).id === 'astar-po' ? method : algorithm,
  };
}

/** The folder as the first labs would have written it. */
export function firstFolder(change: (db: Sqlite.Database) => void = () => {}): string {
  return oldFolder((db) => {
    const configs = db.prepare<[], { id: number; config: string }>('SELECT id, config FROM runs').all();
    for (const { id, config } of configs) {
      db.prepare('UPDATE runs SET config = ?, config_hash = ?, group_hash = ? WHERE id = ?').run(
        JSON.stringify(firstConfig(JSON.parse(config))),
        `run ${id}`,
        `arm ${id}`,
        id,
      );
    }
    change(db);
  });
}
