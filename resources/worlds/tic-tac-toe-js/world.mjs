// Tic-tac-toe against a player that draws its moves from the seed, in Node without any package: the protocol by hand, one line in, one line out.

import { createInterface } from 'node:readline';

const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
const episodes = new Map();

/** A small generator: the same seed, the same game. */
function generator(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const won = (board, who) => LINES.some((line) => line.every((place) => board[place] === who));
const free = (board) => board.flatMap((cell, place) => (cell === '.' ? [place] : []));
const page = (board) => [0, 3, 6].map((row) => board.slice(row, row + 3).map((cell, at) => (cell === '.' ? String(row + at + 1) : cell)).join(' ')).join('\n');

function observation(game, text, reward, done, extra = {}) {
  const commands = done ? [] : free(game.board).map((place) => `take ${place + 1}`);
  return { observation: { text, admissible_commands: commands }, reward, terminated: done, truncated: false, ...extra };
}

const HANDLERS = {
  reset(id, { seed = 0, episode_seed = 0 }) {
    const game = { board: Array(9).fill('.'), random: generator(seed * 1009 + episode_seed) };
    episodes.set(id, game);
    return observation(game, `You are x. Three in a row win.\n${page(game.board)}`, null, false);
  },
  step(id, { message }) {
    const game = episodes.get(id);
    if (!game) throw new Error('step came before reset');
    const place = Number(/^take ([1-9])$/.exec(message)?.[1]) - 1;
    if (game.board[place] !== '.') return observation(game, `Not possible.\n${page(game.board)}`, 0, false, { valid: false });
    game.board[place] = 'x';
    if (won(game.board, 'x')) return observation(game, `You win.\n${page(game.board)}`, 1, true, { success: true });
    const left = free(game.board);
    if (left.length === 0) return observation(game, `A draw.\n${page(game.board)}`, 0.2, true, { success: false, failure: 'draw' });
    game.board[left[Math.floor(game.random() * left.length)]] = 'o';
    if (won(game.board, 'o')) return observation(game, `You lose.\n${page(game.board)}`, 0, true, { success: false, failure: 'lost' });
    return observation(game, page(game.board), 0, false);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { type, data = {}, episode_id: id = data.episode_id } = JSON.parse(line);
  let answer;
  try {
    const handler = HANDLERS[type];
    answer = handler
      ? { type: 'observation', episode_id: id, data: handler(id, data) }
      : { type: 'error', episode_id: id, data: { message: `There is no message of the type ${type}`, code: 'UNKNOWN_TYPE' } };
  } catch (error) {
    answer = { type: 'error', episode_id: id, data: { message: error.message, code: 'EXECUTION_ERROR' } };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
