// Options that every command with a world shares: which world, its settings (`--set key=value`), and where WebShop's data is.
// What does not fit is a wrong call, with the world's own settings listed.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Environment, World } from '../environment/environment.ts';
import { findWorld, WORLDS } from '../environment/registry.ts';
import { CallError, note } from './output.ts';

export interface WorldOptions {
  readonly set: readonly string[];
  readonly webshopData?: string;
}

/** Adds --set and --webshop-data to a command. */
export function addWorldOptions(command: Command): Command {
  return command
    .option(
      '--set <key=value>',
      'a setting of the world (repeatable)',
      (text: string, before: string[]) => [...before, text],
      [] as string[],
    )
    .option('--webshop-data <dir>', 'WebShop: the folder with the original data files');
}

export function namedWorld(name: string | undefined): World {
  if (name !== undefined && WORLDS.some((world) => world.name === name)) return findWorld(name);
  const known = WORLDS.map((world) => `${world.name} (${world.title})`).join(', ');
  throw new CallError(name === undefined ? 'No world was named' : `There is no world "${name}"`, `There are: ${known}`);
}

/** The folder that --webshop-data names, which must be there. */
export function webshopFolder(folder: string): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new CallError(`There is no folder ${folder}`);
  return folder;
}

/** What the command line says of the world's settings; a value is read as JSON where it is JSON, else as text. */
export function worldSettings(world: World, options: WorldOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = Object.fromEntries(options.set.map(readSetting));
  if (options.webshopData !== undefined) {
    if (world.name !== 'webshop') throw new CallError(`--webshop-data is for the world webshop, not for ${world.name}`);
    settings.dataFolder = resolve(webshopFolder(options.webshopData));
  }
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
