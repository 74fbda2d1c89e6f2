// Gathers what happens to runs and notifies the windows at most four times a second, however fast training is: the list
// gets each changed row once, an open Live page every point since the last time. Knows nothing of Electron.

import type { LivePoint, LiveProgress, RunNews } from './features/runs.ts';
import type { RunRow } from './rows.ts';
import { stageOf } from '../training/progress.ts';
import type { RunReport } from '../training/reports.ts';

const BETWEEN_MS = 250;

interface Gathered {
  points: LivePoint[];
  progress: LiveProgress | null;
  stored: { episodes: boolean; evaluations: boolean; events: boolean };
  rewound: boolean;
}

export interface NewsOptions {
  onRows(rows: RunRow[], gone: number[]): void;
  onNews(news: RunNews): void;
}

export class News {
  readonly #options: NewsOptions;
  readonly #rows = new Map<number, () => RunRow>();
  readonly #gone = new Set<number>();
  readonly #runs = new Map<number, Gathered>();
  #timer: NodeJS.Timeout | null = null;
  #told = Number.NEGATIVE_INFINITY;

  constructor(options: NewsOptions) {
    this.#options = options;
  }

  /** `row` is read when it is sent, so that ten changes cost one row. */
  changed(run: number, row: () => RunRow): void {
    this.#gone.delete(run);
    this.#rows.set(run, row);
    this.#plan();
  }

  gone(runs: readonly number[]): void {
    for (const run of runs) {
      this.#rows.delete(run);
      this.#gone.add(run);
    }
    this.#plan();
  }

  report(run: number, report: RunReport): void {
    const news = this.#of(run);
    switch (report.type) {
      case 'update':
        news.points.push({ update: report.update, values: { ...report.metrics, 'system/time.elapsed': report.totals.seconds } });
        news.stored.episodes = true;
        break;
      case 'measured':
        join(news.points, { update: report.update, values: report.metrics });
        break;
      case 'progress': {
        const { phase, done, total, secondsLeft } = report;
        news.progress = { stage: stageOf(phase, report.update), phase, done, total, secondsLeft };
        break;
      }
      case 'evaluation':
        news.stored.evaluations = true;
        news.stored.episodes = true;
        break;
      case 'checkpoint':
        news.stored.evaluations = true;
        break;
      case 'started':
        news.rewound = true;
        break;
      default:
        news.stored.events = true;
    }
    this.#plan();
  }

  /** Another process has written to the run: what of it is shown is asked for again. */
  outside(run: number): void {
    this.#of(run).rewound = true;
    this.#plan();
  }

  /** Sends the rest now. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#told = performance.now();
    if (this.#rows.size > 0 || this.#gone.size > 0) {
      this.#options.onRows(
        [...this.#rows.values()].map((row) => row()),
        [...this.#gone],
      );
    }
    for (const [run, gathered] of this.#runs) this.#options.onNews({ run, ...gathered });
    this.#rows.clear();
    this.#gone.clear();
    this.#runs.clear();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#rows.clear();
    this.#runs.clear();
  }

  #of(run: number): Gathered {
    let gathered = this.#runs.get(run);
    if (!gathered) {
      gathered = { points: [], progress: null, stored: { episodes: false, evaluations: false, events: false }, rewound: false };
      this.#runs.set(run, gathered);
    }
    return gathered;
  }

  /** Soon when it has been quiet, else when the pause is over. */
  #plan(): void {
    const wait = Math.max(5, this.#told + BETWEEN_MS - performance.now());
    this.#timer ??= setTimeout(() => this.flush(), wait);
  }
}

/** Adds the values to the point of their update, or as another point when that one has left already. */
function join(points: LivePoint[], point: LivePoint): void {
  const last = points.at(-1);
  if (last?.update === point.update) points[points.length - 1] = { ...last, values: { ...last.values, ...point.values } };
  else points.push(point);
}
