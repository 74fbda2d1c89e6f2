// Weights on their way to and from files: a policy as a safetensors file that PyTorch reads by name, and the whole state
// of a run (weights, Adam's moments, step, and what else training must remember) as a checkpoint.

import { type StoredTensor, readCheckpoint, writeCheckpoint } from '../engine/runtime/checkpoint.ts';
import type { Flat, ParameterLayout } from '../engine/graph/parameters.ts';
import type { TrainingState } from '../engine/runtime/training-step.ts';
import { TrainingMemory } from './memory.ts';

function* named(layout: ParameterLayout, flat: Flat, prefix: string): Generator<[string, StoredTensor]> {
  for (const { name, shape } of layout.specs) yield [prefix + name, { shape, data: layout.view(flat, name) }];
}

/** Copies the tensors of a file into a flat vector; every parameter must be there with its shape unless `partial`. */
function fill(layout: ParameterLayout, flat: Flat, tensors: ReadonlyMap<string, StoredTensor>, prefix: string, partial = false): void {
  for (const { name, shape } of layout.specs) {
    const stored = tensors.get(prefix + name);
    if (!stored && partial) continue;
    if (!stored || stored.shape.join() !== shape.join() || !(stored.data instanceof Float32Array)) {
      const found = stored ? `[${stored.shape.join(', ')}]` : 'nothing';
      throw new Error(`The weights do not fit the model: expected ${prefix}${name} [${shape.join(', ')}], found ${found}`);
    }
    layout.view(flat, name).set(stored.data);
  }
}

export function saveWeights(file: string, layout: ParameterLayout, weights: Flat, notes: Readonly<Record<string, string>>): void {
  writeCheckpoint(file, { tensors: new Map(named(layout, weights, '')), step: 0, notes });
}

export function loadWeights(file: string, layout: ParameterLayout): Flat {
  const flat = layout.zeros();
  fill(layout, flat, readCheckpoint(file).tensors, '');
  return flat;
}

/** The parameters that two models share, copied from one to the other. */
export function adopt(from: ParameterLayout, weights: Flat, to: ParameterLayout, target: Flat): void {
  fill(to, target, new Map(named(from, weights, '')), '', true);
}

/** Weights and optimizer state: all that an optimizer needs to continue exactly. */
export function saveOptimizer(
  file: string,
  layout: ParameterLayout,
  state: TrainingState,
  notes: Readonly<Record<string, string>>,
  lagged?: LaggedReference,
): void {
  const tensors = new Map([
    ...named(layout, state.values, ''),
    ...named(layout, state.first, 'optimizer.first.'),
    ...named(layout, state.second, 'optimizer.second.'),
    ...(lagged ? named(lagged.layout, lagged.weights, 'reference.') : []),
  ]);
  writeCheckpoint(file, { tensors, step: state.step, notes });
}

export function loadOptimizer(file: string, layout: ParameterLayout): { state: TrainingState; notes: Readonly<Record<string, string>> } {
  const { tensors, step, notes } = readCheckpoint(file);
  const state: TrainingState = { values: layout.zeros(), first: layout.zeros(), second: layout.zeros(), step };
  fill(layout, state.values, tensors, '');
  fill(layout, state.first, tensors, 'optimizer.first.');
  fill(layout, state.second, tensors, 'optimizer.second.');
  return { state, notes };
}

/** A reference that follows the policy, with its parameters. */
export interface LaggedReference {
  readonly layout: ParameterLayout;
  readonly weights: Flat;
}

/** The whole state of a run. */
export function saveState(
  file: string,
  layout: ParameterLayout,
  state: TrainingState,
  memory: TrainingMemory,
  { notes, lagged }: { readonly notes: Readonly<Record<string, string>>; readonly lagged?: LaggedReference | undefined },
): void {
  saveOptimizer(file, layout, state, { ...notes, memory: JSON.stringify(memory) }, lagged);
}

/** Takes a lagged reference as a checkpoint has it. */
export function loadLagged(file: string, { layout, weights }: LaggedReference): void {
  fill(layout, weights, readCheckpoint(file).tensors, 'reference.');
}

export function loadState(file: string, layout: ParameterLayout): { state: TrainingState; memory: TrainingMemory } {
  const { state, notes } = loadOptimizer(file, layout);
  return { state, memory: TrainingMemory.parse(JSON.parse(notes.memory ?? 'null')) };
}

/**
 * The beginning of a branch: the weights of another run's checkpoint on top of `values` (a critic that the other had none of keeps its
 * first weights), and the optimizer's state where both runs train the same parameters.
 */
export function branchState(
  file: string,
  layout: ParameterLayout,
  values: Flat,
): { state: TrainingState; tasks: TrainingMemory['tasks']; optimizer: boolean } {
  const { tensors, step, notes } = readCheckpoint(file);
  fill(layout, values, tensors, '', true);
  const optimizer = layout.specs.every(({ name }) => tensors.has(`optimizer.first.${name}`) && tensors.has(`optimizer.second.${name}`));
  const state: TrainingState = { values, first: layout.zeros(), second: layout.zeros(), step: optimizer ? step : 0 };
  if (optimizer) {
    fill(layout, state.first, tensors, 'optimizer.first.');
    fill(layout, state.second, tensors, 'optimizer.second.');
  }
  return { state, tasks: TrainingMemory.parse(JSON.parse(notes.memory ?? 'null')).tasks, optimizer };
}
