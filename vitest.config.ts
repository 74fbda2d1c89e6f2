// The test projects. All of them run inside Electron's Node (scripts/test.mjs starts vitest that way): `unit` is
// everything that needs no window (`alone` those of them that change what other files would see, `page` those that load components, whose
// JSX Node does not read), `e2e` drives the real application one file at a time (scripts/test.mjs
// starts it twice, each time with half of the files), and `slow` holds what takes minutes and runs only with
// `npm run test:slow`.

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const slow = 'test/**/*.slow.test.ts';
const e2e = 'test/e2e/**/*.test.ts';
const page = 'test/renderer/**/*.test.ts';

/** Each in a process of its own: they mock modules, add to what is registered, or change the environment. The others share processes. */
const alone = [
  'test/cluster/slurm.test.ts',
  'test/engine/device-failure.test.ts',
  'test/plugin/plugin.test.ts',
  'test/training/device-run.test.ts',
  'test/training/model-device.test.ts',
];

/** Begun first, in this order: whichever came last would be waited for with nothing beside it. */
const longest = [
  ...alone,
  'test/engine/device.test.ts',
  'test/trust/outside.test.ts',
  'test/training/train.test.ts',
  'test/trust/stop.test.ts',
  'test/training/model-policy.test.ts',
  'test/study/two-labs.test.ts',
  'test/queue/queue.test.ts',
  'test/study/work.test.ts',
  'test/environment/external/bad-worlds.test.ts',
];

class LongestFirst extends BaseSequencer {
  /** Each file, the largest first, goes to the part with the least so far: by their sizes the parts take about equally long. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index = 1, count = 1 } = this.ctx.config.shard ?? {};
    const parts = Array.from({ length: count }, (): { bytes: number; files: TestSpecification[] } => ({ bytes: 0, files: [] }));
    const sized = files.map((file) => ({ file, bytes: statSync(file.moduleId).size }));
    for (const { file, bytes } of sized.toSorted((a, b) => b.bytes - a.bytes || a.file.moduleId.localeCompare(b.file.moduleId))) {
      const least = parts.reduce((fewest, part) => (part.bytes < fewest.bytes ? part : fewest));
      least.bytes += bytes;
      least.files.push(file);
    }
    return parts[index - 1]?.files ?? [];
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files); // one project after the other
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const place = ({ project, moduleId }: TestSpecification): number => {
      const at = longest.findIndex((file) => moduleId.endsWith(file));
      return projects.indexOf(project.name) * (longest.length + 1) + (at < 0 ? longest.length : at);
    };
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}

const withoutWindow = {
  setupFiles: ['test/store/clean-up.ts'],
  testTimeout: 300_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism() - 1), // beside them the window's tests run
    sequence: { sequencer: LongestFirst },
    env: { ORT_DISABLE_TELEMETRY: '1' },
    experimental: { viteModuleRunner: false }, // Node loads the sources itself, as in the lab, from its cache of compiled code
    projects: [
      { extends: true, test: { name: 'alone', include: alone, ...withoutWindow } },
      {
        extends: true,
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [slow, e2e, page, ...alone], isolate: false, ...withoutWindow },
      },
      { extends: true, test: { name: 'page', include: [page], isolate: false, experimental: { viteModuleRunner: true } } },
      {
        extends: true,
        test: { name: 'e2e', include: [e2e], exclude: [slow], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
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
