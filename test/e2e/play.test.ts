// Interactive play in the real window: the classic example and a question of maths to their ends, a refusal that says why,
// hostile texts, undo, the oracle, and a game that is still there after a restart. Texts and numbers are asserted.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityProblems, launch, setTheme, shown, until, visit } from './app.ts';
import type { Lab } from './app.ts';
import { findWorld } from '../catalog.ts';

let lab: Lab;
const field = () => lab.page.getByLabel('Action', { exact: true });
const button = (name: string) => lab.page.getByRole('button', { name, exact: true });
const talk = () => lab.page.getByRole('region', { name: 'Episode' });
const number = (id: string) => lab.page.getByTestId(id).innerText();

async function say(action: string): Promise<void> {
  await field().fill(action);
  await field().press('Enter');
}

beforeAll(async () => {
  lab = await launch();
});
afterAll(() => lab.close());
afterEach(() => lab.noComplaints());

describe('playing the shop', () => {
  test('plays the classic example: search blanket, buy 201, reward 1, done', async () => {
    await visit(lab, '/play');
    await talk().getByText('TASK: User wants to buy classic blanket. Available: 497 products across 8 categories.').waitFor();
    await say('search blanket');
    await talk().getByText('Found 7 results. Top 5:').waitFor();
    await expect.poll(async () => [await number('steps'), await number('return')]).toEqual(['1', '0']);
    expect(await shown(talk().getByText('only the purchase counts'))).toBe(true);
    await field().fill('buy 201');
    await lab.page.getByText('valid', { exact: true }).waitFor();
    await field().press('Enter');
    await talk().getByText('You bought Classic Blanket.').waitFor();
    await expect.poll(async () => [await number('steps'), await number('return'), await number('reward')]).toEqual(['2', '+1', '+1']);
    await expect.poll(() => talk().getByRole('status').innerText()).toContain('success');
    await expect
      .poll(() => talk().getByRole('status').innerText())
      .toContain('Oracle: return +1 in 2 steps: search classic blanket → buy 201');
    expect(await field().count()).toBe(0);
  });

  test('takes steps back, and pays by another rule when another reward is chosen', async () => {
    await button('Undo').click();
    await field().waitFor();
    await expect.poll(() => number('steps')).toBe('1');
    await lab.page.getByLabel('Reward', { exact: true }).selectOption('walkthrough');
    await until('the same task anew', async () => (await number('steps')) === '0');
    await talk().getByText('classic blanket').waitFor();
    await say('search blanket');
    await talk().getByText('search: +0.20').waitFor();
    await expect.poll(async () => [await number('return'), await number('reward')]).toEqual(['+0.2', '+0.2']);
    // The first offer is to look at the first result.
    await lab.page.getByRole('list', { name: 'Available actions' }).getByRole('button').first().click();
    await talk().getByText('click: +0.30').waitFor();
    await expect.poll(() => number('return')).toBe('+0.5');
  });

  test('refuses what is not possible with the reason, at no cost, and lets it be said anyway for a step', async () => {
    await button('Restart').click();
    await until('the beginning', async () => (await number('steps')) === '0');
    await say('buy 999');
    await lab.page.getByRole('alert').getByText('After “buy” this is expected: <1 | 2 | 3 | … 497 in all>, found “999”.').waitFor();
    await expect.poll(() => number('steps')).toBe('0');
    await button('Send anyway (uses a step)').click();
    await talk().getByText('invalid').waitFor();
    await expect.poll(() => number('steps')).toBe('1');
    await say('');
    expect(await shown(lab.page.getByRole('alert').getByText('Nothing was said.'))).toBe(true);
  });

  test.each([
    ['a megabyte', 'x'.repeat(1_000_000), 'An action has at most 1000 characters; this one has 1,000,000.'],
    ['control characters', '\u0000\u0007\u001b', 'Nothing was said.'],
    ['prototype names', 'buy __proto__', 'found “__proto__”'],
  ])('survives %s', async (_what, action, reason) => {
    const answer = await lab.page.evaluate((text) => window.astrolab.call('play.say', { action: text, anyway: false }), action);
    expect(answer.ok && answer.value.refused).toContain(reason);
    const anyway = await lab.page.evaluate((text) => window.astrolab.call('play.say', { action: text, anyway: true }), action);
    const last = anyway.ok ? anyway.value.game.moves.at(-1) : undefined;
    expect([last?.valid, last?.observation]).toEqual([false, 'Not possible. Say search and words, click and id, or buy and id.']);
    expect((last?.action ?? '').length).toBeLessThan(400);
  });

  test('shows what the oracle would do when asked, and lets it play on to the end', async () => {
    await button('Restart').click();
    await until('the beginning', async () => (await number('steps')) === '0');
    await button('Show its action').click();
    await lab.page.getByText('Oracle action:').getByText('search classic blanket').waitFor();
    await button('Let the oracle finish').click();
    await talk().getByText('You bought Classic Blanket.').waitFor();
    await expect.poll(() => talk().getByText('oracle', { exact: true }).count()).toBe(2);
    await expect.poll(() => number('return')).toBe('+1.2');
  });

  test('works by keys alone', async () => {
    await lab.page.locator('main').click({ position: { x: 5, y: 5 } });
    await lab.page.keyboard.press('Shift+R');
    await field().waitFor();
    await lab.page.keyboard.press('Escape');
    await lab.page.keyboard.press('o');
    await lab.page.getByText('Oracle action:').waitFor();
    await lab.page.keyboard.press('/');
    await lab.page.keyboard.type('search blanket\n');
    await until('one step', async () => (await number('steps')) === '1');
    await lab.page.keyboard.press('Escape');
    await lab.page.keyboard.press('2'); // buys the first result
    await until('the end', async () => (await number('steps')) === '2');
    await lab.page.keyboard.press('u');
    await until('one step back', async () => (await number('steps')) === '1');
    await lab.page.keyboard.press('Escape');
    await lab.page.keyboard.press('t');
    await lab.page.getByRole('dialog').getByRole('radio', { name: 'Training tasks' }).click();
    await lab.page.getByLabel('Find a task').fill('201-plain-1');
    expect(await shown(lab.page.getByText('1 task'))).toBe(true);
    await lab.page.keyboard.press('Escape');
  });

  test('the selectors say what is played: other tasks begin at once, and looking for one in the list changes nothing', async () => {
    const score = () => lab.page.getByRole('complementary', { name: 'Score' });
    // The dialog has the same choice, and takes a moment to leave.
    const left = () => until('the dialog to be gone', async () => (await lab.page.getByLabel('Tasks from').count()) === 1);
    await left();
    await lab.page.getByLabel('Tasks from').selectOption('train');
    await score().getByText('train', { exact: true }).waitFor();
    await button('Choose a task…').click();
    await lab.page.getByRole('dialog').getByRole('radio', { name: 'Validation tasks' }).click();
    await lab.page.keyboard.press('Escape');
    await left();
    await expect.poll(() => lab.page.getByLabel('Tasks from').inputValue()).toBe('train');
    await lab.page.getByLabel('Tasks from').selectOption('test');
    await score().getByText('test', { exact: true }).waitFor();
    await expect.poll(() => lab.page.getByLabel('Tasks from').inputValue()).toBe('test');
  });
});

