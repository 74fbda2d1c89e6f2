// Options that every command with a world shares: which world, its settings (`--set key=value`), and where its data is.
// What does not fit is a wrong call, with the world's settings listed.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Environment, World } from '../../environment/environment.ts';
import { findWorld } from '../../environment/registry.ts';
import { catalog } from './catalog.ts';
import { CallError, note } from './output.ts';

export interface WorldOptions {
  readonly set: readonly string[];
}

/** Adds --set and the data folders of worlds to a command. */
export function addWorldOptions(command: Command): Command {
  return addDataOptions(
    command.option(
      '--set <key=value>',
      'a setting of the world (repeatable)',
      (text: string, before: string[]) => [...before, text],
      [] as string[],
    ),
  );
}

/** One option for each world that takes the user's data. */
export function addDataOptions(command: Command): Command {
  for (const { data } of catalog().worlds) if (data) command.option(`--${data.option} <dir>`, data.description);
  return command;
}

/** The world's setting and the folder that its data option names, which must be there; another world's option is a wrong call. */
export function dataSetting(world: { readonly name: string }, options: object): [setting: string, folder: string] | undefined {
  const given = new Map<string, unknown>(Object.entries(options));
  for (const { name, data } of catalog().worlds) {
    const folder = data && given.get(data.option.replace(/-./g, (dash) => dash.slice(1).toUpperCase()));
    if (!data || typeof folder !== 'string') continue;
    if (world.name !== name) throw new CallError(`--${data.option} is for the world ${name}, not for ${world.name}`);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new CallError(`There is no folder ${folder}`);
    return [data.setting, resolve(folder)];
  }
  return undefined;
}

export function namedWorld(name: string | undefined): World {
  if (name !== undefined && catalog().worlds.some((world) => world.name === name)) return findWorld(catalog(), name);
  const known = catalog()
    .worlds.map((world) => `${world.name} (${world.title})`)
    .join(', ');
  throw new CallError(name === undefined ? 'No world was named' : `There is no world "${name}"`, `There are: ${known}`);
}

/** What the command line says of the world's settings; a value is read as JSON where it is JSON, else as text. */
export function worldSettings(world: World, options: WorldOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = Object.fromEntries(options.set.map(readSetting));
  const data = dataSetting(world, options);
  if (data) settings[data[0]] = data[1];
  const parsed = world.settings.safeParse(settings);
  if (!parsed.success) {
    throw new CallError(
      `These settings do not fit the world ${world.name}:\n${z.prettifyError(parsed.error)}`,
      `Its settings: ${Object.keys(world.settings.shape).join(', ')}`,
    );
  }
  return settings;
}

/** The world with its settings from the command line. */
export function makeEnvironment(world: World, options: WorldOptions): Environment {
  const settings = worldSettings(world, options);
  let told = -1;
  return world.create(settings, (share, what) => {
    const tens = Math.floor(share * 10) * 10;
    if (tens > told) note(`${what}: ${tens}%`);
    told = tens;
  });
}

function readSetting(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new CallError(`--set takes key=value, not "${text}"`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}
