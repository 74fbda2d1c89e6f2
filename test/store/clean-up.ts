// What a test made and has to be gone when it ends. Processes run several test files, and only a set-up file is loaded for each of them: so
// this one, which vitest.config.ts names, does the cleaning for the helpers, whose modules are loaded once.

import { afterEach } from 'vitest';
import { cleanUps } from './clean-ups.ts';

afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp();
});
