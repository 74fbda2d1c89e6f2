// Runs whose device is pretended, for the tests that mock `requireDevice`: each clones its own reference, and all are removed at the end of the file.

import { afterAll, expect } from 'vitest';
import { train } from '../../main/training/train.ts';
import { TestHost, smallest } from './host.ts';

const hosts: TestHost[] = [];

/** Call it once in a file; gives what plays the smallest run with these changes. */
export function deviceHosts(): (changes: Record<string, unknown>) => Promise<TestHost> {
  afterAll(() => {
    for (const host of hosts.splice(0)) host.remove();
    TestHost.forgetReferences();
  });
  return async (changes) => {
    TestHost.forgetReferences();
    const host = new TestHost();
    hosts.push(host);
    expect(await train(smallest(changes), host)).toBe('done');
    return host;
  };
}

export const metricsOf = ({ reports }: TestHost) => reports.flatMap((report) => (report.type === 'update' ? [report.metrics] : []));
