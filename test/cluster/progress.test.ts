// What the growing files of attempts say: read once in full or by their edges, then only what was added.

import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ProgressReader } from '../../main/cluster/progress.ts';
import type { ProgressLine } from '../../main/cluster/incoming.ts';
import { temporaryFolder } from '../store/helpers.ts';

const started: ProgressLine = { is: 'started', at: 1, job: '12', node: 'n1', processor: 'x' };
const at = (done: number): ProgressLine => ({ is: 'progress', at: done, phase: 'training', done, total: 10_000, success: done / 10_000 });

test.each([3, 5000])(
  'an attempt with %i lines of progress: the newest counts, a checkpoint and its end are seen, half a line is not',
  (count) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'progress'));
    const file = join(folder, 'progress', '0001.12-0.jsonl');
    const write = (...lines: ProgressLine[]): void => appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const reader = new ProgressReader(folder);
    const news = () => reader.read().get('0001')?.[0];
    write(started, ...Array.from({ length: count }, (_, index) => at(index + 1)), { is: 'saved', at: count, update: 2 });
    expect(news()).toMatchObject({ job: '12', node: 'n1', done: count, success: count / 10_000, saved: 2, end: null });
    const half = JSON.stringify(at(count + 1));
    appendFileSync(file, half.slice(0, 20));
    expect(news()).toMatchObject({ done: count });
    appendFileSync(file, `${half.slice(20)}\n`);
    expect(news()).toMatchObject({ done: count + 1, saved: 2 });
    expect(reader.allDone(new Set(['0001']))).toBe(false);
    write(at(count + 2), { is: 'done', at: 9, file: '0001.12-0.astrolab', sha256: '0'.repeat(64), bytes: 1, updates: 9 });
    expect(news()).toMatchObject({ done: count + 2, end: { is: 'done' } });
    expect([reader.allDone(new Set(['0001'])), reader.allDone(new Set(['0001', '0002'])), reader.allDone(new Set())]).toEqual([
      true,
      false,
      false,
    ]);
  },
);
