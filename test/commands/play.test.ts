// `lab play` as people script against it: one JSON document, exit codes, and the example of the shop's first authors.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallError } from '../../main/commands/shared/output.ts';
import { register } from '../../main/commands/play.ts';
import { projectFolder } from '../../main/base/paths.ts';

let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'play-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lab(args: readonly string[], input = ''): { code: number | null; out: string; errors: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(projectFolder(), 'main', 'commands', 'cli.ts'), ...args], {
    input,
    encoding: 'utf8',
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
  });
  return { code: status, out: stdout, errors: stderr };
}

function script(...actions: string[]): string {
  const file = join(folder, 'actions.txt');
  writeFileSync(file, `${actions.join('\n')}\n`);
  return file;
}

describe('lab play', () => {
  it('plays the shop’s first example from a file of actions', () => {
    const { code, out } = lab(['play', 'shop', '--json', '--actions', script('search blanket', 'buy 201', 'buy 1')]);
    expect(code).toBe(0);
    const played = JSON.parse(out);
    expect(played).toMatchObject({
      task: { id: '201-plain-1', instruction: 'User wants to buy classic blanket.' },
      return: 1,
      success: true,
    });
    expect(played.task.observation).toBe('TASK: User wants to buy classic blanket. Available: 497 products across 8 categories.');
    expect(played.steps.length).toBe(2);
    expect(played.steps[0]).toMatchObject({ action: 'search blanket', valid: true, reward: 0, done: false });
    expect(played.steps[0].clickables).toContain('201');
    expect(played.steps[1]).toMatchObject({ observation: 'You bought Classic Blanket.', reward: 1, done: true });
  });

  it('plays interactively: the oracle answers ?, every reward is explained', () => {
    const { code, out, errors } = lab(['play', 'maths', '--instruction', 'What is 7 * 43?', '--set', 'tasksPerLevel=5000'], '?\n300\n');
    expect(code).toBe(0);
    expect(errors).toContain('the oracle would say: 301');
    expect(errors).toContain('reward 0.1 (well formed, but wrong: +0.1)');
    expect(out).toBe('return 0.1 after 1 steps, no success\n');
  });

  it.each<[string[], RegExp]>([
    [['play', 'nowhere'], /There is no world "nowhere"/],
    [['play', 'shop', '--task', 'x'], /has no task "x"/],
    [['play', 'shop', '--instruction', 'x'], /no task with the text "x"/],
    [['play', 'shop', '--level', '9'], /levels 0 to 3/],
    [['play', 'shop', '--actions', '/nowhere'], /There is no file/],
    [['play', 'shop', '--set', 'reward=gold'], /do not fit the world shop/],
    [['play', 'shop', '--webshop-data', '.'], /for the world webshop/],
  ])('%j is a wrong call', async (args, message) => {
    const program = new Command().exitOverride();
    register(program);
    const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CallError);
    expect(String(error)).toMatch(message);
  });

  it('a wrong call ends with exit code 2 and a document that says why', () => {
    const { code, out } = lab(['play', 'shop', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(out).error.message).toMatch(/--json needs --actions FILE/);
  });
});
