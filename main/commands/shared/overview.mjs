// @ts-check
// What `lab --help` says: the options of every call, and every command with its summary, by families (a family is one file beside this one).
// Plain JavaScript, so that scripts/lab.mjs answers --help in the Node it runs in, without starting Electron's and without loading a
// command; test/commands/overview.test.ts holds the summaries to the words that the commands have for themselves.

import { Command } from 'commander';

/** How each command is called, as the overview writes it, and what it does. */
export const summaries = {
  doctor: {
    doctor: 'versions, devices with self-test, data folder, and problems with their fix',
  },
  plugin: {
    world: 'worlds from your folders: list, show, add, remove',
    plugin: 'plug-ins: worlds, algorithms, presets and studies from folders',
    'new [options] <kind> <name>': 'write a working skeleton with a test: world, algorithm, study',
  },
  play: {
    'play [options] <world>': 'play a world interactively',
  },
  train: {
    'train [options]': 'train a run: reference policy, V*, updates, evaluation',
    'resume [options] <run>': 'resume an interrupted, paused or stopped run exactly where it stopped',
  },
  eval: {
    'eval [options] [run]': 'evaluate a run, or an agent without learning, on fixed tasks of a split',
  },
  demo: {
    demo: 'train a small policy in about a minute and compare it with the baselines',
  },
  vstar: {
    'vstar <run>': 'the V* table of a run: successes k of n reference samples and the value made of them, per task',
  },
  credit: {
    'credit [options] <run>':
      'which step earned or lost the reward of an episode: every method of credit, and exact values by continuations',
  },
  compare: {
    'compare <runs...>': 'compare runs on their test tasks: intervals, paired statistics, settings that differ',
  },
  tune: {
    'tune [options]': 'find settings for algorithms: the same number of trials on the same validation tasks for each',
  },
  study: {
    study: 'named sets of runs that are compared, and their report',
  },
  cluster: {
    cluster: 'Slurm clusters that runs and studies can be sent to (--on), and what was sent',
  },
  runs: {
    'runs [options]': 'the list of runs, newest first',
    'metrics [options] <run>': 'every recorded point of a run',
    'delete <runs...>': 'move runs into the trash',
    'restore <runs...>': 'bring runs back from the trash',
    clean: 'empty the trash for good and give its space back',
  },
  gradients: {
    'gradients [options] <run>': 'the noise of a run’s gradient at a checkpoint, and the episodes it took to reach a validation success',
  },
  sources: {
    'sources [options]': 'the systems of the write-ups: expected, measured then, measured here',
  },
  presets: {
    'presets [options] [name]': 'the presets: what they are for, where they depart from their source, and their sizes',
  },
  show: {
    'show <run>': 'one run: its state, its lineage, its checkpoints, what differs from its preset',
  },
  export: {
    'export [options] [runs...]': 'runs or a study as one file, or metrics and episodes as tables',
    'import <file>': 'add the runs of an exported file',
  },
  check: {
    'check [options]': 'look for damage in the data folder: database, checkpoints, episodes',
  },
  graph: {
    'graph [options]': 'write the training graph as an .onnx file',
  },
  models: {
    models: 'language models that can be used as policies',
  },
  generate: {
    'generate [options]': 'continue a prompt with a language model',
    'score [options]': 'log-probabilities of given tokens under a language model',
  },
  chars: {
    'chars [options]': 'a demonstration of the engine: train a character-level model and show its loss curve',
  },
  completion: {
    completion: 'what completes the command line in your shell',
  },
};

const nameOf = (/** @type {string} */ term) => term.split(' ', 1)[0] ?? term;
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
  const all = Object.values(summaries).flatMap((commands) => Object.entries(commands));
  const byName = new Map(all.map(([term]) => [nameOf(term), term]));
  for (const [term, summary] of all) program.command(nameOf(term)).description(summary);
  return program.configureHelp({ subcommandTerm: (command) => byName.get(command.name()) ?? `${command.name()} [command]` });
}
