// The program that a node runs: `task-program FOLDER TASK`, started by the batch script of a submission (cluster/script.ts). TERM saves a
// checkpoint and ends. The exit code says how it ended (EXIT in cluster/task.ts).

import { runTask } from './task.ts';

const [, , folder = '', task = ''] = process.argv;
const { SLURM_JOB_ID = `p${process.pid}`, SLURM_ARRAY_JOB_ID = SLURM_JOB_ID, SLURM_RESTART_COUNT = '0' } = process.env;
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
process.on('SIGINT', () => stop.abort());
process.exit(
  await runTask({ folder, task, label: `${SLURM_JOB_ID}-${SLURM_RESTART_COUNT}`, job: SLURM_ARRAY_JOB_ID, signal: stop.signal }),
);
