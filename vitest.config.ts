// The test projects. All of them run inside Electron's Node (scripts/test.mjs starts vitest that way): `unit` is
// everything that needs no window (`page` those of them that load components, whose JSX Node does not read), `e2e` drives the real
// application one file at a time, and `slow` holds what takes minutes and runs only with `npm run test:slow`.

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const slow = 'test/**/*.slow.test.ts';
const e2e = 'test/e2e/**/*.test.ts';
const page = 'test/renderer/**/*.test.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism() - 1), // beside them the window's tests run
    env: { ORT_DISABLE_TELEMETRY: '1' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [slow, e2e, page],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          experimental: { viteModuleRunner: false }, // Node loads the sources itself, as in the lab, from its cache of compiled code
        },
      },
      { extends: true, test: { name: 'page', include: [page] } },
      {
        extends: true,
        test: { name: 'e2e', include: [e2e], exclude: [slow], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
      },
      { extends: true, test: { name: 'slow', include: [slow], fileParallelism: false, testTimeout: 1_800_000, hookTimeout: 600_000 } },
    ],
  },
});
