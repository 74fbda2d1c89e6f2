// What Slurm's commands print, read as the lab reads it; lines as Slurm 22.05 printed them.

import { expect, test } from 'vitest';
import type { Answer, Place } from '../../main/cluster/place.ts';
import { parseSacct, parseScontrol, parseSqueue, Refused, Silent, Slurm } from '../../main/cluster/slurm.ts';

test('squeue: one line per task, also of waiting ones; reasons may have bars in them', () => {
  const jobs = parseSqueue(
    'astrolab-a-1|12|0|RUNNING|n1|None\nastrolab-a-1|12|7|PENDING||Dependency\nother|13|N/A|RUNNING|n2|None\nx|14|1|PENDING||a|b\n',
  );
  expect(jobs).toEqual([
    { name: 'astrolab-a-1', job: '12', index: 0, state: 'RUNNING', node: 'n1', reason: 'None' },
    { name: 'astrolab-a-1', job: '12', index: 7, state: 'PENDING', node: '', reason: 'Dependency' },
    { name: 'x', job: '14', index: 1, state: 'PENDING', node: '', reason: 'a|b' },
  ]);
});

test('scontrol: waiting tasks share a line and are distinguished', () => {
  const text =
    'JobId=15 ArrayJobId=12 ArrayTaskId=3-5,9%2 JobName=astrolab-a-1 UserId=root(0) JobState=PENDING Reason=Resources Dependency=(null) NodeList=\n' +
    'JobId=14 ArrayJobId=12 ArrayTaskId=1 JobName=astrolab-a-1 UserId=root(0) JobState=NODE_FAIL Reason=NodeDown NodeList=n2\n';
  const jobs = parseScontrol(text);
  expect(jobs.map(({ job, index, state, node }) => [job, index, state, node])).toEqual([
    ['12', 3, 'PENDING', ''],
    ['12', 4, 'PENDING', ''],
    ['12', 5, 'PENDING', ''],
    ['12', 9, 'PENDING', ''],
    ['12', 1, 'NODE_FAIL', 'n2'],
  ]);
});

test('sacct: a state may say by whom, waiting tasks are in brackets', () => {
  const jobs = parseSacct(
    'astrolab-a-1|12_3|CANCELLED by 1000|n1\nastrolab-a-1|12_[5-6%2]|PENDING|None assigned\nastrolab-a-1|13|COMPLETED|n1\n',
  );
  expect(jobs.map(({ index, state }) => [index, state])).toEqual([
    [3, 'CANCELLED'],
    [5, 'PENDING'],
    [6, 'PENDING'],
  ]);
});

/** A machine where only these programs answer. */
function place(answers: Readonly<Record<string, Partial<Answer>>>): { place: Place; asked: string[] } {
  const asked: string[] = [];
  const run = ([program = '']: readonly string[]): Promise<Answer> => {
    asked.push(program);
    return Promise.resolve({
      code: 1,
      output: '',
      errors: 'slurm_load_jobs error: Unable to contact slurm controller',
      ...answers[program],
    });
  };
  const none = (): Promise<string[]> => Promise.resolve([]);
  const moved = (): Promise<void> => Promise.resolve();
  return {
    asked,
    place: {
      here: '/x',
      there: '/x',
      run,
      submissions: none,
      push: moved,
      pull: moved,
      pullFolder: moved,
      tail: () => Promise.resolve(''),
    },
  };
}

test('whichever of squeue, scontrol and sacct works is believed; when none does the scheduler is silent', async () => {
  const squeue = { code: 0, output: 'a|12|0|RUNNING|n1|None\n' };
  const scontrol = { code: 0, output: 'JobId=12 ArrayJobId=12 ArrayTaskId=0 JobName=a JobState=RUNNING Reason=None NodeList=n1\n' };
  const sacct = { code: 0, output: 'a|12_0|COMPLETED|n1\n' };
  const source = async (answers: Parameters<typeof place>[0]) => (await new Slurm(place(answers).place).jobs(['a'], 0))?.source ?? null;
  expect(await source({ squeue, scontrol, sacct })).toBe('squeue');
  expect(await source({ scontrol, sacct })).toBe('scontrol');
  expect(await source({ sacct })).toBe('sacct');
  expect(await source({})).toBeNull();
  const { place: only, asked } = place({ squeue });
  await new Slurm(only).jobs(['a'], 0);
  expect(asked).toEqual(['squeue']);
});

test('a job that squeue has forgotten is looked up in the accounts', async () => {
  const answers = { squeue: { code: 0, output: 'b|13|0|RUNNING|n1|None\n' }, sacct: { code: 0, output: 'a|12_0|FAILED|n1\n' } };
  const found = await new Slurm(place(answers).place).jobs(['a', 'b'], 0);
  expect(found?.jobs.map(({ name, state }) => [name, state])).toEqual([
    ['b', 'RUNNING'],
    ['a', 'FAILED'],
  ]);
});

test('sbatch: a refusal is distinguished from silence, after which a job may exist', async () => {
  const submit = (sbatch: Partial<Answer>) => new Slurm(place({ sbatch }).place).submit('x.sh');
  expect(await submit({ code: 0, output: '31;cluster\n', errors: '' })).toBe('31');
  const refusal = 'sbatch: error: Batch job submission failed: Invalid partition name specified';
  await expect(submit({ code: 1, errors: refusal })).rejects.toBeInstanceOf(Refused);
  await expect(
    submit({ code: 1, errors: 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' }),
  ).rejects.toBeInstanceOf(Silent);
  await expect(
    submit({ code: 1, errors: 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' }),
  ).rejects.toBeInstanceOf(Silent);
  await expect(submit({ code: 255, errors: 'ssh: connect to host login port 22: Connection refused' })).rejects.toBeInstanceOf(Silent);
});
