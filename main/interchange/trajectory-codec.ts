// Trajectories as bytes, for export files: a JSON head (texts, rewards, outcome) and the packed token numbers.
// Independent of the database's tables, so an old export can be read by a newer lab.

import { z } from 'zod';
import { type Trajectory, trajectorySchema } from '../rollout/trajectory.ts';
import { canonicalJson } from '../base/canonical.ts';
import { boundedJson, Budget, listOf, MEGABYTE, mayInflateTo } from '../store/limits.ts';
import { packTokens, unpackTokens } from '../store/pack.ts';

const recorded = z.object({ update: z.int().min(0), trajectory: trajectorySchema });

/** An episode and the update it was recorded in. */
export interface RecordedTrajectory {
  readonly update: number;
  readonly trajectory: Trajectory;
}

export function encodeTrajectories(list: readonly RecordedTrajectory[]): Buffer {
  const parts: Buffer[] = [];
  for (const { update, trajectory: one } of list) {
    const steps = one.steps.map(({ tokens: _tokens, ...step }) => step);
    const head = Buffer.from(canonicalJson({ update, trajectory: { ...one, steps } }));
    const tokens = packTokens(one.steps.map((step) => step.tokens));
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(head.length, 0);
    lengths.writeUInt32LE(tokens.length, 4);
    parts.push(lengths, head, tokens);
  }
  return Buffer.concat(parts);
}

/** Throws when the bytes are not what `encodeTrajectories` writes. */
export function decodeTrajectories(data: Buffer): RecordedTrajectory[] {
  const budget = new Budget(mayInflateTo(data.length, 16 * MEGABYTE, 8));
  const list: RecordedTrajectory[] = [];
  for (let at = 0; at < data.length;) {
    if (at + 8 > data.length) throw new RangeError('the episodes end in the middle of one');
    const head = data.readUInt32LE(at);
    const tokens = data.readUInt32LE(at + 4);
    const end = at + 8 + head + tokens;
    if (end > data.length) throw new RangeError('the episodes end in the middle of one');
    const value = headSchema.parse(boundedJson(data.subarray(at + 8, at + 8 + head)));
    const packed = unpackTokens(data.subarray(at + 8 + head, end), budget);
    if (packed.length !== value.trajectory.steps.length)
      throw new RangeError(`an episode has ${value.trajectory.steps.length} steps but tokens for ${packed.length}`);
    const steps = value.trajectory.steps.map((step, index) => ({ ...step, tokens: packed[index] }));
    list.push(recorded.parse({ update: value.update, trajectory: { ...value.trajectory, steps } }));
    at = end;
  }
  return list;
}

/** The head before its tokens are put back; the complete trajectory is parsed afterwards. */
const headSchema = z.object({ update: z.unknown(), trajectory: z.looseObject({ steps: listOf(z.looseObject({}), 100_000) }) });
