// Loaded into every process of a window that a test may hold (hold.ts). The first one that says a given text to its parent stands still from
// then on (SIGSTOP), so that it cannot go on before the test has acted.

const { readFileSync, renameSync, unlinkSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const folder = process.env.ASTROLAB_TEST_HOLD;

function awaited() {
  try {
    return readFileSync(join(folder, 'awaited'), 'utf8');
  } catch {
    return undefined; // nobody is to be held
  }
}

if (process.type === 'browser') process.env.NODE_OPTIONS = `--require ${__filename}`; // for those that it starts

if (folder && process.send) {
  const send = process.send.bind(process);
  process.send = (message, ...rest) => {
    const text = awaited();
    if (text === undefined || !JSON.stringify(message).includes(text)) return send(message, ...rest);
    unlinkSync(join(folder, 'awaited'));
    return send(message, () => {
      rest.findLast((one) => typeof one === 'function')?.(null);
      writeFileSync(join(folder, 'held.new'), String(process.pid));
      renameSync(join(folder, 'held.new'), join(folder, 'held'));
      process.kill(process.pid, 'SIGSTOP');
    });
  };
}
