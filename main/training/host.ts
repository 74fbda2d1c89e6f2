// What training needs of the world outside, as interfaces: where reports go, and the files and caches that a
// run shares with others. The store implements them; training never sees a database.

import type { Catalog } from '../config/catalog.ts';
import type { Json } from '../base/canonical.ts';
import type { RunReport } from './reports.ts';

/** A checkpoint's file, complete and flushed. */
export interface CheckpointFile {
  readonly update: number;
  /** Relative to the data folder, with forward slashes. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** A reference policy whose weights file is complete and flushed. */
export interface ReferenceFile {
  /** contentHash of everything that made it. */
  readonly recipe: string;
  readonly sha256: string;
  /** Relative to the data folder, with forward slashes. */
  readonly file: string;
  readonly bytes: number;
  readonly world: string;
  readonly details: Json;
}

/** How the file of a reference that is still being cloned ends; it begins with its recipe. */
export const UNFINISHED = '-unfinished.safetensors';

/** All that determines the reference policy's samples on a task. */
export interface VstarKey {
  /** contentHash of the world's name, settings and level. */
  readonly worldHash: string;
  readonly task: string;
  /** sha256 of the reference weights. */
  readonly reference: string;
  readonly seed: number;
  readonly temperature: number;
  readonly samples: number;
}

export interface VstarSamples {
  readonly returns: Float64Array;
  readonly successes: Uint8Array;
}

export interface VstarLookup {
  find(key: VstarKey): VstarSamples | undefined;
}

export interface TrainingHost {
  readonly catalog: Catalog;
  readonly dataFolder: string;
  readonly files: { save(update: number, write: (path: string) => void, unfinished?: boolean): CheckpointFile };
  /** Reference policies that earlier runs have made. */
  readonly references: {
    find(recipe: string): ReferenceFile | undefined;
    path(policy: Pick<ReferenceFile, 'file'>): string;
    /** The file of a run's checkpoint, for a run that begins from it. */
    checkpoint(run: number, update: number): string;
  };
  readonly vstar: VstarLookup;
  /** Resolves when the report is on its way; awaited, so that training never runs far ahead of its record. */
  report(report: RunReport): Promise<void>;
  /** The checkpoint to resume from. */
  readonly resumeFrom: string | undefined;
  /** For a new run that branches off: the other run's checkpoint. */
  readonly branchFrom?: string | undefined;
  /** Stop after this update. */
  readonly until: number | null;
}
