// The test projects. All of them run inside Electron's Node (scripts/test.mjs starts vitest that way): `unit` is everything that needs no
// window, with `alone` for the files that change what others would see (*.alone.test.ts: they mock modules or load plug-ins; each has a
// process to itself) and `page` for those that load components, whose JSX Node does not read; `e2e` drives the real application, one file
// at a time on each display; `slow` holds what takes minutes and runs only with `npm run test:slow`. Vitest begins with the files that
// took longest the last time, and with the largest where it has not seen them.

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const slow = 'test/**/*.slow.test.ts';
const alone = 'test/**/*.alone.test.ts';
const e2e = 'test/e2e/**/*.test.ts';
const page = 'test/renderer/**/*.test.ts';

const withoutWindow = {
  setupFiles: ['test/store/clean-up.ts'],
  testTimeout: 300_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  // How long each file took. The window's tests run beside the others, and whoever writes last would forget the others' times.
  cacheDir: process.env.ASTROLAB_DISPLAYS === undefined ? '.cache/vitest' : '.cache/vitest-window',
  test: {
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism() - 1), // beside them the window's tests run
    env: { ORT_DISABLE_TELEMETRY: '1' },
    expect: { poll: { timeout: 60_000 } }, // a limit for what never comes, not a measure of how fast it comes
    experimental: { viteModuleRunner: false }, // Node loads the sources itself, as in the lab, from its cache of compiled code
    projects: [
      { extends: true, test: { name: 'alone', include: [alone], exclude: [slow, e2e, page], ...withoutWindow } },
      {
        extends: true,
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [slow, e2e, page, alone], isolate: false, ...withoutWindow },
      },
      { extends: true, test: { name: 'page', include: [page], isolate: false, experimental: { viteModuleRunner: true } } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: [e2e],
          exclude: [slow],
          setupFiles: ['test/e2e/display.ts'],
          maxWorkers: process.env.ASTROLAB_DISPLAYS?.split(',').length ?? 1,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [slow],
          setupFiles: withoutWindow.setupFiles,
          fileParallelism: false,
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
          experimental: { viteModuleRunner: true },
        },
      },
    ],
  },
});
