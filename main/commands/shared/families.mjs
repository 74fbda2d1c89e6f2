// @ts-check
// The commands by families, and what `lab --help` says: the options of every call, and every command with its summary.
// Plain JavaScript, so that scripts/lab.mjs answers --help in the Node it runs in, without starting Electron's and without loading a
// command; test/commands/overview.test.ts holds the summaries to the words that the commands have for themselves.

import { Command } from 'commander';

/**
 * A family is one file with a `register` function, loaded only when one of its commands is called. `commands`: how each is called, as the
 * overview writes it, and what it does. To add a family, add an entry.
 * @typedef {{ load: () => Promise<{ register: (program: Command) => void }>, commands: Readonly<Record<string, string>> }} Family
 */

/** @type {readonly Family[]} */
export const families = [
  {
    load: () => import('../doctor.ts'),
    commands: {
      doctor: 'versions, devices with self-test, data folder, and problems with their fix',
    },
  },
  {
    load: () => import('../plugin.ts'),
    commands: {
      world: 'worlds from your folders: list, show, add, remove',
      plugin: 'plug-ins: worlds, algorithms, presets and studies from folders',
      'new [options] <kind> <name>': 'write a working skeleton with a test: world, algorithm, study',
    },
  },
  {
    load: () => import('../play.ts'),
    commands: {
      'play [options] <world>': 'play a world interactively',
    },
  },
  {
    load: () => import('../train.ts'),
    commands: {
      'train [options]': 'train a run: reference policy, V*, updates, evaluation',
      'resume [options] <run>': 'resume an interrupted, paused or stopped run exactly where it stopped',
    },
  },
  {
    load: () => import('../eval.ts'),
    commands: {
      'eval [options] [run]': 'evaluate a run, or an agent without learning, on fixed tasks of a split',
    },
  },
  {
    load: () => import('../demo.ts'),
    commands: {
      demo: 'train a small policy in about a minute and compare it with the baselines',
    },
  },
  {
    load: () => import('../vstar.ts'),
    commands: {
      'vstar <run>': 'the V* table of a run: successes k of n reference samples and the value made of them, per task',
    },
  },
  {
    load: () => import('../credit.ts'),
    commands: {
      'credit [options] <run>':
        'which step earned or lost the reward of an episode: every method of credit, and exact values by continuations',
    },
  },
  {
    load: () => import('../compare.ts'),
    commands: {
      'compare <runs...>': 'compare runs on their test tasks: intervals, paired statistics, settings that differ',
    },
  },
  {
    load: () => import('../tune.ts'),
    commands: {
      'tune [options]': 'find settings for algorithms: the same number of trials on the same validation tasks for each',
    },
  },
  {
    load: () => import('../study.ts'),
    commands: {
      study: 'named sets of runs that are compared, and their report',
    },
  },
  {
    load: () => import('../cluster.ts'),
    commands: {
      cluster: 'Slurm clusters that runs and studies can be sent to (--on), and what was sent',
    },
  },
  {
    load: () => import('../runs.ts'),
    commands: {
      'runs [options]': 'the list of runs, newest first',
      'metrics [options] <run>': 'every recorded point of a run',
      'delete <runs...>': 'move runs into the trash',
      'restore <runs...>': 'bring runs back from the trash',
      clean: 'empty the trash for good and give its space back',
    },
  },
  {
    load: () => import('../gradients.ts'),
    commands: {
      'gradients [options] <run>': 'the noise of a run’s gradient at a checkpoint, and the episodes it took to reach a validation success',
    },
  },
  {
    load: () => import('../sources.ts'),
    commands: {
      'sources [options]': 'the systems of the write-ups: expected, measured then, measured here',
    },
  },
  {
    load: () => import('../presets.ts'),
    commands: {
      'presets [options] [name]': 'the presets: what they are for, where they depart from their source, and their sizes',
    },
  },
  {
    load: () => import('../show.ts'),
    commands: {
      'show <run>': 'one run: its state, its lineage, its checkpoints, what differs from its preset',
    },
  },
  {
    load: () => import('../export.ts'),
    commands: {
      'export [options] [runs...]': 'runs or a study as one file, or metrics and episodes as tables',
      'import <file>': 'add the runs of an exported file',
    },
  },
  {
    load: () => import('../check.ts'),
    commands: {
      'check [options]': 'look for damage in the data folder: database, checkpoints, episodes',
    },
  },
  {
    load: () => import('../graph.ts'),
    commands: {
      'graph [options]': 'write the training graph as an .onnx file',
    },
  },
  {
    load: () => import('../models.ts'),
    commands: {
      models: 'language models that can be used as policies',
    },
  },
  {
    load: () => import('../generate.ts'),
    commands: {
      'generate [options]': 'continue a prompt with a language model',
      'score [options]': 'log-probabilities of given tokens under a language model',
    },
  },
  {
    load: () => import('../chars.ts'),
    commands: {
      'chars [options]': 'a demonstration of the engine: train a character-level model and show its loss curve',
    },
  },
  {
    load: () => import('./completion.ts'),
    commands: {
      completion: 'what completes the command line in your shell',
    },
  },
];

const nameOf = (/** @type {string} */ term) => term.split(' ', 1)[0] ?? term;
/** The family that has this command. @param {string | undefined} name */
export const familyOf = (name) => families.find(({ commands }) => Object.keys(commands).some((term) => nameOf(term) === name));

const collect = (/** @type {string} */ text, /** @type {string[]} */ before) => [...before, text];

/** The program without its commands. */
export function bareProgram() {
  return new Command('lab')
    .description('Astrolab on the command line')
    .usage('<command> [options]   (npm run lab -- <command> [options])')
    .option('--data <dir>', 'the data folder (default: the same one the window uses)')
    .option('--plugin <dir>', 'use the plug-in in this folder for this command, and let its code run (repeatable)', collect, [])
    .option('--json', 'answer with exactly one JSON document on stdout');
}

/** Adds names and summaries of all commands, none of which can be called. @param {Command} program */
export function addOverview(program) {
  const all = families.flatMap(({ commands }) => Object.entries(commands));
  const byName = new Map(all.map(([term]) => [nameOf(term), term]));
  for (const [term, summary] of all) program.command(nameOf(term)).description(summary);
  return program.configureHelp({ subcommandTerm: (command) => byName.get(command.name()) ?? `${command.name()} [command]` });
}
