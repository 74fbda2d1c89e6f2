// The schema of a run as a flat list of knobs: key, kind, meaning, range, unit and default. Forms in the window, `--help` texts
// and docs/configuration.md are all made of this list, so none of them can disagree with what is validated.

import { z } from 'zod';
import type { KnobKind } from '../base/vocabulary.ts';
import type { World } from '../environment/environment.ts';
import { between, knob } from '../base/knob.ts';
import type { Catalog } from './catalog.ts';
import { configSchemas } from './config.ts';

export interface Knob {
  /** Dotted path as `--set` takes it. */
  readonly key: string;
  readonly kind: KnobKind;
  readonly description: string;
  readonly unit: string;
  readonly default: unknown;
  readonly low: number | null;
  readonly high: number | null;
  readonly options: readonly string[];
  /** The algorithm it belongs to; null where it belongs to every run. */
  readonly variant: string | null;
}

export interface KnobGroup {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly variant: string | null;
  readonly knobs: readonly Knob[];
}

const Node = z.object({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().default(''),
  unit: z.string().default(''),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  enum: z.array(z.string()).optional(),
  const: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  oneOf: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
});
type Node = z.infer<typeof Node>;

/** All groups of settings in the order of the schema; an algorithm is a separate group. */
export function describeConfig(catalog: Catalog): KnobGroup[] {
  const root = Node.parse(z.toJSONSchema(configSchemas(catalog).run, { io: 'input', unrepresentable: 'any' }));
  const groups: KnobGroup[] = [];
  collect(root, '', 'run', null, groups);
  return groups;
}

/** The settings of a world as one group, under the key they have in a run's config. */
export function describeSettings(schema: z.ZodType, title: string): KnobGroup[] {
  const groups: KnobGroup[] = [];
  collect(Node.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })), 'world.settings', title, null, groups);
  return groups;
}

/** The mistakes of a world's demonstrator as one group. */
export function describeMistakes({ mistakes, title }: World): KnobGroup[] {
  const shape = Object.entries(mistakes).map(
    ([name, { chance, meaning }]) => [name, knob(between(0, 1), chance, meaning, 'share')] as const,
  );
  const schema = z.strictObject(Object.fromEntries(shape)).meta({ description: 'Probability of each mistake of the demonstrator.' });
  const groups: KnobGroup[] = [];
  const node = Node.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  collect(node, 'reference.imperfection', `Mistakes of demonstrations in the world ${title}`, null, groups);
  return groups;
}

/** Written by the lab itself, so no form shows them. */
const NOTED: ReadonlySet<string> = new Set(['plugins', 'branch']);

function collect(node: Node, key: string, title: string, variant: string | null, groups: KnobGroup[]): void {
  const knobs: Knob[] = [];
  const group: KnobGroup = { key, title, description: node.description, variant, knobs };
  groups.push(group);
  for (const [name, raw] of Object.entries(node.properties ?? {})) {
    const inner = Node.parse(raw);
    const path = key === '' ? name : `${key}.${name}`;
    if (inner.const !== undefined || NOTED.has(path)) continue;
    const variants = inner.oneOf ?? (inner.type === undefined ? inner.anyOf : undefined);
    if (variants) for (const one of variants.map((member) => Node.parse(member))) collect(one, path, one.title ?? path, idOf(one), groups);
    else if (inner.properties) collect(inner, path, path, variant, groups);
    else knobs.push(knobOf(inner, path, variant));
  }
  if (knobs.length === 0) groups.splice(groups.indexOf(group), 1);
}

function idOf(node: Node): string {
  return Node.parse(node.properties?.id ?? {}).const ?? '';
}

function knobOf(node: Node, key: string, variant: string | null): Knob {
  const numbers = node.items === undefined ? node : Node.parse(node.items);
  return {
    key,
    kind: kindOf(node, key),
    description: node.description,
    unit: node.unit,
    default: node.default,
    low: numbers.minimum ?? null,
    high: numbers.maximum ?? null,
    options: node.enum ?? [],
    variant,
  };
}

function kindOf(node: Node, key: string): KnobKind {
  if (node.enum) return 'choice';
  switch (node.type) {
    case 'integer':
      return 'whole number';
    case 'number':
      return 'number';
    case 'boolean':
      return 'switch';
    case 'string':
      return 'text';
    case 'array':
      return 'list of numbers';
    case 'object':
      return 'settings';
    default:
      throw new Error(`The setting ${key} is of a kind (${node.type}) that forms cannot show; give it one of the supported kinds`);
  }
}

/** docs/configuration.md. */
export function configMarkdown(catalog: Catalog): string {
  const lines = [
    '# Every setting of a run',
    '',
    'Made from the schema in `main/config/config.ts` (a test keeps it in step). Change a setting with `--set key=value`, for example',
    '`npm run lab -- train --preset shop-astar-po --set training.updates=50`. Lists are written `1.5,1,0.8`.',
  ];
  const worlds = catalog.worlds.flatMap((world) =>
    describeMistakes(world).map((group) => ({ ...group, key: `world.name = ${world.name}: ${group.key}` })),
  );
  for (const group of [...describeConfig(catalog), ...worlds]) {
    const heading = group.variant === null ? (group.key === '' ? 'The run' : group.key) : `algorithm.id = ${group.variant}: ${group.title}`;
    lines.push('', `## ${heading}`, '');
    if (group.description !== '') lines.push(group.description, '');
    lines.push('| key | default | range | meaning |', '|---|---|---|---|');
    for (const knob of group.knobs) {
      const unit = knob.unit === '' ? '' : ` (${knob.unit})`;
      lines.push(
        `| \`${knob.key}\` | ${JSON.stringify(knob.default)} | ${rangeOf(knob)} | ${knob.description.replaceAll('|', '\\|')}${unit} |`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function rangeOf(knob: Knob): string {
  if (knob.options.length > 0) return knob.options.join(', ');
  if (knob.kind === 'switch') return 'true, false';
  return knob.low === null || knob.high === null ? knob.kind : `${knob.low} to ${knob.high}`;
}
