// A real Slurm cluster of several nodes on this one machine, without systemd or cgroups: a slurmctld, a slurmd per node on a port of its
// own, and munge for their credentials, all under one folder and ended by the pid files in it. Needs root and Debian's packages, which the
// set-up of `npm test` installs; elsewhere the tests that use it are skipped with the reason, but never where ASTROLAB_REQUIRE_SLURM is 1.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgressReader } from '../../main/cluster/progress.ts';

const PROGRAMS = ['slurmctld', 'slurmd', 'sbatch', 'munged'];

/** Why there is no cluster here; null where one can be started. */
export function slurmMissing(): string | null {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  const absent = PROGRAMS.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  const reason =
    process.getuid?.() === 0
      ? absent.length > 0
        ? `not installed: ${absent.join(', ')}`
        : null
      : 'only root can start a cluster on one machine';
  if (reason !== null && process.env.ASTROLAB_REQUIRE_SLURM === '1')
    throw new Error(`The tests of clusters may not be skipped here, but: ${reason}`);
  return reason;
}

export interface TestClusterOptions {
  readonly nodes: number;
  readonly maxArraySize?: number;
  /** Seconds after which a node that does not answer is down. */
  readonly nodeTimeout?: number;
}

export class SlurmCluster {
  readonly folder: string;
  readonly #options: TestClusterOptions;

  private constructor(folder: string, options: TestClusterOptions) {
    this.folder = folder;
    this.#options = options;
  }

