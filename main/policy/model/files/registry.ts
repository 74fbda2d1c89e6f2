// The models of a data folder, one small JSON file each: models/NAME/model.json. A model is referenced where it lies, identified by the hash of
// its files, and only what cannot be mapped from there is kept as a converted copy. A file that has changed since is noticed.

import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { contentHash } from '../../../base/canonical.ts';
import { parameterCount } from '../architecture.ts';
import { mapWeights } from './mapped-weights.ts';
import type { MappedWeights } from './mapped-weights.ts';
import type { Precision } from './quantise.ts';
import { openSource } from './source.ts';
import type { ModelSource } from './source.ts';
import { ModelError } from './tensor-source.ts';

const recordSchema = z.strictObject({
  version: z.literal(1),
  name: z.string(),
  kind: z.enum(['folder', 'gguf']),
  /** Absolute path of the folder or file. */
  source: z.string(),
  /** Of the contents of all its files: the model's identity. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  architecture: z.string(),
  parameters: z.int(),
  files: z.array(z.strictObject({ name: z.string(), bytes: z.int(), modified: z.number(), sha256: z.string() })),
});
export type ModelRecord = z.infer<typeof recordSchema>;

/** A registered model, opened: its shape, its tokenizer and where its weights are mapped from. */
export interface OpenModel extends ModelSource {
  readonly name: string;
  readonly hash: string;
  readonly weights: MappedWeights;
  readonly precision: Precision;
}

type Progress = (share: number, what: string) => void;
const NAME = /^[a-z0-9][a-z0-9._-]{0,59}$/;

export class ModelRegistry {
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'models');
  }

  /** The folder that belongs to a model: its registration, conversions, and the weights of a model that was fetched. */
  folderOf(name: string): string {
    if (!NAME.test(name))
      throw new ModelError(`"${name}" cannot be a model's name; expected up to 60 of the characters a–z, 0–9, dot, dash and underscore`);
    return join(this.#folder, name);
  }

  /** Names of the registered models, also of those whose registration cannot be read. */
  names(): string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .filter((name) => NAME.test(name) && existsSync(join(this.#folder, name, 'model.json')))
      .sort();
  }

  list(): ModelRecord[] {
    return this.names().map((name) => this.find(name));
  }

  find(name: string): ModelRecord {
    const file = join(this.folderOf(name), 'model.json');
    if (!existsSync(file)) {
      const names = this.list().map((model) => model.name);
      throw new ModelError(
        `There is no model "${name}". ${names.length > 0 ? `Models: ${names.join(', ')}` : 'Add one with: lab models add FOLDER'}`,
      );
    }
    const parsed = recordSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!parsed.success) throw new ModelError(`${file} is damaged (${z.prettifyError(parsed.error)}); remove the model and add it again`);
    return parsed.data;
  }

  /** Checks the model, takes its hash and converts what cannot be mapped. Nothing is kept of one that is refused. */
  add(path: string, name = defaultName(path), progress: Progress = () => {}): ModelRecord {
    const folder = this.folderOf(name);
    if (existsSync(join(folder, 'model.json')))
      throw new ModelError(`There is a model "${name}" already; choose another name or remove it first`);
    const source = openSource(path);
    const record = describe(name, source, (share) => progress(share, 'reading'));
    mapWeights(source, record.hash, folder, { progress: (share) => progress(share, 'converting') });
    this.#write(record);
    return record;
  }

  /** Points to a model that has moved; it must be the same one. */
  locate(name: string, path: string, progress: Progress = () => {}): ModelRecord {
    const existing = this.find(name);
    const record = describe(name, openSource(path), (share) => progress(share, 'reading'));
    if (record.hash !== existing.hash)
      throw new ModelError(`${record.source} holds another model than "${name}" was (its contents differ); add it under another name`);
    this.#write(record);
    return record;
  }

  /** Forgets a model and deletes its conversions; the original folder or file is left alone. */
  remove(name: string): void {
    if (!this.names().includes(name)) this.find(name); // says which models there are
    rmSync(this.folderOf(name), { recursive: true, force: true });
  }

  /** Deletes what is left of a model that was never registered because adding it was cancelled or failed. */
  clean(name: string): void {
    if (NAME.test(name) && !this.names().includes(name)) rmSync(this.folderOf(name), { recursive: true, force: true });
  }

  open(name: string, precision: Precision = 'f32', progress: Progress = () => {}): OpenModel {
    const record = this.find(name);
    if (!existsSync(record.source))
      throw new ModelError(`The model "${name}" is no longer at ${record.source}; point to it again with: lab models locate ${name} PATH`);
    const source = openSource(record.source);
    this.#verify(record, source);
    const weights = mapWeights(source, record.hash, this.folderOf(name), {
      precision,
      progress: (share) => progress(share, 'converting'),
    });
    return { ...source, name, hash: record.hash, weights, precision };
  }

  /** Sizes and times are looked at every time; contents only when a time has changed. */
  #verify(record: ModelRecord, source: ModelSource): void {
    const seen = new Map(record.files.map((file) => [file.name, file]));
    const touched = source.files.some((file) => {
      const before = seen.get(basename(file));
      const { size, mtimeMs } = statSync(file);
      return before?.bytes !== size || before.modified !== mtimeMs;
    });
    if (!touched && seen.size === source.files.length) return;
    const now = describe(record.name, source, () => {});
    if (now.hash !== record.hash)
      throw new ModelError(
        `The files of the model "${record.name}" at ${record.source} have changed since it was added; add it anew under another name`,
      );
    this.#write(now);
  }

  #write(record: ModelRecord): void {
    const file = join(this.folderOf(record.name), 'model.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.partial`, `${JSON.stringify(record, null, 2)}\n`);
    renameSync(`${file}.partial`, file);
  }
}

function describe(name: string, source: ModelSource, progress: (share: number) => void): ModelRecord {
  const total = source.files.reduce((sum, file) => sum + statSync(file).size, 0);
  let done = 0;
  const files = source.files.map((file) => {
    const { size, mtimeMs } = statSync(file);
    const sha256 = hashFile(file, (bytes) => {
      done += bytes;
      progress(done / total);
    });
    return { name: basename(file), bytes: size, modified: mtimeMs, sha256 };
  });
  const { kind, path, config } = source;
  const hash = contentHash(files.map((file) => [file.name, file.sha256]));
  return { version: 1, name, kind, source: path, hash, architecture: config.architecture, parameters: parameterCount(config), files };
}

/** SHA-256 of a file of any size. */
export function hashFile(file: string, progress: (bytes: number) => void = () => {}, algorithm = 'sha256'): string {
  const hash = createHash(algorithm);
  const handle = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(1 << 22);
    for (;;) {
      const count = readSync(handle, chunk);
      if (count === 0) return hash.digest('hex');
      hash.update(chunk.subarray(0, count));
      progress(count);
    }
  } finally {
    closeSync(handle);
  }
}

/** The folder's or file's name in the characters that a model's name may have. */
export function defaultName(path: string): string {
  return basename(resolve(path))
    .replace(/\.gguf$/i, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 60);
}
