// The five commands of docs/CLUSTER.md, followed literally on a real Slurm: only the shared folder and the report's place are the test's.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { Store } from '../../main/store/store.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { SlurmCluster, slurmMissing } from './slurm-cluster.ts';

const missing = slurmMissing();

describe.skipIf(missing !== null)(`docs/CLUSTER.md${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start({ nodes: 2 });
  });
  afterAll(() => slurm.stop());

  test('five commands lead from nothing to a finished study', async () => {
    const data = temporaryFolder();
    const report = join(temporaryFolder(), 'report.md');
    const page = readFileSync(join(projectFolder(), 'docs', 'CLUSTER.md'), 'utf8');
    const block = /in five commands\n[\s\S]*?```\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const commands = block.trim().split('\n');
    expect(commands).toHaveLength(5);
    const said: string[] = [];
    for (const command of commands) {
      const here = command.replace('/shared/me/astrolab', join(slurm.folder, 'shared')).replace('report.md', report);
      const env = { ...process.env, ASTROLAB_DATA: data };
      said.push((await promisify(execFile)('sh', ['-c', here], { cwd: projectFolder(), env })).stdout);
    }
    expect(said[1]).toMatch(/n[12]/);
    expect(said[2]).toMatch(/^#SBATCH --array=0-1$/m);
    expect(said[3]).toMatch(/A tiny policy does not reach the heuristic/);
    expect(readFileSync(report, 'utf8')).toMatch(/A tiny policy does not reach the heuristic/);
    const store = Store.open(data);
    expect(store.runs.list().map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => 'done'));
    store.close();
  });
});
