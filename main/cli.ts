// The lab without a window: `npm run lab -- <command>`. Each family of commands is one file in main/commands/ with a
// `register` function, loaded only when one of its commands is called. To add a family, add one entry to `families`.

process.env.ORT_DISABLE_TELEMETRY = '1'; // before anything can load onnxruntime: nothing leaves this machine

import { Command, CommanderError } from 'commander';
import { statSync } from 'node:fs';
import { CallError, chooseOutput, fail, note } from './commands/output.ts';
import { defaultDataFolder } from './paths.ts';
import { loadPlugins } from './plugin/load.ts';
import { nameFolders } from './plugin/permissions.ts';

interface Family {
  readonly commands: readonly string[];
  readonly load: () => Promise<{ register: (program: Command) => void }>;
}

const families: readonly Family[] = [
  { commands: ['doctor'], load: () => import('./commands/doctor.ts') },
  { commands: ['world', 'plugin', 'new'], load: () => import('./commands/plugin.ts') },
  { commands: ['play'], load: () => import('./commands/play.ts') },
  { commands: ['train', 'resume'], load: () => import('./commands/train.ts') },
  { commands: ['eval'], load: () => import('./commands/eval.ts') },
  { commands: ['demo'], load: () => import('./commands/demo.ts') },
  { commands: ['vstar'], load: () => import('./commands/vstar.ts') },
  { commands: ['compare'], load: () => import('./commands/compare.ts') },
  { commands: ['tune'], load: () => import('./commands/tune.ts') },
  { commands: ['study'], load: () => import('./commands/study.ts') },
  { commands: ['cluster'], load: () => import('./commands/cluster.ts') },
  { commands: ['runs', 'metrics', 'delete', 'restore', 'clean'], load: () => import('./commands/runs.ts') },
  { commands: ['gradients'], load: () => import('./commands/gradients.ts') },
  { commands: ['sources'], load: () => import('./commands/sources.ts') },
  { commands: ['presets'], load: () => import('./commands/presets.ts') },
  { commands: ['show'], load: () => import('./commands/show.ts') },
  { commands: ['export', 'import'], load: () => import('./commands/export.ts') },
  { commands: ['check'], load: () => import('./commands/check.ts') },
  { commands: ['graph'], load: () => import('./commands/graph.ts') },
  { commands: ['models'], load: () => import('./commands/models.ts') },
  { commands: ['generate', 'score'], load: () => import('./commands/generate.ts') },
  { commands: ['chars'], load: () => import('./commands/chars.ts') },
  { commands: ['completion'], load: () => import('./commands/completion.ts') },
];

const collect = (text: string, before: string[]): string[] => [...before, text];

/** The first word that is neither an option nor the value of --data or --plugin. */
function commandName(args: readonly string[]): string | undefined {
  return args.find((word, at) => !word.startsWith('-') && args[at - 1] !== '--data' && args[at - 1] !== '--plugin');
}

/** What follows an option, wherever it stands. */
const valuesOf = (args: readonly string[], option: string): string[] => args.filter((_, at) => args[at - 1] === option);

/** Plug-ins come before the commands, whose help names the worlds and presets there are. Bad ones cost a warning, not the command. */
async function addPlugins(args: readonly string[]): Promise<void> {
  nameFolders(valuesOf(args, '--plugin').map(existingFolder));
  for (const { folder, problem } of await loadPlugins(valuesOf(args, '--data')[0] ?? defaultDataFolder())) {
    if (problem !== null) note(`The plug-in in ${folder} was not loaded: ${problem}`);
  }
}

function existingFolder(folder: string): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new CallError(`--plugin: there is no folder ${folder}`);
  return folder;
}

async function buildProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('lab')
    .description('Astrolab on the command line')
    .usage('<command> [options]   (npm run lab -- <command> [options])')
    .option('--data <dir>', 'the data folder (default: the same one the window uses)')
    .option('--plugin <dir>', 'use the plug-in in this folder for this command, and let its code run (repeatable)', collect, [] as string[])
    .option('--json', 'answer with exactly one JSON document on stdout')
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // the error comes back as an exception and is printed once, in fail()
    .hook('preAction', (_, command) => {
      const options: { json?: boolean; data?: string } = command.optsWithGlobals();
      chooseOutput({ json: options.json === true, data: options.data });
    });
  const name = commandName(args);
  const family = families.find(({ commands }) => name !== undefined && commands.includes(name));
  // Completion speaks of all of them.
  for (const { load } of family && name !== 'completion' ? [family] : families) (await load()).register(program);
  return program;
}

async function main(args: readonly string[]): Promise<number> {
  chooseOutput({ json: args.includes('--json') });
  try {
    await addPlugins(args);
    const program = await buildProgram(args);
    if (args.length === 0) {
      process.stderr.write(program.helpInformation());
      return 2;
    }
    await program.parseAsync(args, { from: 'user' });
    return process.exitCode === undefined ? 0 : Number(process.exitCode);
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(error);
    if (error.exitCode === 0) return 0; // --help
    return fail(new CallError(error.message.replace(/^error: /, '')));
  }
}

// A reader that has seen enough (`| head`) or a terminal that was closed is no failure: the work continues and decides the exit code.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') process.exitCode = 1;
  });
}

process.exitCode = await main(process.argv.slice(2));
