// "What if" in the real window, with a policy that was really trained: another checkpoint continues from a step of a recorded
// episode. What is on screen is checked against the same job done here, and against what training recorded.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readReplay } from '../../main/replay/replay.ts';
import { runResample } from '../../main/replay/resample.ts';
import type { Step } from '../../main/rollout/trajectory.ts';
import { Store } from '../../main/store/store.ts';
import { formatValue } from '../../renderer/format.ts';
import { accessibilityProblems, freshDataFolder, launch, shown, visit } from './app.ts';
import type { Lab } from './app.ts';
import { trainSmall } from './seeded.ts';

const UPDATES = 2;
let lab: Lab;
let store: Store;
let run: number;
/** A greedily played episode of the last evaluation with more than one step. */
let episode: number;

const probability = ({ tokens }: Step): string => {
  const sum = tokens.logProbs.reduce((all, one) => all + one, 0);
  return `p = ${formatValue(Math.exp(sum), 'share')}`;
};

describe('going on from a step with another policy', () => {
  beforeAll(async () => {
    const data = freshDataFolder();
    run = await trainSmall(data, UPDATES);
    store = Store.read(data);
    const { episodes } = store.episodes.page(run, { purpose: 'evaluation', fromUpdate: UPDATES }, 'steps', true, 1);
    const longest = episodes[0];
    if (!longest || longest.steps < 2) throw new Error('The evaluation left no episode of two steps');
    episode = longest.id;
    lab = await launch({ data });
  }, 180_000);
  afterAll(async () => {
    store.close();
    await lab.close();
  });
  afterEach(() => lab.noComplaints());

  test('the same checkpoint, most probable words: does again what was recorded, word for word and number for number', async () => {
    const { steps } = store.trajectories.read(episode);
    await visit(lab, `/replay/${run}/${episode}`);
    await lab.page.getByText(`Step 1 of ${steps.length}`).waitFor();
    await lab.page.locator('main h1').first().click();
    await lab.page.keyboard.press('ArrowRight');
    await lab.page.keyboard.press('r');
    const panel = lab.page.getByRole('region', { name: 'What if' });
    await panel.getByText('Replay step 1, then continue with').waitFor();
    await panel.getByRole('combobox', { name: 'Temperature' }).selectOption('0');
    await panel.getByRole('button', { name: 'Sample' }).click();
    const branch = panel.getByRole('group', { name: `#${run} at update ${UPDATES}` });
    await branch.waitFor();
    const lines = (await branch.getByRole('listitem').allTextContents()).map((line) => line.replace(/, reward.*$/, ''));
    expect(lines).toEqual(steps.slice(1).map((step, index) => `${index + 2} ${step.action} ${probability(step)}`));
  }, 60_000);

  test('another checkpoint: rollouts, words and probabilities are those of the same job done by hand', async () => {
    const job = { dataFolder: lab.data, episode, step: 1, run, update: 1, temperature: 1, attempt: 0, rollouts: 20 };
    const expected = await runResample(job);
    const before = store.episodes.count(run);
    await visit(lab, '/runs');
    await visit(lab, `/replay/${run}/${episode}`);
    await lab.page.getByRole('button', { name: 'Next step' }).click();
    await lab.page.getByRole('button', { name: 'What if…' }).click();
    const panel = lab.page.getByRole('region', { name: 'What if' });
    await panel.getByRole('combobox', { name: 'Checkpoint' }).selectOption('1');
    await panel.getByRole('button', { name: 'Sample' }).click();
    await panel.getByText(`${expected.solved} of 20 rollouts of #${run} at update 1 solve the task from here`).waitFor();
    const branch = panel.getByRole('group', { name: `#${run} at update 1` });
    const lines = (await branch.getByRole('listitem').allTextContents()).map((line) => line.replace(/, reward.*$/, ''));
    expect(lines).toEqual(expected.trajectory.steps.slice(1).map((step, index) => `${index + 2} ${step.action} ${probability(step)}`));
    expect(await shown(branch.getByText(`return ${formatValue(expected.trajectory.return)}`))).toBe(true);
    expect(await accessibilityProblems(lab)).toEqual([]);

    await branch.getByRole('button', { name: 'Step through' }).click();
    expect(await shown(lab.page.getByText(`Step 2 of ${expected.trajectory.steps.length}`))).toBe(true);
    await lab.page.getByRole('button', { name: 'Back to the recorded episode' }).click();
    expect(await shown(lab.page.getByText(`Step 1 of ${readReplay(store, episode).steps.length}`))).toBe(true);
    expect(store.episodes.count(run), 'nothing is stored').toBe(before);
  }, 60_000);
});
