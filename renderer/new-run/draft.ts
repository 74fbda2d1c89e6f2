// What is being set up: a base (a preset, or another run), and the fields that were edited. Values stay as typed until
// the schema has judged them, so "1e-" can become "1e-4". Pure, and tested as such.

import type { ConfigTree, Knob } from '../../main/lab/features/setup.ts';
import type { Json } from '../../main/lab/features/runs.ts';

/** Texts as typed, switches as booleans. */
export type Edits = Readonly<Record<string, string | boolean>>;

export function getKey(tree: Json, key: string): Json | undefined {
  let node: Json | undefined = tree;
  for (const part of key.split('.')) {
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return undefined;
    node = node[part];
  }
  return node;
}

function setKey(tree: ConfigTree, key: string, value: Json): void {
  const parts = key.split('.');
  const last = parts.pop() ?? '';
  let node: { [key: string]: Json } = tree;
  for (const part of parts) {
    const next = node[part];
    if (typeof next === 'object' && next !== null && !Array.isArray(next)) node = next;
    else node = node[part] = {};
  }
  node[last] = value;
}

/** The base with the edits in it. Another variant or world brings its settings, so the old ones go. */
export function applyEdits(base: ConfigTree, edits: Edits, knobs: ReadonlyMap<string, Knob>): ConfigTree {
  const tree = structuredClone(base);
  const { 'algorithm.id': variant, 'world.name': world } = edits;
  if (typeof variant === 'string' && variant !== getKey(base, 'algorithm.id')) tree.algorithm = { id: variant };
  if (typeof world === 'string' && world !== getKey(base, 'world.name')) {
    tree.world = { name: world };
    // The mistakes of demonstrations belong to the world as well.
    setKey(tree, 'reference.imperfection', {});
  }
  for (const [key, value] of Object.entries(edits)) {
    if (key === 'algorithm.id' || key === 'world.name') continue;
    const knob = knobs.get(key);
    if (knob) setKey(tree, key, typeof value === 'boolean' ? value : typed(value, knob.kind));
  }
  return tree;
}

/** A text as the kind of value its knob holds; what does not fit stays a text, and the schema says what is wrong. */
function typed(text: string, kind: Knob['kind']): Json {
  const number = (part: string): Json => (part.trim() !== '' && Number.isFinite(Number(part)) ? Number(part) : part);
  if (kind === 'whole number' || kind === 'number') return number(text);
  if (kind === 'list of numbers')
    return text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(number);
  return text;
}

/** A value as it stands in its field and after `--set key=`. */
export function showValue(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((item) => showValue(item)).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function flatten(tree: Json, path = ''): [string, Json][] {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return [[path, tree]];
  return Object.entries(tree).flatMap(([key, inner]) => flatten(inner, path === '' ? key : `${path}.${key}`));
}

export interface Change {
  readonly key: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** What differs between two complete configs; the seed is chosen elsewhere. */
export function changesBetween(before: Json, after: Json): Change[] {
  const old = new Map(flatten(before));
  const now = new Map(flatten(after));
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => key !== 'seed' && JSON.stringify(old.get(key)) !== JSON.stringify(now.get(key)))
    .sort()
    .map((key) => ({ key, before: old.get(key), after: now.get(key) }));
}

/** So many values between two ends, evenly or by equal factors; null when that makes no sense. */
export function rangeValues(from: number, to: number, count: number, log: boolean): number[] | null {
  if (![from, to].every(Number.isFinite) || !Number.isInteger(count) || count < 2 || count > 100 || from === to) return null;
  if (log && (from <= 0 || to <= 0)) return null;
  return Array.from({ length: count }, (_, index) => {
    const share = index / (count - 1);
    const value = log ? from * (to / from) ** share : from + (to - from) * share;
    return Number(value.toPrecision(4));
  });
}

/** Names that their key does not spell. */
const NAMES: Readonly<Record<string, string>> = {
  vstar: 'V* estimation',
  'retention.vstar': 'V* samples',
  beta: 'β',
  beta1: 'β₁',
  beta2: 'β₂',
  gamma: 'γ',
  lambda: 'λ',
  gammaTurn: 'γ per turn',
  lambdaTurn: 'λ per turn',
  aids: 'Copying aids',
  id: 'Algorithm',
  klCoefficient: 'KL coefficient',
  klEstimator: 'KL estimator',
};

/** "learningRate" as words. */
export function words(key: string): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const special = NAMES[key] ?? NAMES[name];
  if (special !== undefined) return special;
  const last = name.replaceAll(/([a-z\d])([A-Z])/g, (_match, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return last.charAt(0).toUpperCase() + last.slice(1);
}