describe('the other worlds', () => {
  test('a question of maths is answered: 1 for the right answer, 0.1 for one that is well formed but wrong', async () => {
    const maths = findWorld('maths').create({});
    const [task] = maths.tasks('test');
    if (!task) throw new Error('maths has no test task');
    const answer = maths.oracle(maths.reset(task, 0).state) ?? '';
    await lab.page.getByRole('radio', { name: 'Maths' }).click();
    await talk().getByText(task.instruction).first().waitFor();
    await expect.poll(() => lab.page.getByTestId('steps').locator('..').innerText()).toContain('of 1');
    await say('what?');
    await lab.page.getByRole('alert').getByText('Expected:').waitFor();
    await say(task.category === 'multiplication' ? '1' : '1+1');
    await talk().getByText('failure').waitFor();
    await expect.poll(() => number('return')).toBe('+0.1');
    await button('Play again').click();
    await say(answer);
    await talk().getByRole('status').getByText('success').waitFor();
    await expect.poll(async () => [await number('return'), await number('steps')]).toEqual(['+1', '1']);
  });

  test('WebShop is played by clicking, and the game is still there after a restart', async () => {
    await lab.page.getByRole('radio', { name: 'WebShop' }).click();
    await talk().getByText('WebShop [SEP] Instruction:').waitFor();
    await button('search[…]').click();
    await lab.page.keyboard.type('screen protector');
    await expect.poll(() => field().inputValue()).toBe('search[screen protector]');
    await field().press('Enter');
    await talk().getByText('Page 1 (Total results:').waitFor();
    await lab.page.getByRole('button', { name: /click\[back to search\]/ }).waitFor();
    await lab.close({ keep: true });
    lab = await launch({ data: lab.data });
    await visit(lab, '/play');
    await talk().getByText('Page 1 (Total results:').waitFor();
    await expect.poll(() => number('steps')).toBe('1');
    await button('Let the oracle finish').click();
    await talk().getByRole('status').getByText('success').waitFor();
    await expect.poll(() => number('return')).toBe('+1');
  });

  test.each(['light', 'dark'] as const)('axe finds nothing in a game in the %s theme', async (theme) => {
    await setTheme(lab, theme);
    expect(await accessibilityProblems(lab, theme)).toEqual([]);
    await button('Play again').click();
    await field().waitFor();
    await say('nonsense');
    await lab.page.getByRole('alert').waitFor();
    expect(await accessibilityProblems(lab, theme)).toEqual([]);
    await button('Let the oracle finish').click();
    await talk().getByRole('status').waitFor();
  });
});
