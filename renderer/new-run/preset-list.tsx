// Where a run starts from: presets by what they are for, then the user's latest runs; found by words, with the expected time.

import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Preset } from '../../main/lab/features/setup.ts';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { TextInput } from '../components/field.tsx';
import { formatDuration } from '../format.ts';
import { getKey, showValue } from './draft.ts';
import styles from './preset-list.module.css';

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly algorithm: string;
  /** Seconds; null when nothing comparable was measured. */
  readonly seconds: number | null;
  /** Measured on another machine. */
  readonly elsewhere: boolean;
}

const ELSEWHERE = 'Measured with one thread on another machine; more threads take less.';

const FIRST = ['shop-minute', 'shop-demo', 'shop-tiny'];
const FLAGSHIP = ['shop-astar-po', 'maths-multiplication', 'maths-countdown', 'webshop-products', 'webshop-original'];
const YOURS = 8;

export function PresetList({ presets, runs, current }: { presets: readonly Preset[]; runs: readonly RunRow[]; current: string }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ id, title, words, algorithm }: Entry): boolean => {
    const all = `${id} ${title} ${words} ${algorithm}`.toLowerCase();
    return wanted.every((word) => all.includes(word));
  };
  const groups = groupsOf(presets, runs).map(({ name, entries }) => ({ name, entries: entries.filter(fits) }));
  return (
    <div className={styles.list}>
      <TextInput
        aria-label="Find a preset"
        placeholder="Find a preset or a run by world, algorithm or name…"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.scroll} role="radiogroup" aria-label="Start from">
        {groups.map(
          ({ name, entries }) =>
            entries.length > 0 && (
              <div key={name} role="group" aria-label={name}>
                <div className={styles.heading}>{name}</div>
                {entries.map((entry) => (
                  <button
                    key={entry.id}
                    type="button"
                    role="radio"
                    aria-checked={entry.id === current}
                    className={styles.entry}
                    title={entry.words}
                    onClick={() => navigate(`/new/${entry.id}`)}
                  >
                    <strong>{entry.title}</strong>
                    <span className={styles.words}>{entry.words}</span>
                    <code>{entry.algorithm}</code>
                    <ExpectedTime {...entry} />
                  </button>
                ))}
              </div>
            ),
        )}
        {groups.every(({ entries }) => entries.length === 0) && <p className={styles.none}>No results</p>}
      </div>
      {presets.some(({ seconds, elsewhere }) => elsewhere && seconds !== null) && <p className={styles.note}>* {ELSEWHERE}</p>}
    </div>
  );
}

function ExpectedTime({ seconds, elsewhere }: Entry) {
  if (seconds === null) return <span />;
  return (
    <span className={styles.time} title={elsewhere ? ELSEWHERE : undefined}>
      ≈ {formatDuration(seconds)}
      <span className={styles.mark}>{elsewhere ? '*' : ''}</span>
    </span>
  );
}

function groupsOf(presets: readonly Preset[], runs: readonly RunRow[]): { name: string; entries: Entry[] }[] {
  const preset = ({ id, title, description, config, seconds, elsewhere }: Preset): Entry => {
    return { id: `preset-${id}`, title, words: description, algorithm: showValue(getKey(config, 'algorithm.id')), seconds, elsewhere };
  };
  const pick = (ids: readonly string[]): Entry[] => ids.flatMap((id) => presets.find((one) => one.id === id) ?? []).map(preset);
  const others = presets.filter(({ id }) => !FIRST.includes(id) && !FLAGSHIP.includes(id));
  return [
    { name: 'First run', entries: pick(FIRST) },
    { name: 'Flagship', entries: pick(FLAGSHIP) },
    { name: 'Replications and variations', entries: others.map(preset) },
    { name: 'Your runs', entries: latest(runs) },
  ];
}

/** The newest run of each config. */
function latest(runs: readonly RunRow[]): Entry[] {
  const seen = new Set<string>();
  const list: Entry[] = [];
  for (const { id, name, group, variant, world, seconds, state } of runs) {
    if (seen.has(group)) continue;
    seen.add(group);
    const words = `run ${id} on ${world}, ${state}`;
    const took = state === 'done' && seconds > 0 ? seconds : null;
    list.push({ id: `run-${id}`, title: name, words, algorithm: variant, seconds: took, elsewhere: false });
    if (list.length === YOURS) break;
  }
  return list;
}
