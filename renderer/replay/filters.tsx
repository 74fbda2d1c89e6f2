// What narrows the list of episodes: text, outcome, where they come from, category, tier, failure class, updates, order.

import type { Answer } from '../../preload/contract.ts';
import { episodeOrders } from '../../main/base/vocabulary.ts';
import type { EpisodeFilter } from '../../main/lab/features/episodes.ts';
import { Button } from '../components/button.tsx';
import { Checkbox, Select, TextInput } from '../components/field.tsx';
import type { ListView } from './list-view.ts';
import styles from './replay.module.css';

interface FiltersProps {
  view: ListView;
  onView: (view: ListView) => void;
  facets: Answer<'episodes.facets'> | undefined;
}

type FilterChange = { [K in keyof EpisodeFilter]?: EpisodeFilter[K] | undefined };

interface PartProps {
  filter: EpisodeFilter;
  /** Sets one field; an empty value takes it out. */
  set: (change: FilterChange) => void;
}

const PURPOSES: Readonly<Record<string, string>> = { train: 'training', vstar: 'V* samples', evaluation: 'evaluation' };
const ORDERS = [
  { value: 'time-', label: 'newest first' },
  { value: 'time+', label: 'oldest first' },
  { value: 'surprise-', label: 'most surprising' },
  { value: 'return-', label: 'highest return' },
  { value: 'return+', label: 'lowest return' },
  { value: 'advantage-', label: 'highest advantage' },
  { value: 'advantage+', label: 'lowest advantage' },
  { value: 'steps-', label: 'most steps' },
] as const;

export function Filters({ view, onView, facets }: FiltersProps) {
  const { filter } = view;
  const set = (change: FilterChange): void => {
    const next = Object.fromEntries(Object.entries({ ...filter, ...change }).filter(([, value]) => value !== undefined && value !== ''));
    onView({ ...view, filter: next });
  };
  return (
    <div className={styles.filters} role="search" aria-label="Filter episodes">
      <span className={styles.wide}>
        <TextInput
          aria-label="Text in the task, the actions or the comment"
          placeholder={filter.deep ? 'Anything contains…' : 'Task, action or comment contains…'}
          value={filter.text ?? ''}
          onChange={(event) => set({ text: event.target.value })}
        />
      </span>
      <div className={styles.checks}>
        <Check words="Search observations too" checked={filter.deep} onChecked={(deep) => set({ deep })} />
        <Check words="Starred" checked={filter.starred} onChecked={(starred) => set({ starred })} />
      </div>
      <Select
        aria-label="Outcome"
        value={filter.success === undefined ? '' : String(filter.success)}
        options={[
          { value: '', label: 'any outcome' },
          { value: 'true', label: 'success' },
          { value: 'false', label: 'failure' },
        ]}
        onValue={(value) => set({ success: value === '' ? undefined : value === 'true' })}
      />
      <FacetFilters {...{ filter, set, facets }} />
      <Select
        aria-label="Order"
        value={`${view.order}${view.descending ? '-' : '+'}`}
        options={ORDERS}
        onValue={(value) => {
          const order = episodeOrders.find((one) => one === value.slice(0, -1));
          if (order) onView({ ...view, order, descending: value.endsWith('-') });
        }}
      />
      <UpdateFilters {...{ filter, set }} />
      <Button kind="quiet" icon="cross" disabled={Object.keys(filter).length === 0} onClick={() => onView({ ...view, filter: {} })}>
        Clear filters
      </Button>
    </div>
  );
}

interface CheckProps {
  words: string;
  checked: boolean | undefined;
  onChecked: (on: true | undefined) => void;
}

function Check({ words, checked, onChecked }: CheckProps) {
  return (
    <label>
      <Checkbox label={words} checked={checked ?? false} onChecked={(on) => onChecked(on || undefined)} />
      {words}
    </label>
  );
}

/** Choices that depend on the run: the values its episodes have, each with the number of episodes. */
function FacetFilters({ filter, set, facets }: PartProps & Pick<FiltersProps, 'facets'>) {
  const options = (all: string, counts: Readonly<Record<string, number>> | undefined, names: Readonly<Record<string, string>> = {}) => [
    { value: '', label: all },
    ...Object.entries(counts ?? {}).map(([value, count]) => ({ value, label: `${names[value] ?? value} (${count.toLocaleString('en')})` })),
  ];
  return (
    <>
      <Select
        aria-label="Failure class"
        value={filter.failure ?? ''}
        options={options('any failure class', facets?.failures)}
        onValue={(failure) => set({ failure: failure || undefined })}
      />
      <Select
        aria-label="Category"
        value={filter.category ?? ''}
        options={options('any category', facets?.categories)}
        onValue={(category) => set({ category: category || undefined })}
      />
      <Select
        aria-label="Tier"
        value={filter.tier ?? ''}
        options={options('any tier', facets?.tiers)}
        onValue={(tier) => set({ tier: tier || undefined })}
      />
      <Select
        aria-label="Purpose"
        value={filter.purpose ?? ''}
        options={options('any purpose', facets?.purposes, PURPOSES)}
        onValue={(value) => set({ purpose: (['train', 'vstar', 'evaluation'] as const).find((one) => one === value) })}
      />
    </>
  );
}

function UpdateFilters({ filter, set }: PartProps) {
  const number = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);
  return (
    <span className={styles.updates}>
      <TextInput
        aria-label="From update"
        inputMode="numeric"
        placeholder="from update"
        value={filter.fromUpdate ?? ''}
        onChange={(event) => set({ fromUpdate: number(event.target.value) })}
      />
      <TextInput
        aria-label="To update"
        inputMode="numeric"
        placeholder="to update"
        value={filter.toUpdate ?? ''}
        onChange={(event) => set({ toUpdate: number(event.target.value) })}
      />
    </span>
  );
}
