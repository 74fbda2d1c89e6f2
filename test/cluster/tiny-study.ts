// The study of docs/CLUSTER.md, which is over in a minute: two arms, one of them tuned, two seeds and one claim.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../../main/base/paths.ts';

export const FIRST_STUDY = join(projectFolder(), 'docs', 'first-study.json');
export const TINY_STUDY: unknown = JSON.parse(readFileSync(FIRST_STUDY, 'utf8'));
