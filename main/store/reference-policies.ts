// Reference policies: made once from a recipe (world, tokenizer, model, demonstrations, seed), then found again by it.
// As with checkpoints, the weights file is on disk before the row exists.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, parseCanonical, sha256 } from '../base/canonical.ts';
import type { ReferenceFile } from '../training/host.ts';
import type { Connection } from './database.ts';

export interface ReferencePolicy extends ReferenceFile {
  readonly createdAt: number;
}

interface Row {
  recipe: string;
  sha256: string;
  file: string;
  bytes: number;
  world: string;
  details: string;
  created_at: number;
}

export class ReferencePolicyStore {
  readonly #db: Connection;
  readonly #dataFolder: string;

  constructor(db: Connection, dataFolder: string) {
    this.#db = db;
    this.#dataFolder = dataFolder;
  }

  add(policy: ReferenceFile): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO reference_policies VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(policy.recipe, policy.sha256, policy.file, policy.bytes, policy.world, canonicalJson(policy.details), Date.now());
  }

  /** The policy of a recipe, if its file is there and unaltered. */
  find(recipe: string): ReferencePolicy | undefined {
    const row = this.#db.prepare<[string], Row>('SELECT * FROM reference_policies WHERE recipe = ?').get(recipe);
    if (row === undefined) return undefined;
    const path = join(this.#dataFolder, ...row.file.split('/'));
    if (!existsSync(path) || sha256(readFileSync(path)) !== row.sha256) return undefined;
    return fromRow(row);
  }

  path(policy: Pick<ReferenceFile, 'file'>): string {
    return join(this.#dataFolder, ...policy.file.split('/'));
  }

  /** The file of a run's checkpoint, which another run takes for its reference. */
  checkpoint(run: number, update: number): string {
    const rows = this.#db
      .prepare<[number], { update_no: number; file: string }>('SELECT update_no, file FROM checkpoints WHERE run_id = ? ORDER BY update_no')
      .all(run);
    const row = rows.find((candidate) => candidate.update_no === update);
    if (row) return join(this.#dataFolder, ...row.file.split('/'));
    const kept = rows.map((candidate) => `${run}@${candidate.update_no}`).join(', ') || 'none';
    throw new Error(`There is no checkpoint ${run}@${update}. Checkpoints of run ${run}: ${kept}. Set reference.from to one of them`);
  }

  list(): ReferencePolicy[] {
    return this.#db.prepare<[], Row>('SELECT * FROM reference_policies ORDER BY created_at DESC').all().map(fromRow);
  }
}

function fromRow(row: Row): ReferencePolicy {
  return {
    recipe: row.recipe,
    sha256: row.sha256,
    file: row.file,
    bytes: row.bytes,
    world: row.world,
    details: parseCanonical(row.details),
    createdAt: row.created_at,
  };
}
