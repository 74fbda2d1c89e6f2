// From the words of a call to its answer and exit code. The commands are in families.mjs. Only what a command needs is loaded: the overview
// loads no command at all, and without plug-ins nothing of what plug-ins can add to.

import { type Command, CommanderError } from 'commander';
import { statSync } from 'node:fs';
import { defaultDataFolder } from '../../base/paths.ts';
import { mayHavePlugins } from '../../plugin/present.ts';
import { addOverview, bareProgram, families, type Family, familyOf } from './families.mjs';
import { answerBesideOutput, CallError, chooseCatalog, chooseOutput, fail, note } from './output.ts';

/** The first word that is neither an option nor the value of --data or --plugin; the second one of `help COMMAND`. */
function commandName(args: readonly string[]): string | undefined {
  const words = args.filter((word, at) => !word.startsWith('-') && args[at - 1] !== '--data' && args[at - 1] !== '--plugin');
  return words[0] === 'help' ? words[1] : words[0];
}

/** What follows an option, wherever it stands. */
const valuesOf = (args: readonly string[], option: string): string[] => args.filter((_, at) => args[at - 1] === option);

/** Plug-ins come before the commands, whose help names the worlds and presets there are. Bad ones cost a warning, not the command. */
async function addPlugins(args: readonly string[]): Promise<void> {
  chooseCatalog(null);
  const dataFolder = valuesOf(args, '--data')[0] ?? defaultDataFolder();
  const named = valuesOf(args, '--plugin').map(existingFolder);
  if (named.length === 0 && !mayHavePlugins(dataFolder)) return;
  (await import('../../plugin/permissions.ts')).nameFolders(named);
  const { loadCatalog } = await import('../../plugin/load.ts');
  const catalog = await loadCatalog(dataFolder);
  chooseCatalog(catalog);
  for (const { folder, problem } of catalog.plugins) {
    if (problem !== null) note(`The plug-in in ${folder} was not loaded: ${problem}`);
  }
}

function existingFolder(folder: string): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new CallError(`--plugin: there is no folder ${folder}`);
  return folder;
}

async function buildProgram(family: Family | undefined, name: string | undefined): Promise<Command> {
  const program = bareProgram()
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // the error comes back as an exception and is printed once, in fail()
    .hook('preAction', (_, command) => {
      const options: { json?: boolean; data?: string } = command.optsWithGlobals();
      chooseOutput({ json: options.json === true, data: options.data });
    });
  if (!family) addOverview(program);
  else for (const { load } of name === 'completion' ? families : [family]) (await load()).register(program); // completion speaks of all of them
  return program;
}

/** Runs one command to its end. Returns the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  chooseOutput({ json: args.includes('--json') });
  answerBesideOutput(false);
  process.exitCode = undefined; // another command of this process may have left its own
  try {
    const name = commandName(args);
    const family = familyOf(name);
    if (family) await addPlugins(args);
    const program = await buildProgram(family, name);
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
