// The batch script of a job array. It starts the lab's task program, passes warnings on (USR1 before the time limit, TERM at preemption)
// and asks to be requeued when the task saved a checkpoint because of the time limit. Options of the cluster become #SBATCH lines, which
// `--dry-run` shows as they are.

import { join } from 'node:path';
import { projectFolder } from '../base/paths.ts';
import type { ClusterSettings } from './clusters.ts';
import { EXIT } from './exit.ts';

export interface ScriptOptions {
  readonly cluster: ClusterSettings;
  /** The submission's folder as the nodes see it. */
  readonly folder: string;
  readonly name: string;
  readonly part: number;
  readonly tasks: number;
  /** The jobs that must have ended before, well or not: a task without shared files makes them itself. */
  readonly after: readonly string[];
}

export function batchScript({ cluster, folder, name, part, tasks, after }: ScriptOptions): string {
  const throttle = cluster.throttle > 0 ? `%${cluster.throttle}` : '';
  const options = [
    `--job-name=${name}`,
    `--array=0-${tasks - 1}${throttle}`,
    `--output=${folder}/logs/${part}-%a.txt`,
    '--open-mode=append',
    '--requeue',
    `--signal=B:USR1@${cluster.warning}`,
    '--nodes=1',
    '--ntasks=1',
    `--cpus-per-task=${cluster.cpus}`,
    ...(after.length === 0 ? [] : [`--dependency=afterany:${after.join(':')}`]),
    ...given({ partition: cluster.partition, account: cluster.account, qos: cluster.qos, time: cluster.time, mem: cluster.memory }),
    ...(cluster.gpus === '' ? [] : [`--gres=gpu:${cluster.gpus}`]),
    ...cluster.options,
  ];
  return `#!/bin/bash
${options.map((option) => `#SBATCH ${option}`).join('\n')}

export ELECTRON_RUN_AS_NODE=1 NODE_NO_WARNINGS=1 ORT_DISABLE_TELEMETRY=1
folder='${folder}'
export NODE_COMPILE_CACHE="$folder/compiled" # the first task compiles the lab's code, the others load it
echo "$SLURM_ARRAY_JOB_ID" > "$folder/seen/${name}"
task=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$folder/parts/${part}.txt")
echo "task $task on $(hostname), job $SLURM_JOB_ID, restart \${SLURM_RESTART_COUNT:-0}, $(date -u +%FT%TZ)"
${cluster.setup}
warned=
${programLine(cluster)} "$folder" "$task" &
pid=$!
trap 'warned=1; kill -TERM $pid 2>/dev/null' USR1
trap 'kill -TERM $pid 2>/dev/null' TERM
wait $pid; code=$?
while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
wait $pid 2>/dev/null; last=$?
[ $last -ne 127 ] && code=$last
if [ $code -eq ${EXIT.saved} ] && [ -n "$warned" ]; then
  scontrol requeue "\${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 30
fi
exit $code
`;
}

/** How a node starts the task program: from a packed copy, or in this lab's folder with this lab's Electron. */
function programLine({ code }: ClusterSettings): string {
  if (code !== '') return `'${code}/lab-task'`;
  const source = import.meta.url.endsWith('.ts');
  return `'${process.execPath}' '${join(projectFolder(), source ? 'main/cluster/task-program.ts' : 'out/main/cluster-task.js')}'`;
}

const given = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([key, value]) => (value === '' ? [] : [`--${key}=${value}`]));