  /** Started and ready; its commands find it through SLURM_CONF, which is set for this process. */
  static async start(options: TestClusterOptions): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(mkdtempSync(join(tmpdir(), 'astrolab-slurm-')), options);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  async #start(): Promise<void> {
    const { folder } = this;
    for (const name of ['state', 'log', 'munge', 'shared']) mkdirSync(join(folder, name), { mode: name === 'munge' ? 0o700 : 0o755 });
    writeFileSync(join(folder, 'munge/key'), randomBytes(128), { mode: 0o400 });
    const files = {
      'key-file': 'munge/key',
      socket: 'munge/socket',
      'pid-file': 'munge/pid',
      'log-file': 'log/munge.log',
      'seed-file': 'munge/seed',
    };
    execFileSync('/usr/sbin/munged', ['--force', ...Object.entries(files).map(([key, file]) => `--${key}=${join(folder, file)}`)]);
    const ports = await freePorts(this.#options.nodes + 1);
    writeFileSync(join(folder, 'slurm.conf'), configuration(folder, this.#options, ports));
    process.env.SLURM_CONF = join(folder, 'slurm.conf');
    execFileSync('/usr/sbin/slurmctld', ['-f', join(folder, 'slurm.conf')]);
    for (let node = 1; node <= this.#options.nodes; node++) this.startNode(`n${node}`);
    await until(
      'all nodes idle',
      () =>
        this.run('sinfo', '-h', '-N', '-p', 'low', '-o', '%t')
          .split('\n')
          .filter((state) => state === 'idle').length === this.#options.nodes,
    );
  }

  /** What a command of Slurm prints. */
  run(program: string, ...args: string[]): string {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  startNode(node: string): void {
    mkdirSync(join(this.folder, `spool.${node}`), { recursive: true });
    execFileSync('/usr/sbin/slurmd', ['-f', join(this.folder, 'slurm.conf'), '-N', node]);
  }

  /** The node's daemon dies without a word, as when the machine loses its network: what runs there continues unseen. */
  loseNode(node: string): void {
    process.kill(Number(readFileSync(join(this.folder, `slurmd.${node}.pid`), 'utf8')), 'SIGKILL');
    rmSync(join(this.folder, `slurmd.${node}.pid`));
  }

  async stop(): Promise<void> {
    const pidFiles = readdirSync(this.folder).filter((name) => /^(slurmd\..*|slurmctld)\.pid$/.test(name));
    try {
      this.run('scancel', '--state=PENDING,RUNNING', '--user=root');
      await until('nothing running', () => this.run('squeue', '-h', '-t', 'RUNNING,COMPLETING') === '', 30_000);
    } catch {
      // It may not have started at all.
    }
    for (const file of [...pidFiles, 'munge/pid']) {
      const path = join(this.folder, file);
      const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
      if (pid > 0) end(pid);
    }
    await sleep(300);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // Gone already.
  }
}

/** Waits for a condition; fails with its name. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, patienceMs = 300_000): Promise<void> {
  const begin = performance.now();
  while (!(await condition())) {
    if (performance.now() - begin > patienceMs) throw new Error(`Still not after ${patienceMs / 1000} s: ${what}`);
    await sleep(150);
  }
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function configuration(
  folder: string,
  { nodes, maxArraySize = 100, nodeTimeout = 15 }: TestClusterOptions,
  [control, ...ports]: readonly number[],
): string {
  const host = hostname().split('.')[0] ?? 'localhost';
  const node = (index: number): string =>
    `NodeName=n${index + 1} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[index]} CPUs=1 RealMemory=1000 State=UNKNOWN`;
  return `ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmUser=root
SlurmctldPort=${control}
AuthType=auth/munge
AuthInfo=socket=${folder}/munge/socket,cred_expire=5
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool.%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.%n.pid
SlurmctldLogFile=${folder}/log/slurmctld.log
SlurmdLogFile=${folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
MinJobAge=300
SlurmdTimeout=${nodeTimeout}
KillWait=10
MaxArraySize=${maxArraySize}
SlurmdParameters=config_overrides
SlurmctldParameters=preempt_send_user_signal
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1,sched_min_interval=100000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
${Array.from({ length: nodes }, (_, index) => node(index)).join('\n')}
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=0
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
`;
}

/** As when the node's machine dies: its step daemon and all that it started are gone, and nobody says so. */
export function endProcessesOf(submission: string, task: string): void {
  for (const pid of Object.values(processTree(submission, task))) process.kill(pid, 'SIGKILL');
}

export interface Paused {
  /** Whether TERM has reached it: the signal is pending, or somebody else has let it continue since. */
  warned(): boolean;
  resume(): void;
}

/**
 * Stops a task's program in the middle of its training, once a later attempt could continue from update `saved`, so that it cannot finish
 * before what is to happen to it has happened. It is looked at only while it stands still, and runs for moments in between: however slow the
 * machine is, it cannot slip through.
 */
export async function pauseInTraining(submission: string, task: string, saved = 0): Promise<Paused> {
  const reader = new ProgressReader(submission);
  const news = () => reader.read().get(task)?.at(-1);
  await until(`task ${task} starts`, () => news() !== undefined, 300_000);
  const { program } = processTree(submission, task);
  for (;;) {
    process.kill(program, 'SIGSTOP');
    // A signal takes effect when the process is next scheduled.
    await until(`task ${task} stands still`, () => standsStill(statusOf(program)));
    const now = news();
    if (now?.end) throw new Error(`task ${task} ended before it could be stopped: ${JSON.stringify(now.end)}`);
    if (now?.phase === 'training' && now.done < now.total && (now.saved ?? 0) >= saved) break;
    process.kill(program, 'SIGCONT');
    await sleep(100);
  }
  return {
    warned: () => {
      const status = statusOf(program);
      const pending = BigInt(`0x${/^ShdPnd:\s*(\w+)/m.exec(status)?.[1] ?? '0'}`);
      return !standsStill(status) || (pending & TERM_BIT) !== 0n;
    },
    resume: () => {
      try {
        process.kill(program, 'SIGCONT');
      } catch {
        // Gone already.
      }
    },
  };
}

const TERM_BIT = 1n << 14n; // signal 15

/** What the system says of a process; empty when it is gone. */
const statusOf = (pid: number): string => (existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'latin1') : '');
const standsStill = (status: string): boolean => /^State:\s*T/m.test(status);

/** The step daemon of a task, the shell below it and the task's program. */
function processTree(submission: string, task: string): { daemon: number; shell: number; program: number } {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
        const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
        return [{ pid: Number(pid), parent, command }];
      } catch {
        return [];
      }
    });
  const program = processes.find(({ command }) => command.includes(submission) && command.includes(task));
  const shell = processes.find(({ pid }) => pid === program?.parent);
  const daemon = processes.find(({ pid }) => pid === shell?.parent);
  if (!program || !shell || daemon?.command[0]?.includes('slurmstepd') !== true)
    throw new Error(`task ${task} is not under a step daemon of Slurm`);
  return { daemon: daemon.pid, shell: shell.pid, program: program.pid };
}
