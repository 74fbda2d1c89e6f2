// @ts-check
// Loaded before the lab by the torture test: its clock jumps when the file named by TORTURE_CLOCK says so, by as many milliseconds,
// forwards or backwards, as when someone sets the clock or a laptop wakes up elsewhere.

import { readFileSync } from 'node:fs';

const file = process.env.TORTURE_CLOCK ?? '';
const real = Date.now.bind(Date);
let offset = 0;

setInterval(() => {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // No jump yet.
  }
}, 50).unref();
Date.now = () => real() + offset;
