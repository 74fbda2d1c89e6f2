// Which world is played and how: its settings that are a choice (the reward, say), and which tasks come up. A change begins a
// task that fits at once, so that the selectors always say what is played.

import { z } from 'zod';
import type { Input } from '../../preload/contract.ts';
import type { PlayGame } from '../../main/lab/features/play.ts';
import type { Knob } from '../../main/lab/features/setup.ts';
import type { WorldData } from '../../main/lab/features/worlds.ts';
import { useCall } from '../bridge.ts';
import { Select } from '../components/field.tsx';
import { Segmented } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { words } from '../new-run/draft.ts';
import util from '../theme/utilities.module.css';
import styles from './play.module.css';

export const setupSchema = z.object({
  choice: z.object({ world: z.string(), settings: z.record(z.string(), z.string()), imported: z.boolean() }),
  filter: z.object({ split: z.enum(['train', 'validation', 'test']), tier: z.string().nullable() }),
});
export type Setup = z.infer<typeof setupSchema>;
/** A task, any that fits a filter, or the world's example. */
export type Start = Input<'play.start'>['task'];

/** The lab's default world; the answer to the first start names it. */
export const EXAMPLE_SETUP: Setup = {
  choice: { world: '', settings: {}, imported: false },
  filter: { split: 'test', tier: null },
};

export const SPLITS = [
  { value: 'test', label: 'Test tasks' },
  { value: 'validation', label: 'Validation tasks' },
  { value: 'train', label: 'Training tasks' },
] as const;

interface SetupBarProps {
  setup: Setup;
  game: PlayGame | null;
  onStart: (setup: Setup, task: Start) => void;
}

export function SetupBar({ setup, game, onStart }: SetupBarProps) {
  const schema = useCall('setup.schema', {});
  const { choice, filter } = setup;
  const data = useCall('worlds.data', {}).data?.worlds.find(({ world }) => world === choice.world);
  const tasks = useCall('play.tasks', { choice, filter: { ...filter, text: '' }, limit: 1 });
  if (!schema.data) return null;
  const knobs = schema.data.groups
    .filter(({ world }) => world === choice.world)
    .flatMap((group) => group.knobs)
    .filter(
      (knob) => knob.kind === 'choice' && nameOf(knob) !== FOR_POLICIES && (choice.imported || !data?.onlyWith.includes(nameOf(knob))),
    );
  const set = (knob: Knob, value: string): void => {
    const next = { ...setup, choice: { ...choice, settings: { ...choice.settings, [nameOf(knob)]: value } } };
    onStart(next, game && game.choice.world === choice.world && nameOf(knob) === 'reward' ? { id: game.task.id } : null);
  };
  const restrict = (next: Setup['filter']): void => onStart({ ...setup, filter: next }, { any: { ...next, text: '' } });
  return (
    <div className={styles.setup}>
      <Segmented
        label="World"
        value={choice.world}
        onValue={(world) => onStart({ choice: { world, settings: {}, imported: false }, filter: { ...filter, tier: null } }, null)}
        options={schema.data.worlds.map(({ name, title }) => ({ value: name, label: title }))}
      />
      {data?.imported && <DataSelect setup={setup} onStart={onStart} imported={data.imported} />}
      {knobs.map((knob) => (
        <span key={knob.key} className={styles.knob}>
          <Select
            aria-label={words(knob.key)}
            value={choice.settings[nameOf(knob)] ?? String(knob.default)}
            options={knob.options.map((option) => ({ value: option, label: `${words(knob.key)}: ${option}` }))}
            onValue={(value) => set(knob, value)}
          />
          <Explain what={words(knob.key)} title={words(knob.key)}>
            <p>{knob.description}</p>
          </Explain>
        </span>
      ))}
      <span className={util.spacer} />
      <Select
        aria-label="Tasks from"
        value={filter.split}
        options={SPLITS}
        onValue={(value) => restrict({ split: setupSchema.shape.filter.shape.split.catch('test').parse(value), tier: null })}
      />
      <Select
        aria-label="Kind of task"
        value={filter.tier ?? ''}
        options={[{ value: '', label: 'Any kind' }, ...(tasks.data?.tiers ?? []).map((tier) => ({ value: tier, label: tier }))]}
        onValue={(value) => restrict({ ...filter, tier: value === '' ? null : value })}
      />
    </div>
  );
}

/** How a policy reads the pages, which changes nothing for people. */
const FOR_POLICIES = 'view';

const nameOf = ({ key }: Knob): string => key.slice(key.lastIndexOf('.') + 1);

type DataSelectProps = Pick<SetupBarProps, 'setup' | 'onStart'> & { imported: NonNullable<WorldData['imported']> };

/** The data that comes with the lab, or what was imported in Settings. */
function DataSelect({ setup, onStart, imported }: DataSelectProps) {
  const [size] = imported.counts;
  return (
    <Select
      aria-label="Data"
      value={setup.choice.imported ? 'imported' : 'built-in'}
      options={[
        { value: 'built-in', label: 'Built-in data' },
        { value: 'imported', label: `Imported data${size ? ` (${size.count.toLocaleString('en')} ${size.label})` : ''}` },
      ]}
      onValue={(value) =>
        onStart(
          {
            ...setup,
            choice: { world: setup.choice.world, settings: {}, imported: value === 'imported' },
            filter: { ...setup.filter, tier: null },
          },
          null,
        )
      }
    />
  );
}
