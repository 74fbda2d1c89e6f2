// What keeps the numbers of several runs from being compared: they were evaluated on other tasks, at another temperature or on
// another split, they were trained for another reward, or their worlds differ. Named with the runs on each side, so that a
// table can say it above the numbers instead of printing the best in bold.

import { diffConfigs } from '../config/overrides.ts';
import type { Contender } from './compare.ts';
import { samePlays } from './pairing.ts';

export interface Mismatch {
  /** What differs: temperature, tasks, reward, … */
  readonly what: string;
  readonly values: readonly { readonly value: string; readonly runs: readonly number[] }[];
  readonly words: string;
}

/** World settings that differ beyond these are counted, not listed. */
const LISTED_SETTINGS = 3;
/** Runs beyond these are counted: a study has hundreds. */
const LISTED_RUNS = 6;

/** Everything that differs between the evaluated runs; empty when their numbers may be compared. */
export function mismatches(contenders: readonly Contender[]): Mismatch[] {
  const known = contenders.filter(({ results }) => results.length > 0);
  if (known.length < 2) return [];
  const found = [
    differing('evaluated on', known, ({ evaluated }) => `${evaluated?.split ?? 'unknown'} tasks`),
    differing('evaluation temperature', known, ({ evaluated }) => String(evaluated?.temperature ?? 'unknown')),
    differing('number of tasks', known, ({ results }) => String(results.length)),
    taskSets(known),
    ...settings(known),
  ];
  return found.flatMap((mismatch) => mismatch ?? []);
}

function differing(what: string, contenders: readonly Contender[], valueOf: (contender: Contender) => string): Mismatch | undefined {
  const byValue = Map.groupBy(contenders, valueOf);
  if (byValue.size < 2) return undefined;
  const values = [...byValue].map(([value, own]) => ({ value, runs: own.map(({ run }) => run) }));
  return { what, values, words: `${what}: ${values.map(({ value, runs }) => `${value} (${runsText(runs)})`).join('; ')}` };
}

function runsText(runs: readonly number[]): string {
  if (runs.length > LISTED_RUNS) return `${runs.length} runs`;
  return `${runs.length === 1 ? 'run' : 'runs'} ${runs.join(', ')}`;
}

/** Sets of which the smaller is part of the larger differ in their number only, and that is said already. */
function taskSets(contenders: readonly Contender[]): Mismatch | undefined {
  if (samePlays(contenders.map(({ results }) => results))) return undefined;
  const sets = contenders.map(({ run, results }) => ({ run, tasks: new Set(results.map(({ task, seed }) => `${task}\n${seed}`)) }));
  const [smallest] = sets.toSorted((a, b) => a.tasks.size - b.tasks.size);
  if (!smallest || sets.every(({ tasks }) => [...smallest.tasks].every((task) => tasks.has(task)))) return undefined;
  const shared = [...smallest.tasks].filter((task) => sets.every(({ tasks }) => tasks.has(task))).length;
  const values = sets.map(({ run, tasks }) => ({ value: `${tasks.size} tasks`, runs: [run] }));
  return { what: 'task set', values, words: `task set: ${shared} tasks were played by all of them` };
}

function settings(contenders: readonly Contender[]): Mismatch[] {
  const keys = diffConfigs(contenders.map(({ config }) => config)).filter(
    ({ key }) => key === 'training.reward' || key.startsWith('world.'),
  );
  const told = keys.slice(0, LISTED_SETTINGS).flatMap(({ key, values }) => {
    const of = new Map(contenders.map(({ run }, index) => [run, values[index]]));
    return differing(nameOf(key), contenders, ({ run }) => JSON.stringify(of.get(run) ?? null)) ?? [];
  });
  const more = keys.length - LISTED_SETTINGS;
  if (more <= 0) return told;
  const values = [{ value: `${more}`, runs: contenders.map(({ run }) => run) }];
  return [...told, { what: 'world settings', values, words: `${more} more world settings` }];
}

function nameOf(key: string): string {
  if (key === 'training.reward') return 'training reward';
  if (key === 'world.name') return 'world';
  return `world setting ${key.replace(/^world\.(settings\.)?/, '')}`;
}
