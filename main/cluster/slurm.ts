// Slurm through its commands: submit, cancel, the largest array, and the states of jobs from whichever of squeue, scontrol and sacct
// answers. A scheduler that says nothing is silent, which is a separate state: it never means that a job has ended.

import { arrayIndices, type JobRecord, jobRecords, plainText } from './incoming.ts';
import type { Place } from './place.ts';

export interface Scheduler {
  /** All array tasks of jobs with these names; null when the scheduler is silent. */
  jobs(names: readonly string[], since: number): Promise<SchedulerAnswer | null>;
  /** The number of the new job. Throws `Refused` when the scheduler answered and did not take it, `Silent` when nobody knows. */
  submit(script: string): Promise<string>;
  /** Jobs (`12`) or tasks of arrays (`12_3`). */
  cancel(targets: readonly string[]): Promise<void>;
  /** How many tasks an array may have; null when the scheduler does not say. */
  arrayLimit(): Promise<number | null>;
}

export interface SchedulerAnswer {
  readonly source: 'squeue' | 'scontrol' | 'sacct';
  readonly jobs: readonly JobRecord[];
}

export class Silent extends Error {
  override name = 'Silent';
  readonly code = 'scheduler-silent';
  readonly hint = 'Nothing is lost and nothing will be submitted twice: call again when the scheduler answers.';
}

export class Refused extends Error {
  override name = 'Refused';
  readonly code = 'scheduler-refused';
  readonly hint = 'Change the settings of the cluster (`lab cluster add` with the same name), then `lab cluster retry`.';
}

/** Targets of one scancel: the command line stays short enough. */
const CANCELLED_AT_ONCE = 500;

export class Slurm implements Scheduler {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  async jobs(names: readonly string[], since: number): Promise<SchedulerAnswer | null> {
    const wanted = new Set(names);
    const live = (await this.#squeue()) ?? (await this.#scontrol());
    const known = live?.jobs.filter(({ name }) => wanted.has(name)) ?? [];
    const missing = names.filter((name) => !known.some((job) => job.name === name));
    // Only accounting remembers jobs that ended long ago; many clusters have none.
    const past = missing.length > 0 ? await this.#sacct(missing, since) : null;
    if (live === null && past === null) return null;
    return { source: live?.source ?? 'sacct', jobs: [...known, ...(past ?? [])] };
  }

  async submit(script: string): Promise<string> {
    const { code, output, errors } = await this.#place.run(['sbatch', '--parsable', script]);
    const job = /^(\d{1,20})(?!\d)/m.exec(output)?.[1];
    if (code === 0 && job !== undefined) return job;
    const said = plainText(errors) || plainText(output) || `exit code ${code}`;
    if (code === 127) throw new Refused(`There is no sbatch on the path of ${this.#place.there}: ${said}`);
    // A refusal names its reason ("Batch job submission failed: Invalid partition"); a lost connection or a time-out may have been too late.
    const uncertain = /unable to contact|timed out|time-?out|connection|communication|socket|zero bytes/i.test(said);
    if (code === 1 && !uncertain) throw new Refused(`sbatch did not take the job: ${said}`);
    throw new Silent(`Nobody knows whether sbatch took the job: ${said}`);
  }

  async cancel(targets: readonly string[]): Promise<void> {
    for (let start = 0; start < targets.length; start += CANCELLED_AT_ONCE) {
      const { code, errors } = await this.#place.run(['scancel', ...targets.slice(start, start + CANCELLED_AT_ONCE)]);
      if (code !== 0 && !/already completing|invalid job id/i.test(errors))
        throw new Silent(`scancel did not answer: ${plainText(errors) || code}`);
    }
  }

  async arrayLimit(): Promise<number | null> {
    const { code, output } = await this.#place.run(['scontrol', 'show', 'config']);
    const found = code === 0 ? /^MaxArraySize\s*=\s*(\d{1,9})\s*$/m.exec(output)?.[1] : undefined;
    return found === undefined || Number(found) < 1 ? null : Number(found);
  }

  async #squeue(): Promise<SchedulerAnswer | null> {
    const { code, output } = await this.#place.run([
      'squeue',
      '--me',
      '--states=all',
      '--array',
      '--noheader',
      '--format=%j|%F|%K|%T|%N|%r',
    ]);
    return code === 0 ? { source: 'squeue', jobs: parseSqueue(output) } : null;
  }

  async #scontrol(): Promise<SchedulerAnswer | null> {
    const { code, output } = await this.#place.run(['scontrol', '--oneliner', 'show', 'job']);
    return code === 0 ? { source: 'scontrol', jobs: parseScontrol(output) } : null;
  }

  async #sacct(names: readonly string[], since: number): Promise<JobRecord[] | null> {
    const begin = new Date(since - 3_600_000).toISOString().slice(0, 19);
    const fields = '--format=JobName,JobID,State,NodeList';
    const { code, output } = await this.#place.run([
      'sacct',
      '-n',
      '-P',
      '-X',
      fields,
      `--name=${names.join(',')}`,
      `--starttime=${begin}`,
    ]);
    return code === 0 ? parseSacct(output) : null;
  }
}

/** Lines of `name|job|index|state|node|reason`. */
export function parseSqueue(output: string): JobRecord[] {
  return records(output, (row) => {
    const [name = '', job = '', index = '', state = '', node = '', ...reason] = row.split('|');
    return /^\d+$/.test(index) ? jobRecords({ name, job, index: Number(index), state, node, reason: reason.join('|') }) : [];
  });
}

/** One job a line as `Key=value` words; waiting tasks of an array share a line (ArrayTaskId=3-9,12%4). */
export function parseScontrol(output: string): JobRecord[] {
  return records(output, (row) => {
    const field = (key: string): string => new RegExp(`(?:^| )${key}=(\\S*)`).exec(row)?.[1] ?? '';
    const node = field('NodeList').replace('(null)', '');
    const [name, job, state, reason] = [field('JobName'), field('ArrayJobId') || field('JobId'), field('JobState'), field('Reason')];
    return arrayIndices(field('ArrayTaskId')).flatMap((index) => jobRecords({ name, job, index, state, reason, node }));
  });
}

/** Lines of `name|12_3|CANCELLED by 0|node`. */
export function parseSacct(output: string): JobRecord[] {
  return records(output, (row) => {
    const [name = '', id = '', state = '', node = ''] = row.split('|');
    const match = /^(\d+)_(?:(\d+)|\[([\d,-]+)(?:%\d+)?\])$/.exec(id);
    if (!match) return [];
    const [, job = '', single, several] = match;
    const word = state.split(' ')[0] ?? '';
    return arrayIndices(single ?? several ?? '').flatMap((index) => jobRecords({ name, job, index, state: word, reason: '', node }));
  });
}

/** More than a user has in any cluster. */
const MOST_RECORDS = 400_000;

function records(output: string, read: (row: string) => JobRecord[]): JobRecord[] {
  const found: JobRecord[] = [];
  for (const row of output.split('\n')) {
    if (found.length > MOST_RECORDS) break;
    for (const record of read(row)) found.push(record);
  }
  return found;
}
