// Two ways to switch: Tabs change what is shown, Segmented changes how (linear/log, update/episode/time). Arrow keys
// move in both.

import { Tabs as RadixTabs, ToggleGroup } from 'radix-ui';
import type { ReactNode } from 'react';
import styles from './tabs.module.css';

interface Option<V extends string> {
  readonly value: V;
  readonly label: string;
}

interface TabsProps<V extends string> {
  label: string;
  value: V;
  onValue: (value: V) => void;
  tabs: readonly (Option<V> & { readonly content: ReactNode; readonly count?: number })[];
}

export function Tabs<V extends string>({ label, value, onValue, tabs }: TabsProps<V>) {
  return (
    <RadixTabs.Root className={styles.root} value={value} onValueChange={pick(tabs, onValue)}>
      <RadixTabs.List className={styles.list} aria-label={label}>
        {tabs.map((tab) => (
          <RadixTabs.Trigger key={tab.value} value={tab.value} className={styles.tab}>
            {tab.label}
            {tab.count !== undefined && <span className={styles.count}>{tab.count}</span>}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map((tab) => (
        <RadixTabs.Content key={tab.value} value={tab.value} className={styles.content}>
          {tab.content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  );
}

interface SegmentedProps<V extends string> {
  label: string;
  value: V;
  onValue: (value: V) => void;
  options: readonly Option<V>[];
}

export function Segmented<V extends string>({ label, value, onValue, options }: SegmentedProps<V>) {
  return (
    <ToggleGroup.Root type="single" className={styles.segmented} aria-label={label} value={value} onValueChange={pick(options, onValue)}>
      {options.map((option) => (
        <ToggleGroup.Item key={option.value} value={option.value} className={styles.segment}>
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}

/** Radix speaks strings (and an empty one when a segment is pressed twice); only real options pass. */
function pick<V extends string>(options: readonly Option<V>[], onValue: (value: V) => void): (value: string) => void {
  return (value) => {
    const option = options.find((candidate) => candidate.value === value);
    if (option) onValue(option.value);
  };
}
