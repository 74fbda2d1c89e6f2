// Whole pages and the context that has to hold them: a run that could only read beginnings is refused with the length that would do.

import { expect, test } from 'vitest';
import { checkPagesFit, pageLengths } from '../../main/training/batching/page-length.ts';
import { encodePage } from '../../main/policy/model/chat-text.ts';
import { model, modelHosts } from './model-host.ts';
import { openRun, parseConfig } from '../catalog.ts';

const host = modelHosts();

const setup = (view: string, contextLength: number) =>
  openRun(parseConfig({ world: { name: 'webshop', settings: { view } }, policy: { width: 16, heads: 2, contextLength } }));

test('whole pages of WebShop need a context that holds the task and the longest page; short ones do not', () => {
  const small = setup('page', 256);
  const { codec, environment } = small;
  if ('chat' in codec) throw new Error('A small policy was expected');
  const { task, page, episode } = pageLengths(environment, codec.tokenizer);
  expect(page).toBeGreaterThan(256);
  expect(episode).toBeGreaterThan(task + page);
  expect(() => checkPagesFit(small)).toThrow(
    /expected at least (\d+) .*found 256\. Set policy\.contextLength=\d+, or world\.settings\.view=words/,
  );
  expect(() => checkPagesFit(setup('page', 512))).not.toThrow();
  expect(() => checkPagesFit(setup('marks', 192))).not.toThrow();
});

test('a language model is held to the same, in its own tokens', () => {
  const { dataFolder } = host();
  const tiny = (contextLength: number) =>
    openRun(model({}, { contextLength }, { world: { name: 'webshop', settings: { view: 'page' } } }), { dataFolder });
  const found = /expected at least (\d+) /.exec(String(attempt(() => checkPagesFit(tiny(512)))));
  const needed = Number(found?.[1]);
  expect(needed).toBeGreaterThan(512);
  const { codec, environment } = tiny(1024);
  if (!('chat' in codec)) throw new Error('A language model was expected');
  const { task, page } = pageLengths(environment, { encode: (text) => encodePage(codec, text) });
  expect(needed).toBeGreaterThan(task + page);
  const bare = model({}, { contextLength: 512 }, { world: { name: 'webshop', settings: { view: 'marks' } } });
  expect(() => checkPagesFit(openRun(bare, { dataFolder }))).not.toThrow();
});

function attempt(body: () => void): unknown {
  try {
    return body();
  } catch (error) {
    return error;
  }
}
