// `lab check`: looks for damage in the database, the checkpoints and the packed episodes, and with --salvage copies everything that can
// be read into a new folder. Changes nothing in the folder it looks at.

import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { checkStore, type Damage, salvage, type Salvaged } from '../interchange/check.ts';
import { databaseFile, isReadOnly } from '../store/database.ts';
import { Store } from '../store/store.ts';
import { answer, CallError, dataFolder } from './shared/output.ts';

const SHOWN = 40;

export function register(program: Command): void {
  program
    .command('check')
    .description('look for damage in the data folder: database, checkpoints, episodes')
    .option('--salvage <dir>', 'copy everything that can be read into this new folder')
    .action((options: { salvage?: string }) => check(dataFolder(), options.salvage));
}

function check(folder: string, target: string | undefined): void {
  if (!existsSync(databaseFile(folder))) throw new CallError(`There is no database in ${folder}`, 'Choose the data folder with --data DIR');
  const store = isReadOnly(folder) ? Store.openOrLook(folder) : Store.read(folder);
  try {
    const damaged = checkStore(store);
    const saved = target === undefined ? null : salvageInto(store, resolve(target), damaged);
    const ok = damaged.length === 0;
    answer(
      { ok, damaged, ...(saved && { salvaged: saved }) },
      [...verdict(folder, damaged), ...(saved ? told(saved, resolve(target ?? '')) : [])].join('\n'),
    );
    if (!ok) process.exitCode = 1;
  } finally {
    store.close();
  }
}

function salvageInto(store: Store, folder: string, damaged: readonly Damage[]): Salvaged {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new CallError(`${folder} is not empty: a new folder is expected`);
  const target = Store.open(folder);
  try {
    return salvage(store, target, damaged);
  } finally {
    target.close();
  }
}

function verdict(folder: string, damaged: readonly Damage[]): string[] {
  if (damaged.length === 0) return [`${folder}: nothing is damaged`];
  const lines = damaged
    .slice(0, SHOWN)
    .map(({ kind, run, where, problem }) => `${kind}${run === null ? '' : ` of run ${run}`}: ${where}: ${problem}`);
  return [
    `${folder}: ${damaged.length} damaged`,
    ...lines,
    ...(damaged.length > SHOWN ? [`and ${damaged.length - SHOWN} more (--json lists all)`] : []),
    'Everything else can be read. `lab check --salvage DIR` copies it into a new folder; a copy from before each upgrade is in backups/.',
  ];
}

function told({ runs, lost }: Salvaged, folder: string): string[] {
  return [
    `${runs.length} runs were copied to ${folder}, without what is damaged of them`,
    ...lost.map(({ run, problem }) => `run ${run} could not be copied: ${problem}`),
  ];
}
