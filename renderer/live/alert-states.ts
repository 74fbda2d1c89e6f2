// Alerts as they stand: an alert is raised, may clear, and may be raised again. The log has an entry for each of these; here they are
// paired, so that a page can say what holds now and what has passed. No React in here.

import type { RunEvent } from '../../main/lab/features/runs.ts';

export interface AlertState {
  /** Of the event that raised it. */
  readonly event: number;
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly metrics: readonly string[];
  readonly raised: number;
  /** The update at which it cleared; null while it holds. */
  readonly cleared: number | null;
}

/** Every alert of a log, oldest first. */
export function alertsOf(events: readonly RunEvent[]): AlertState[] {
  const states: AlertState[] = [];
  for (const { id: event, update, text, alert } of events.toSorted((a, b) => a.update - b.update || a.id - b.id)) {
    if (!alert) continue;
    const open = states.findIndex(({ id, cleared }) => id === alert.id && cleared === null);
    const before = states[open];
    if (alert.state === 'cleared') {
      if (before) states[open] = { ...before, cleared: update };
    } else {
      // Raised again without having cleared: the newer numbers count.
      if (before) states.splice(open, 1);
      states.push({ event, id: alert.id, title: alert.title, text, metrics: alert.metrics, raised: update, cleared: null });
    }
  }
  return states;
}

/** The alerts that are about one of these metrics. */
export function concerning(alerts: readonly AlertState[], metrics: readonly string[]): AlertState[] {
  return alerts.filter((alert) => alert.metrics.some((metric) => metrics.includes(metric)));
}

/** Newest first by the clock: a resumed run writes about earlier updates later. */
export function inLogOrder(events: readonly RunEvent[]): RunEvent[] {
  return events.toSorted((a, b) => b.time - a.time || b.id - a.id);
}
