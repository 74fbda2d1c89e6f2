// Reference policies and V* samples as one file, so that whoever has it need not make them: one data folder writes it, any other takes it
// in. It has the format of an export (every entry with its hash) and is written beside and renamed.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { canonicalJson, parseCanonical, sha256, type Json } from '../base/canonical.ts';
import { ContainerReader, ContainerWriter, ImportError } from '../interchange/container.ts';
import { refusal } from '../interchange/import.ts';
import { writeDurably } from '../store/checkpoints.ts';
import type { Store } from '../store/store.ts';
import type { ReferenceFile } from '../training/host.ts';
import type { VstarEntry } from '../training/reports.ts';

/** What was made since the lab began, waiting to be written. */
export interface SharedContents {
  readonly references: readonly ReferenceFile[];
  readonly samples: readonly { readonly world: string; readonly entries: readonly VstarEntry[] }[];
}

const referenceFields = z.object({
  recipe: z.string().regex(/^[0-9a-f]{64}$/),
  sha256: z.string(),
  file: z.string(),
  bytes: z.int(),
  world: z.string(),
  details: z.custom<Json>((value) => value !== undefined),
});
/** Its file is named for its recipe, so that it can take no other's place. */
const referenceSchema = referenceFields.refine(
  ({ recipe, file }) => file === `references/${recipe}.safetensors`,
  'a file named for its recipe is expected',
);
const number = z.custom<number>((value) => typeof value === 'number');
const sampleSchema = z.array(
  z.object({
    world: z.string(),
    task: z.string(),
    worldHash: z.string(),
    reference: z.string(),
    seed: z.int(),
    temperature: z.number(),
    returns: z.array(number),
    successes: z.array(z.int()),
  }),
);

export function writeShared(store: Store, file: string, { references, samples }: SharedContents): void {
  mkdirSync(dirname(file), { recursive: true });
  const writer = new ContainerWriter(file);
  try {
    writer.add('references', json(references));
    references.forEach((policy, at) => writer.add(`weights/${at}`, readFileSync(store.references.path(policy))));
    const rows = samples.flatMap(({ world, entries }) =>
      entries.map(({ task, worldHash, reference, seed, temperature, returns, successes }) => {
        return { world, task, worldHash, reference, seed, temperature, returns: [...returns], successes: [...successes] };
      }),
    );
    writer.add('vstar', json(rows));
    writer.finish();
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/** Takes in what the store does not have; answers whose samples the file has. Throws `ImportError` when it cannot be trusted. */
export function readShared(store: Store, file: string): ReadonlySet<string> {
  if (!existsSync(file)) return new Set();
  let reader: ContainerReader | undefined;
  try {
    const opened = (reader = new ContainerReader(file));
    const references = parsed(opened, 'references', z.array(referenceSchema));
    references.forEach((policy, at) => {
      if (store.references.find(policy.recipe)) return;
      const weights = opened.read(`weights/${at}`);
      if (sha256(weights) !== policy.sha256 || weights.length !== policy.bytes)
        throw new ImportError(`${file} was refused: the weights of ${policy.recipe} were altered.`);
      writeDurably(store.references.path(policy), weights);
      store.write(() => store.references.add(policy));
    });
    const rows = parsed(opened, 'vstar', sampleSchema);
    store.write(() => {
      for (const { world, returns, successes, ...key } of rows) {
        const samples = { returns: Float64Array.from(returns), successes: Uint8Array.from(successes) };
        store.vstar.add(world, { ...key, samples: returns.length }, samples);
      }
    });
    return new Set(rows.map(sampleKey));
  } catch (error) {
    throw refusal(file, error);
  } finally {
    reader?.close();
  }
}

/** What determines the samples of a task. */
export const sampleKey = ({
  worldHash,
  task,
  reference,
  seed,
  temperature,
  returns,
}: Omit<VstarEntry, 'returns' | 'successes' | 'value'> & { returns: { length: number } }): string =>
  [worldHash, task, reference, seed, temperature, returns.length].join(' ');

const json = (value: unknown): Buffer => Buffer.from(canonicalJson(value));

function parsed<T>(reader: ContainerReader, name: string, schema: z.ZodType<T>): T {
  const result = schema.safeParse(parseCanonical(reader.read(name).toString('utf8')));
  if (result.success) return result.data;
  throw new ImportError(`The shared file was refused: ${name} does not fit (${result.error.issues[0]?.message ?? ''}).`);
}
