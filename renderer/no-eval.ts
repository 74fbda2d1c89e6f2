// Keeps zod from compiling its schemas: the page's security policy forbids eval. The first import of main.tsx, because a
// schema decides when it is made, and modules are evaluated before any line of the file that imports them.

import { z } from 'zod';

z.config({ jitless: true });
