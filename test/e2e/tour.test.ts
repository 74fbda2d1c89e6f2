// A newcomer's first minutes in the real window: an empty lab, "Open the sample study", and the guided tour to its end. What
// the tour says is checked against the database, whatever study the file holds.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openComparison, taskMatrix } from '../../main/report/side-by-side.ts';
import { readReplay } from '../../main/replay/replay.ts';
import { Store } from '../../main/store/store.ts';
import { readRecord } from '../../main/study/record.ts';
import { align } from '../../renderer/compare/divergence.ts';
import { formatValue } from '../../renderer/format.ts';
import { planTour } from '../../renderer/tour/plan.ts';
import { accessibilityProblems, freshDataFolder, gone, launch, openPalette, setTheme, shown, visit } from './app.ts';
import type { Lab } from './app.ts';

let lab: Lab;
let store: Store;

const share = (value: number): string => formatValue(value, 'share');
const study = () => store.studies.list()[0]!;
/** What the database says the tour should show. */
function expected() {
  const { runs, plan } = study();
  const { diff, ...rest } = { ...openComparison(store, runs), matrix: taskMatrix(store, runs) };
  const tour = planTour({ ...rest, diff: diff.map(({ key }) => ({ key, values: [] })) });
  if (!tour?.parting || !tour.example) throw new Error('The sample study has no two variants that part on a kept task');
  return { tour, parting: tour.parting, example: tour.example, claims: readRecord(plan)?.claims ?? [] };
}
const stop = (number: number, title: string) => lab.page.getByRole('heading', { name: `${number} of 6: ${title}` });
const said = async (...parts: string[]): Promise<void> => {
  const text = (await lab.page.getByRole('region', { name: /of 6: / }).textContent()) ?? '';
  for (const part of parts) expect(text).toContain(part);
};

