// Agents that need no learning, for every world through the one interface: the baselines that stand in every table.
// `random` knows only the grammar; `blind` and `heuristic` belong to the world; `oracle` asks the world itself.

import type { Agent, Environment, Grammar, GrammarPart, Turn, World } from './environment.ts';

export const AGENT_NAMES = ['random', 'blind', 'heuristic', 'oracle'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

export function createAgent(world: World, name: AgentName): Agent {
  switch (name) {
    case 'random':
      return { name, act: randomAction };
    case 'blind':
      return { name, act: (environment, turn, random) => world.blind(environment, turn, random) };
    case 'heuristic':
      return { name, act: (environment, turn, random) => world.heuristic(environment, turn, random) };
    case 'oracle':
      // Where the world has no answer (an unreachable target) the oracle has none either.
      return { name, act: (environment, turn, random) => environment.oracle(turn.state) ?? randomAction(environment, turn, random) };
  }
}

function randomAction(environment: Environment, turn: Turn, random: () => number): string {
  return randomSentence(environment.grammar(turn.state), random);
}

/** A uniformly drawn alternative with uniformly drawn parts; of free words one to three of the useful ones. */
export function randomSentence(grammar: Grammar, random: () => number): string {
  const parts = grammar[Math.floor(random() * grammar.length)];
  if (!parts) throw new Error('There is nothing to say: the episode is over');
  return parts.map((part) => randomPart(part, random)).join('');
}

function randomPart(part: GrammarPart, random: () => number): string {
  const pick = (options: readonly string[]): string => options[Math.floor(random() * options.length)] ?? '';
  switch (part.kind) {
    case 'literal':
      return part.text;
    case 'choice':
      return pick(part.options);
    case 'words': {
      const count = 1 + Math.floor(random() * Math.min(3, part.max));
      const words = part.from ?? part.useful ?? ['a'];
      return Array.from({ length: count }, () => pick(words)).join(' ');
    }
    case 'characters': {
      const count = 1 + Math.floor(random() * part.max);
      return Array.from({ length: count }, () => part.from.charAt(Math.floor(random() * part.from.length))).join('');
    }
  }
}
