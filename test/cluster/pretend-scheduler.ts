// A pretended scheduler with a simulated clock, for what no real cluster can show in a test: ten thousand tasks, preemptions, lost nodes
// (some of which work on unseen), jobs that are forgotten some minutes after their end, and minutes in which no command is answered. Its
// tasks train nothing; they write the progress files that real ones write.

import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../main/base/random.ts';
import type { JobRecord, ProgressLine } from '../../main/cluster/incoming.ts';
import { type Scheduler, type SchedulerAnswer, Silent } from '../../main/cluster/slurm.ts';

interface Task {
  readonly name: string;
  readonly job: string;
  readonly index: number;
  readonly folder: string;
  readonly task: string;
  readonly after: readonly string[];
  state: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'NODE_FAIL' | 'LOST';
  restarts: number;
  /** When its attempt ends, and how. */
  ends: number;
  fate: 'done' | 'preempted' | 'lost';
  /** When it was last running. */
  endedAt: number;
}

export class PretendScheduler implements Scheduler {
  readonly #random = Random.from('pretend-scheduler', 1);
  readonly #nodes: number;
  readonly #limit: number;
  readonly #tasks: Task[] = [];
  #waiting: Task[] = [];
  #running = new Set<Task>();
  /** Attempts on lost nodes that finish all the same. */
  #unseen: { task: Task; ends: number; restarts: number }[] = [];
  #jobs = 100;
  now = 1_000_000;
  /** No command is answered before this time. */
  silentUntil = 0;
  /** The next sbatch: nobody hears its answer, though the job exists; or it never arrives. */
  nextSubmit: 'answered' | 'unheard' | 'lost' = 'answered';
  readonly seen = { preempted: 0, lost: 0, unseen: 0, largestArray: 0, executions: new Map<string, number>() };

  constructor(nodes: number, limit: number) {
    this.#nodes = nodes;
    this.#limit = limit;
  }

  get submittedTasks(): number {
    return this.#tasks.length;
  }

  submit(script: string): Promise<string> {
    const how = this.nextSubmit;
    this.nextSubmit = 'answered';
    if (how === 'lost' || this.now < this.silentUntil) return Promise.reject(new Silent('pretended: no answer'));
    const text = readFileSync(script, 'utf8');
    const name = /--job-name=(\S+)/.exec(text)?.[1] ?? '';
    const after = /afterany:(\S+)/.exec(text)?.[1]?.split(':') ?? [];
    const folder = join(script, '..', '..');
    const tasks = readFileSync(script.replace(/\.sh$/, '.txt'), 'utf8').trim().split('\n');
    const job = String((this.#jobs += tasks.length + 1));
    this.seen.largestArray = Math.max(this.seen.largestArray, tasks.length);
    for (const [index, task] of tasks.entries()) {
      const one: Task = { name, job, index, folder, task, after, state: 'PENDING', restarts: 0, ends: 0, fate: 'done', endedAt: 0 };
      this.#tasks.push(one);
      this.#waiting.push(one);
    }
    return how === 'unheard' ? Promise.reject(new Silent('pretended: the answer was lost')) : Promise.resolve(job);
  }

  jobs(names: readonly string[]): Promise<SchedulerAnswer | null> {
    if (this.now < this.silentUntil) return Promise.resolve(null);
    const wanted = new Set(names);
    const records = this.#tasks.flatMap(({ name, job, index, state, endedAt }): JobRecord[] => {
      const forgotten = (state === 'COMPLETED' || state === 'NODE_FAIL') && this.now - endedAt > 300_000;
      const word = state === 'LOST' ? 'RUNNING' : state;
      return wanted.has(name) && !forgotten ? [{ name, job, index, state: word, reason: 'None', node: 'n1' }] : [];
    });
    return Promise.resolve({ source: 'squeue', jobs: records });
  }

  cancel(): Promise<void> {
    return Promise.reject(new Error('nothing is cancelled in this test'));
  }

  arrayLimit(): Promise<number | null> {
    return Promise.resolve(this.now < this.silentUntil ? null : this.#limit);
  }

  /** Time passes: attempts end, waiting tasks start. */
  pass(ms: number): void {
    this.now += ms;
    for (const task of this.#running) if (task.ends <= this.now) this.#end(task);
    for (const one of this.#unseen.splice(0)) {
      if (one.ends > this.now) this.#unseen.push(one);
      else {
        this.seen.unseen += 1;
        this.#write(one.task, one.restarts, doneLine(one.ends, one.task, one.restarts));
      }
    }
    const open = new Set(this.#tasks.flatMap(({ state, job }) => (state === 'COMPLETED' || state === 'NODE_FAIL' ? [] : [job])));
    const later: Task[] = [];
    for (const task of this.#waiting) {
      if (this.#running.size >= this.#nodes || task.after.some((job) => open.has(job))) later.push(task);
      else this.#start(task);
    }
    this.#waiting = later;
  }

  #start(task: Task): void {
    const dice = this.#random.next();
    const seconds = 60 + this.#random.below(240);
    task.state = 'RUNNING';
    task.fate = dice < 0.05 ? 'preempted' : dice < 0.06 ? 'lost' : 'done';
    task.ends = this.now + seconds * (task.fate === 'done' ? 1000 : 500);
    this.#running.add(task);
    const { job, folder, restarts } = task;
    const key = `${folder} ${task.task}`;
    this.seen.executions.set(key, (this.seen.executions.get(key) ?? 0) + 1);
    this.#write(task, restarts, { is: 'started', at: this.now, job, node: 'n1', processor: 'pretended' });
    if (task.fate === 'lost' && this.#random.next() < 0.5) this.#unseen.push({ task, ends: this.now + seconds * 1000, restarts });
  }

  #end(task: Task): void {
    if (task.fate === 'lost' && task.state === 'RUNNING') {
      // The scheduler notices a minute later.
      this.seen.lost += 1;
      task.state = 'LOST';
      task.ends = this.now + 60_000;
      return;
    }
    this.#running.delete(task);
    task.endedAt = this.now;
    if (task.fate === 'done') {
      this.#write(task, task.restarts, doneLine(this.now, task, task.restarts));
      task.state = 'COMPLETED';
    } else if (task.fate === 'lost' && this.#random.next() < 0.3) task.state = 'NODE_FAIL';
    else {
      if (task.fate === 'preempted') {
        this.seen.preempted += 1;
        this.#write(task, task.restarts, { is: 'stopped', at: this.now, update: 3 });
      }
      task.state = 'PENDING';
      task.restarts += 1;
      this.#waiting.push(task);
    }
  }

  #write({ folder, task, job, index }: Task, restarts: number, line: ProgressLine): void {
    appendFileSync(join(folder, 'progress', `${task}.${Number(job) + index}-${restarts}.jsonl`), `${JSON.stringify(line)}\n`);
  }
}

function doneLine(at: number, { task, job, index }: Task, restarts: number): ProgressLine {
  return { is: 'done', at, file: `${task}.${Number(job) + index}-${restarts}.astrolab`, sha256: '0'.repeat(64), bytes: 1, updates: 10 };
}
