// Completion of the command line: `lab completion bash` prints a few lines for the shell, which then ask `lab completion words` what may follow.
// Asking each time costs a second, and means that worlds, presets, studies and algorithms of plug-ins are known as soon as they are there.

import type { Command } from 'commander';
import { describeConfig } from '../../config/describe.ts';
import { presetIds } from '../../config/presets.ts';
import { studyIds } from '../../study/definition.ts';
import { catalog } from './catalog.ts';
import { answer } from './output.ts';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `lab() { npm run -s lab -- "$@"; }
_lab() { mapfile -t COMPREPLY < <(lab completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); }
complete -o default -o nospace -F _lab lab`,
  zsh: `lab() { npm run -s lab -- "$@" }
_lab() { compadd -S '' -- \${(f)"$(lab completion words -- \${words[2,CURRENT]} 2>/dev/null)"} }
compdef _lab lab`,
};

export function register(program: Command): void {
  const completion = program.command('completion').description('what completes the command line in your shell');
  for (const [shell, script] of Object.entries(SCRIPTS))
    completion
      .command(shell)
      .description(`lines for ${shell}, in a shell that stands in the folder of the lab: eval "$(npm run -s lab -- completion ${shell})"`)
      .action(() => answer({ shell, script }, script));
  completion
    .command('words [typed...]')
    .description('what may follow, one a line: the last word is the one to complete')
    .action((typed: string[]) => {
      const found = wordsAfter(program, typed);
      answer({ words: found }, found.join('\n'));
    });
}

const worlds = (): string[] => catalog().worlds.map(({ name }) => name);
/** What the values of options and arguments may be, where the lab knows them. */
const VALUES: Readonly<Record<string, () => string[]>> = {
  '--preset': () => presetIds(catalog()),
  '--world': worlds,
  '--algorithm': () => catalog().algorithms.map(({ id }) => id),
  '--set': settings,
  play: worlds,
  'world show': worlds,
  'world remove': worlds,
  'study run': () => studyIds(catalog()),
  'study report': () => studyIds(catalog()),
};

function settings(): string[] {
  const keys = describeConfig(catalog()).flatMap(({ knobs }) => knobs.map(({ key }) => `${key}=`));
  return [...keys, ...worlds().map((name) => `world.name=${name}`), ...catalog().algorithms.map(({ id }) => `algorithm=${id}`)];
}

export function wordsAfter(program: Command, typed: readonly string[]): string[] {
  const before = typed.slice(0, -1);
  const begun = typed.at(-1) ?? '';
  let command = program;
  const path: string[] = [];
  for (const word of before) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (!next) continue;
    command = next;
    path.push(word);
  }
  const last = before.at(-1) ?? '';
  const values = (last.startsWith('--') ? VALUES[last] : undefined) ?? VALUES[path.join(' ')];
  const options = [...command.options, ...program.options].flatMap(({ long }) => long ?? []);
  const known = begun.startsWith('-') ? options : (values?.() ?? command.commands.map((candidate) => candidate.name()));
  return [...new Set(known)].filter((word) => word.startsWith(begun)).sort();
}
