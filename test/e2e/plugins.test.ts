// A world in another language from a folder outside the tree, in the real window: added and allowed in Settings, played, trained
// and replayed. With ASTROLAB_PICTURES=DIR it leaves pictures of each page there.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resourceFile } from '../../main/base/paths.ts';
import { type Lab, launch, shown, until, visit } from './app.ts';

const python = spawnSync('python3', ['--version']).status === 0;
let lab: Lab;
let folder = '';

async function picture(name: string): Promise<void> {
  const to = process.env.ASTROLAB_PICTURES;
  if (to) await lab.page.screenshot({ path: join(to, `${name}.png`) });
}

/** The world with which this was written: FrozenLake, under another name and in the user's folder. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'my-lake-'));
  cpSync(resourceFile('worlds', 'frozen-lake-py'), folder, { recursive: true });
  lab = await launch();
});
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
});

const plugins = () => lab.page.getByRole('region', { name: 'Worlds and plug-ins', exact: true });

describe.skipIf(!python)('a world that the user brings', () => {
  test('is added in Settings, and starts nothing before the user has allowed it in a dialog of the system', async () => {
    await visit(lab, '/settings');
    await plugins().getByLabel('Plug-in folder').fill(folder);
    await plugins().getByRole('button', { name: 'Add', exact: true }).click();
    expect(await shown(plugins().getByText('not allowed'))).toBe(true);
    await plugins().scrollIntoViewIfNeeded();
    await picture('world-added');
    const refused = await lab.page.evaluate(() =>
      window.astrolab.call('play.start', { choice: { world: 'frozen-lake-py', settings: {}, imported: false }, task: null }),
    );
    expect(JSON.stringify(refused)).toContain('have not allowed yet');
    await lab.app.evaluate(({ dialog }) => {
      dialog.showMessageBox = () => Promise.resolve({ response: 0, checkboxChecked: false });
    });
    await plugins().getByRole('button', { name: 'Allow…' }).click();
    expect(await shown(plugins().getByText('allowed', { exact: true }))).toBe(true);
    await picture('world-allowed');
    lab.noComplaints();
  });

  test('can be played', async () => {
    const started = await lab.page.evaluate(() =>
      window.astrolab.call('play.start', { choice: { world: 'frozen-lake-py', settings: {}, imported: false }, task: null }),
    );
    expect(JSON.stringify(started)).toContain('Cross the ice');
    await visit(lab, '/play');
    await lab.page.getByRole('list', { name: 'Available actions' }).getByRole('button').first().click();
    expect(await shown(lab.page.getByText('You are at row').first())).toBe(true);
    await picture('world-play');
  });

  test('is trained without demonstrations; the form says what that takes', async () => {
    await visit(lab, '/new');
    await lab.page.getByLabel('World', { exact: true }).selectOption('frozen-lake-py');
    expect(await shown(lab.page.getByText('has no demonstrations to clone a reference policy from').first())).toBe(true);
    await picture('world-new-run');
    const added = await lab.page.evaluate(() =>
      window.astrolab.call('queue.add', {
        order: {
          config: {
            name: 'my lake',
            threads: 1,
            world: { name: 'frozen-lake-py' },
            policy: { width: 32, layers: 2, heads: 2, feedForward: 64 },
            reference: { demonstrations: 0, checkTasks: 16 },
            algorithm: { id: 'ppo' },
            training: { updates: 4, batch: 16, tasks: 32 },
            evaluation: { every: 2, tasks: 8, finalTasks: 8 },
            checkpoints: { every: 2 },
          },
          seeds: '1',
          sweep: [],
        },
        preset: null,
        tags: [],
      }),
    );
    expect(JSON.stringify(added)).toContain('"runs":[1]');
    await until('the end of the run', async () =>
      JSON.stringify(await lab.page.evaluate(() => window.astrolab.call('runs.list', {}))).includes('"state":"done"'),
    );
    await visit(lab, '/runs/1');
    expect(await shown(lab.page.getByText('my lake').first())).toBe(true);
    await lab.page.waitForTimeout(process.env.ASTROLAB_PICTURES ? 1500 : 0);
    await picture('world-live');
  });

  test('is replayed, played again beside the record', async () => {
    const read = async (): Promise<string> => {
      const list = await lab.page.evaluate(() =>
        window.astrolab.call('episodes.list', { run: 1, filter: {}, order: 'time', descending: true, offset: 0, limit: 1 }),
      );
      if (!list.ok) throw new Error(JSON.stringify(list.error));
      const episode = list.value.episodes[0]?.id ?? 0;
      return JSON.stringify(await lab.page.evaluate((id) => window.astrolab.call('episodes.read', { episode: id }), episode));
    };
    const there = await read();
    expect(there).toContain('"retraced":true');
    await visit(lab, '/replay/1');
    await lab.page.waitForTimeout(process.env.ASTROLAB_PICTURES ? 1500 : 0);
    await picture('world-replay');
  });

  test('leaves its runs behind for looking when it is gone: its curves, its episodes and their pages', async () => {
    await visit(lab, '/settings');
    await lab.page.evaluate((gone) => window.astrolab.call('plugins.remove', { folder: gone }), folder);
    await visit(lab, '/runs/1');
    expect(await shown(lab.page.getByText('my lake').first())).toBe(true);
    expect(await shown(lab.page.getByText('Success', { exact: false }).first())).toBe(true);
    await visit(lab, '/replay/1');
    expect(await shown(lab.page.getByText('You are at row').first())).toBe(true);
    await picture('world-gone-replay');
    lab.noComplaints();
  });
});
