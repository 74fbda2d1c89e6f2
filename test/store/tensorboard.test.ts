import { describe, expect, it } from 'vitest';
import { metricsCsv, metricsJsonLines, episodesCsv, episodesJsonLines } from '../../main/interchange/tables.ts';
import { crc32c, maskedCrc, tensorboardFile } from '../../main/interchange/tensorboard.ts';
import { openStore } from './helpers.ts';
import { newRun, someTrajectory } from './samples.ts';
import { Random } from '../../main/base/random.ts';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

interface Event {
  wallTime: number;
  step: number;
  version: string;
  values: Record<string, number>;
}

/** Reads an event file with another protobuf implementation, checking every checksum. */
function readEvents(file: Buffer): Event[] {
  const events: Event[] = [];
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    expect(file.readUInt32LE(at + 8)).toBe(maskedCrc(file.subarray(at, at + 8)));
    const data = file.subarray(at + 12, at + 12 + length);
    expect(file.readUInt32LE(at + 12 + length)).toBe(maskedCrc(data));
    events.push(readEvent(data));
    at += 16 + length;
  }
  return events;
}

function readEvent(data: Uint8Array): Event {
  const event: Event = { wallTime: 0, step: 0, version: '', values: {} };
  const reader = new BinaryReader(data);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) event.wallTime = reader.double();
    else if (field === 2) event.step = Number(reader.int64());
    else if (field === 3) event.version = reader.string();
    else if (field === 5) {
      const summary = new BinaryReader(reader.bytes());
      while (summary.pos < summary.len) {
        expect(summary.tag()).toEqual([1, WireType.LengthDelimited]);
        const value = new BinaryReader(summary.bytes());
        value.tag();
        const tag = value.string();
        value.tag();
        event.values[tag] = value.float();
      }
    } else reader.skip(type);
  }
  return event;
}

describe('a TensorBoard event file', () => {
  it('holds every metric at its step and time, and every checksum is right', () => {
    const series = {
      loss: { updates: Int32Array.of(1, 2, 300), values: Float64Array.of(0.5, NaN, -2) },
      'rollout.success': { updates: Int32Array.of(2), values: Float64Array.of(0.25) },
    };
    const events = readEvents(tensorboardFile(series, 1_700_000_000_000, (update) => update * 2));
    expect(events).toEqual([
      { wallTime: 1_700_000_000, step: 0, version: 'brain.Event:2', values: {} },
      { wallTime: 1_700_000_002, step: 1, version: '', values: { loss: 0.5 } },
      { wallTime: 1_700_000_004, step: 2, version: '', values: { loss: NaN, 'rollout.success': 0.25 } },
      { wallTime: 1_700_000_600, step: 300, version: '', values: { loss: -2 } },
    ]);
  });

  it('uses the checksum of the CRC catalogue', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
  });
});

describe('tables', () => {
  it('hold metrics as CSV and JSON lines, numbers that are none included', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    store.metrics.append(run, 1, { loss: 0.1, 'a,"b"': 2 });
    store.metrics.append(run, 2, { loss: NaN });
    expect([...metricsCsv(store, run)].join('')).toBe('update,"a,""b""",loss\r\n1,2,0.1\r\n2,,NaN\r\n');
    expect([...metricsJsonLines(store, run)].map((line) => JSON.parse(line))).toEqual([
      { run: 1, name: 'a,"b"', update: 1, value: 2 },
      { run: 1, name: 'loss', update: 1, value: 0.1 },
      { run: 1, name: 'loss', update: 2, value: 'NaN' },
    ]);
  });

  it('hold episodes as CSV that no spreadsheet runs as a formula, and completely as JSON lines', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    const trajectory = someTrajectory(Random.from('table'), { task: '=1+1', failure: null });
    store.trajectories.add(run, 4, [trajectory]);
    const [head = '', line = ''] = [...episodesCsv(store, run)];
    expect(head.split(',').length).toBe(18);
    expect(line).toContain(",'=1+1,");
    expect(line.trimEnd().endsWith(trajectory.steps.map(({ action }) => action).join(' → '))).toBe(true);
    const [full = '{}'] = [...episodesJsonLines(store, run, {}, true)];
    const parsed: unknown = JSON.parse(full);
    expect(parsed).toMatchObject({
      run,
      recorded: 4,
      return: trajectory.return,
      steps: trajectory.steps.map(({ observation, action, reward, tokens }) => ({
        observation,
        action,
        reward,
        tokens: { ids: [...tokens.ids], logProbs: [...tokens.logProbs] },
      })),
    });
  });
});
