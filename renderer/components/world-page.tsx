// What a world showed, drawn as the world asks for it: a list, a card, a grid, rows of letters. What the agent did next is
// marked, and so is what the task is after (which the agent does not see). No world is named here.

import type { DrawnPage, PageCell, PageEntry } from '../../main/lab/features/episodes.ts';
import { Icon } from './icons.tsx';
import { Badge } from './stat.tsx';
import util from '../theme/utilities.module.css';
import styles from './world-page.module.css';

/** The verb and the thing of an action such as `click 17`, `click[17]` or `search red shoes`. */
function named(action: string | undefined): { verb: string; thing: string } | null {
  const parts = /^(\p{L}+)\s*\[?(.*?)\]?$/u.exec(action ?? '');
  return parts ? { verb: (parts[1] ?? '').toLowerCase(), thing: (parts[2] ?? '').toLowerCase() } : null;
}

export function WorldPage({ page, action }: { page: DrawnPage; action: string | undefined }) {
  const next = named(action);
  switch (page.kind) {
    case 'start':
      return (
        <div className={styles.start}>
          <span className={util.faint}>{page.heading}</span>
          <p className={styles.instruction}>{page.instruction}</p>
          {page.note && <p className={util.muted}>{page.note}</p>}
          <Typed field={page.field} action={action} />
        </div>
      );
    case 'list':
      return <List page={page} action={action} />;
    case 'card':
      return <Card page={page} verb={next?.thing === page.entry.id.toLowerCase() ? next.verb : null} />;
    case 'end':
      return (
        <div className={styles.start}>
          <Icon name={page.right === false ? 'cross' : 'check'} size={22} />
          <span className={util.faint}>{page.heading}</span>
          <p className={styles.instruction}>{page.name}</p>
          {page.right !== null && <Badge tone={page.right ? 'success' : 'failure'}>{page.verdict}</Badge>}
        </div>
      );
    case 'grid':
      return (
        <div className={styles.page}>
          {page.caption && <p className={util.muted}>{page.caption}</p>}
          <Cells rows={page.rows} />
        </div>
      );
    case 'letters':
      return (
        <div className={styles.page}>
          {page.caption && <p className={util.muted}>{page.caption}</p>}
          <Cells rows={page.rows} />
          {page.keys.length > 0 && (
            <div className={styles.keys}>
              {page.keys.map((key) => (
                <Cell key={key.text} {...key} />
              ))}
            </div>
          )}
        </div>
      );
    case 'text':
      return <pre className={styles.raw}>{page.text}</pre>;
  }
}

function List({ page, action }: { page: Extract<DrawnPage, { kind: 'list' }>; action: string | undefined }) {
  const next = named(action);
  return (
    <div className={styles.page}>
      <Typed field={page.field} action={action} />
      <p className={util.muted}>{page.summary}</p>
      <ol className={styles.entries}>
        {page.entries.map((entry) => (
          <Entry key={entry.id} entry={entry} verb={next?.thing === entry.id.toLowerCase() ? next.verb : null} />
        ))}
      </ol>
      {page.entries.length === 0 && <p className={util.muted}>{page.empty}</p>}
    </div>
  );
}

function Card({ page, verb }: { page: Extract<DrawnPage, { kind: 'card' }>; verb: string | null }) {
  const { entry, text, options } = page;
  return (
    <div className={styles.page}>
      <div className={styles.card} data-target={entry.target || undefined} data-next={verb ?? undefined}>
        <div className={styles.cardHead}>
          <strong className={styles.cardName}>{entry.name}</strong>
          <span className={styles.value}>{entry.value}</span>
        </div>
        {text && <p>{text}</p>}
        <p className={util.muted}>{[entry.group, entry.id].filter(Boolean).join(' · ')}</p>
        {options.length > 0 && (
          <ul className={styles.options}>
            {options.map((option, index) => (
              <li key={index}>{option}</li>
            ))}
          </ul>
        )}
        <Marks entry={entry} verb={verb} />
      </div>
    </div>
  );
}

function Entry({ entry, verb }: { entry: PageEntry; verb: string | null }) {
  return (
    <li className={styles.entry} data-target={entry.target || undefined} data-next={verb ?? undefined}>
      <span className={styles.entryName}>{entry.name}</span>
      <Marks entry={entry} verb={verb} />
      <span className={util.muted}>{entry.group}</span>
      <span className={styles.entryId}>{entry.id}</span>
      <span className={styles.value}>{entry.value}</span>
    </li>
  );
}

function Marks({ entry, verb }: { entry: PageEntry; verb: string | null }) {
  return (
    <span className={styles.marks}>
      {entry.target && <Badge tone="accent">target</Badge>}
      {verb && <Badge icon="chevronRight">next: {verb}</Badge>}
    </span>
  );
}

/** What the agent types next, where it types. */
function Typed({ field, action }: { field: string | null; action: string | undefined }) {
  if (field === null) return null;
  const words = /^search\s*\[?(.*?)\]?$/i.exec(action ?? '')?.[1];
  return (
    <div className={styles.field} data-used={words !== undefined || undefined}>
      <Icon name="search" size={14} />
      <span>{words ?? field}</span>
      {words !== undefined && <Badge icon="chevronRight">next: search</Badge>}
    </div>
  );
}

function Cells({ rows }: { rows: readonly (readonly PageCell[])[] }) {
  return (
    <div className={styles.grid} role="img" aria-label={rows.map((row) => row.map(({ label }) => label).join(', ')).join('; ')}>
      {rows.map((row, y) => (
        <div key={y} className={styles.gridRow}>
          {row.map((cell, x) => (
            <Cell key={x} {...cell} />
          ))}
        </div>
      ))}
    </div>
  );
}

function Cell({ text, tone, label }: PageCell) {
  return (
    <span className={styles.cell} data-tone={tone} title={label}>
      {text}
    </span>
  );
}