describe('the sample study and the guided tour', () => {
  beforeAll(async () => {
    lab = await launch({ data: freshDataFolder() });
  });
  afterAll(async () => {
    store?.close();
    await lab.close();
  });
  afterEach(() => lab.noComplaints());

  test('the empty lab offers the sample study; it opens in Compare with all its runs', async () => {
    await visit(lab, '/');
    await lab.page.getByRole('button', { name: 'Open the sample study' }).click();
    await lab.page.getByRole('heading', { name: 'Guided tour in six steps' }).waitFor();
    store = Store.read(lab.data);
    const table = lab.page.getByRole('table', { name: 'Final results' });
    await table.waitFor();
    await expect.poll(() => table.locator('tbody tr').count()).toBe(study().runs.length);
    expect(await shown(lab.page.getByText(study().name, { exact: true }).first())).toBe(true);
    const groups = new Set(study().runs.map((run) => store.runs.get(run).name)).size;
    const curves = lab.page.getByRole('figure', { name: 'Validation success' });
    expect(await shown(curves.getByText(`8 of ${groups} shown`))).toBe(true);
  });

  test('every run of the sample keeps at least 20 episodes', () => {
    for (const run of study().runs) expect(store.episodes.count(run)).toBeGreaterThanOrEqual(20);
    expect(store.studies.list()).toHaveLength(1);
    expect(store.runs.list()).toHaveLength(study().runs.length);
  });

  test('a second time changes nothing', async () => {
    const before = { studies: store.studies.list().length, runs: store.runs.list().length, episodes: store.episodes.count(1) };
    const again = await lab.page.evaluate(() => window.astrolab.call('studies.openSample', {}));
    expect(again).toMatchObject({ ok: true, value: { study: { id: study().id } } });
    expect({ studies: store.studies.list().length, runs: store.runs.list().length, episodes: store.episodes.count(1) }).toEqual(before);
  });

  test('six stops by key, each with the numbers of the database', async () => {
    const { tour, parting, example, claims } = expected();
    await lab.page.getByRole('button', { name: /^Start/ }).click();
    await stop(1, 'Learning curves').waitFor();
    await lab.page.locator('section[data-tour="here"] canvas').waitFor();
    await said(tour.better.key, share(tour.better.curve.y[0] ?? 0), share(tour.better.curve.y.at(-1) ?? 0));

    await lab.page.keyboard.press('.');
    await stop(2, 'Where two arms diverge').waitFor();
    await said(`At update ${parting.update},`, share(parting.better), share(parting.worse), tour.worse.key);

    await lab.page.keyboard.press('.');
    await stop(3, 'The episodes behind a point').waitFor();
    const list = lab.page.getByRole('complementary', { name: 'Episodes of the run' });
    const words = (await lab.page.getByRole('region', { name: /of 6: / }).textContent()) ?? '';
    const [, run = '', count = ''] = /Run #(\d+) of .* has (\d+) episodes?/.exec(words) ?? [];
    expect(tour.worse.runs).toContain(Number(run));
    await list.getByText(new RegExp(`^${count}( of \\d+)? episodes?$`)).waitFor();

    await lab.page.keyboard.press('.');
    await stop(4, 'A failure, step by step').waitFor();
    const failed = readReplay(store, example.failer.episode);
    await lab.page.getByRole('article', { name: failed.instruction }).waitFor();
    await said(failed.instruction, failed.diagnosis?.failure ?? 'no diagnosis', `its ${failed.steps.length} steps`);

    await lab.page.keyboard.press('.');
    await stop(5, 'Two policies side by side').waitFor();
    const { divergence } = align(readReplay(store, example.solver.episode), failed);
    await said(example.task, `step ${(divergence ?? 0) + 1}`);
    expect(await shown(lab.page.getByText(`First divergence, step ${(divergence ?? 0) + 1}`))).toBe(true);
    await expect.poll(() => lab.page.getByRole('combobox', { name: 'Left run' }).inputValue()).toBe(String(example.solver.run));
    await expect.poll(() => lab.page.getByRole('combobox', { name: 'Right run' }).inputValue()).toBe(String(example.failer.run));

    await lab.page.keyboard.press('.');
    await stop(6, 'The verdict').waitFor();
    if (claims.length === 0) await said(share(tour.better.rate), share(tour.worse.rate));
    else {
      const supported = claims.filter(({ verdict, corrected }) => (corrected ?? verdict) === 'supported').length;
      await said(`tests ${claims.length} claims`, `${supported} supported`, 'corrected for their number');
    }
    await lab.page.keyboard.press('.');
    expect(await gone(stop(6, 'The verdict'))).toBe(true);
  });

  test('it can be left and gone on with, and is accessible in both themes', async () => {
    await lab.page.evaluate(() => localStorage.getItem('astrolab.view'));
    await openPalette(lab);
    await lab.page.getByPlaceholder('Search pages, runs, metrics, settings and actions…').fill('guided tour');
    await lab.page.keyboard.press('Enter');
    await lab.page.getByRole('heading', { name: 'Guided tour in six steps' }).waitFor();
    await lab.page.keyboard.press('.');
    await lab.page.keyboard.press('.');
    await stop(2, 'Where two arms diverge').waitFor();
    for (const theme of ['light', 'dark'] as const) {
      await setTheme(lab, theme);
      expect(await accessibilityProblems(lab, theme)).toEqual([]);
    }
    await lab.page.keyboard.press('Escape');
    expect(await gone(stop(2, 'Where two arms diverge'))).toBe(true);
    await openPalette(lab);
    await lab.page.getByPlaceholder('Search pages, runs, metrics, settings and actions…').fill('continue the guided');
    await lab.page.keyboard.press('Enter');
    expect(await shown(stop(2, 'Where two arms diverge'))).toBe(true);
    await lab.page.keyboard.press('Escape');
  });

  test('Studies lists it; deleted and restored it has its claims again', async () => {
    const { name, plan, uid } = study();
    await visit(lab, '/studies');
    await lab.page.getByRole('table', { name: 'Saved studies' }).getByRole('link', { name, exact: true }).click();
    await lab.page.getByRole('button', { name: 'Delete study' }).click();
    await lab.page.getByRole('button', { name: 'Undo' }).click();
    await lab.page.getByRole('button', { name: 'Delete study' }).waitFor();
    expect(study()).toMatchObject({ name, plan, uid });
    expect(await shown(lab.page.getByRole('heading', { name: 'Verdicts', exact: true }))).toBe(true);
  });
});
