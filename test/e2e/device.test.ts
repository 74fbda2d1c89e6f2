// A run on a graphics card as the window shows it, without one: the list of devices is seeded as if WebGPU had passed its self-test, the
// run that is trained works half precision out on the CPU (`cpu-half`), which takes the card's path and is counted like it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bytes } from '../../main/base/format.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { deviceSpent, deviceText } from '../../main/report/timing.ts';
import { Store } from '../../main/store/store.ts';
import { fitMemory } from '../../main/training/batching/fit-memory.ts';
import { USABLE } from '../../main/training/batching/memory-plan.ts';
import { accessibilityProblems, freshDataFolder, launch, readStore, resize, setTheme, shown, stickingOut, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { applyOverrides, loadPreset, newRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

let lab: Lab;
const LOST = 'The device stopped while "play 16" ran: WebGPU validation failed. [Device] is lost';
const TINY = [
  'threads=1',
  'policy.width=16',
  'policy.layers=1',
  'policy.feedForward=32',
  'reference.demonstrations=24',
  'reference.batch=8',
  'reference.steps=3',
  'reference.checkEvery=3',
  'reference.checkTasks=1',
  'vstar.samples=2',
  'training.updates=3',
  'training.batch=4',
  'training.tasks=4',
  'evaluation.tasks=1',
  'evaluation.finalTasks=1',
];

/** Run 1 waits for its first update on a device that anybody has; run 2 has lost its card after three updates, run 3 before the first. */
function seedDevices(data: string): void {
  const store = Store.open(data);
  const trace = { losses: [3.6, 2.9, 2.4], norms: [3.2, 2.5, 1.9] };
  const check = { cpu: trace, device: trace, seconds: 1 };
  const passed = { memory: null, ok: true, reason: 'self-test passed in 1.0 s', check };
  const devices = [
    { id: 'cpu', name: 'CPU', ...passed },
    { id: 'webgpu', name: 'graphics card through WebGPU', ...passed },
  ];
  store.settings.set('devices.tested', { version: loadVersion(), testedAt: 1e12, devices });
  const preset = loadPreset('shop-tiny').config;
  const create = (...changes: string[]) => store.runs.create(newRun(applyOverrides(preset, [...TINY, ...changes]), 'shop-tiny')).id;
  const reason = `${LOST}. The last checkpoint is intact: “Resume” tries the device again, “Resume on CPU” continues without it.`;
  const paused = { state: 'paused', position: null } as const;
  store.runs.change(create('name=counted', 'device=cpu-half'), { ...paused, reason: 'Paused before it started' });
  const lost = create('name=lost', 'device=webgpu');
  for (const update of [1, 2, 3]) {
    const counts = {
      calls: 80 * update,
      kernels: 5000,
      up: update === 1 ? 12 : 0.034,
      down: 0.012,
      waiting: 4,
      perToken: 159,
      learning: 0.98,
    };
    const named = Object.fromEntries(Object.entries(counts).map(([name, value]) => [`system/device.${name}`, value]));
    store.metrics.append(lost, update, { ...named, 'system/time.total': 5, 'rollout.success': 0, episodes: 4 * update });
  }
  store.runs.change(lost, { ...paused, updates: 3, episodes: 12, reason });
  store.runs.change(create('name=lost early', 'device=webgpu'), { ...paused, reason });
  store.close();
}

/** As the window asks for it: devices are tested again by another version. */
const loadVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8'))).version;

const stored = <T>(read: (store: Store) => T): T => readStore(lab.data, read);
const button = (name: string) => lab.page.getByRole('button', { name, exact: true });
const summary = () => lab.page.getByRole('complementary', { name: 'Summary' });
/** A number with the note below it. */
const figure = (text: string) => summary().getByRole('definition').filter({ hasText: text });
const done = (run: number) => until(`run ${run} to be done`, async () => stored((store) => store.runs.get(run).state) === 'done');

beforeAll(async () => {
  const data = freshDataFolder();
  seedDevices(data);
  lab = await launch({ data });
});
afterAll(() => lab.close());
afterEach(() => lab.noComplaints());

describe('the memory of a card beside Start', () => {
  const onCard = (deviceMemory: number) =>
    fitMemory(BUILT_IN, applyOverrides(loadPreset('shop-tiny').config, ['device=webgpu', `deviceMemory=${deviceMemory}`]), lab.data);
  const allow = async (megabytes: string) => {
    await lab.page.getByLabel('Find a setting').fill('deviceMemory');
    await lab.page.locator('[data-key="deviceMemory"] input').fill(megabytes);
  };

  test('is there part by part, and asks for the size of a card that the system does not say', async () => {
    await visit(lab, '/new/preset-shop-tiny');
    await lab.page.getByLabel('Device', { exact: true }).selectOption('webgpu');
    const { plan, free } = onCard(0);
    if (!plan) throw new Error('A run on a card has a plan');
    expect(await shown(figure(`≈ ${bytes(plan.needed)}of ${free === null ? 'an unknown size' : bytes(free)}`))).toBe(true);
    const rows = await summary().getByRole('table', { name: 'Planned memory' }).getByRole('row').allInnerTexts();
    const { process: _process, ...parts } = plan.parts;
    expect(rows.map((row) => row.split('\t')[1])).toEqual(Object.values(parts).map((part) => bytes(part)));
    const question = summary().getByText('set Device memory, and the run adapts to it');
    await expect.poll(() => question.count()).toBe(free === null ? 1 : 0);
  });

  test('decides the micro-batch, and never says more than there is', async () => {
    await visit(lab, '/new/preset-shop-tiny');
    await lab.page.getByLabel('Device', { exact: true }).selectOption('webgpu');
    await allow('60');
    const { plan, changes } = onCard(60);
    expect(changes).toEqual(['training.microBatch=1024']);
    expect(await shown(figure(`≈ ${bytes(plan?.needed ?? 0)}of 60.0 MB`))).toBe(true);
    expect(plan?.most).toBe(USABLE * 60e6);
    expect(await shown(summary().getByText('Up to 54.0 MB while'))).toBe(true);
    expect(await shown(summary().getByText('Start sets training.microBatch=1024, so that it fits.'))).toBe(true);
    await expect.poll(() => button('Start').isEnabled()).toBe(true);
  });

  test('that is too small is an error with a way to its field, and nothing can be started', async () => {
    await allow('2');
    const error = lab.page.getByRole('list', { name: 'Errors' }).getByRole('button');
    await error.getByText("of the card's memory even with the smallest micro-batches").waitFor();
    await expect.poll(() => error.innerText()).toMatch(/^device this run needs .*; 2\.0 MB are there/);
    expect(await shown(lab.page.getByText('Cannot be started with this: see Errors', { exact: true }))).toBe(true);
    await expect.poll(() => button('Start').isDisabled()).toBe(true);
    await expect.poll(() => button('Measure on this machine').isDisabled()).toBe(true);
    expect(await accessibilityProblems(lab)).toEqual([]);
    await error.click();
    const field = lab.page.getByLabel('Device', { exact: true });
    await until('the focus in the field', () => field.evaluate((element) => element === document.activeElement));
  });
});

describe('a run on a device', () => {
  test('shows what the device cost while it trains, without being opened again', async () => {
    await visit(lab, '/runs/1');
    const line = lab.page.getByTestId('device');
    expect(await line.count()).toBe(0);
    await button('Resume').click();
    await line.waitFor();
    await done(1);
    const spent = stored((store) => deviceSpent(store, 1));
    expect(spent).toMatchObject({ updates: 3, onCpu: 0 });
    expect(spent?.calls).toBeGreaterThan(20);
    await until('the line of all updates', async () => (await line.innerText()) === (spent && deviceText(spent)));
  });

  test('has its line and charts, wide and narrow, in both themes', async () => {
    await visit(lab, '/runs/2');
    expect(await lab.page.getByTestId('device').innerText()).toBe(
      "Device, median of an update: 160 calls with 5,000 kernels; 34.0 kB sent, 12.0 kB fetched (159 bytes a token; learning 0.98% of the weights' size); the host waits 4.0 s for the device, the device 1.0 s for the host",
    );
    for (const title of ['Waiting for the device', 'Device calls', 'Device kernels', 'Device traffic']) {
      const chart = lab.page.getByRole('figure').filter({ hasText: title }).first();
      await until(`the chart “${title}”`, async () => {
        await lab.page.mouse.move(600, 400);
        await lab.page.mouse.wheel(0, 200); // charts are drawn when they come near
        return chart.count();
      });
    }
    for (const theme of ['dark', 'light'] as const) {
      await setTheme(lab, theme);
      for (const [width, height] of [
        [1440, 900],
        [1024, 700],
      ] as const) {
        await resize(lab, width, height);
        await until('the charts to follow the width', async () => (await stickingOut(lab)).length === 0);
        expect(await accessibilityProblems(lab, theme)).toEqual([]);
      }
    }
  });

  test('that lost it is paused with the reason, and one click continues it on the CPU', async () => {
    await visit(lab, '/runs/3');
    const status = lab.page.getByRole('region', { name: 'Run status' });
    expect(await shown(status.getByText(`${LOST}. The last checkpoint is intact`))).toBe(true);
    expect(await shown(button('Resume'))).toBe(true);
    await button('Resume on CPU').click();
    await done(3);
    await lab.page.getByRole('tab', { name: /^Log/ }).click();
    expect(await shown(lab.page.getByText('Continues on the CPU', { exact: true }))).toBe(true);
    expect(stored((store) => deviceSpent(store, 3))).toBeUndefined();
  });
});
