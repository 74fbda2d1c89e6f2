// The devices of this machine and their self-test.

import { z } from 'zod';
import type { Handlers } from '../definition.ts';
import { runJob } from '../job.ts';
import type { Lab } from '../lab.ts';

const trace = z.object({ losses: z.array(z.number()), norms: z.array(z.number()) });

const device = z.object({
  /** What a run's `device` setting takes. */
  id: z.string(),
  name: z.string(),
  memory: z.number().nullable(),
  ok: z.boolean(),
  reason: z.string(),
  /** Losses and gradient norms of the same small training on the CPU and on the device. */
  check: z.object({ cpu: trace, device: trace, seconds: z.number() }).nullable(),
});
export type DeviceState = z.infer<typeof device>;

const devices = z.object({ devices: z.array(device), testedAt: z.number() });

export const calls = {
  /** The last self-test's result; tests now when there is none, or when asked to. */
  'devices.list': { input: z.strictObject({ again: z.boolean() }), answer: devices },
};

const testedDevices = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    memory: z.number().nullable(),
    ok: z.boolean(),
    reason: z.string(),
    check: z
      .object({ cpu: trace, device: trace, seconds: z.number() })
      .nullish()
      .transform((check) => check ?? null),
  }),
);
const tested = z.object({ version: z.string(), testedAt: z.number(), devices: testedDevices }).nullable();
type Tested = NonNullable<z.infer<typeof tested>>;
const TESTED = 'devices.tested';

export function handlers(lab: Lab): Handlers<typeof calls> {
  let testing: Promise<Tested> | null = null;

  /** In a process of its own: loading the engine takes a while, and a driver may crash. */
  async function testDevices(): Promise<Tested> {
    const answer = await runJob({ kind: 'devices' }, 'The devices were not tested', { gentle: true });
    const { devices } = z.object({ devices: testedDevices }).parse(answer);
    const result: Tested = { version: lab.version, testedAt: Date.now(), devices };
    lab.store.settings.set(TESTED, result);
    return result;
  }

  return {
    'devices.list': async ({ again }) => {
      const known = lab.store.settings.get(TESTED, tested, null);
      if (!again && known?.version === lab.version) return known;
      testing ??= testDevices().finally(() => {
        testing = null;
      });
      return testing;
    },
  };
}
