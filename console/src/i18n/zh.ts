// All Chinese texts, by page.

import { first } from './zh/first.ts';
import { rest } from './zh/rest.ts';

export const zh = { ...first, ...rest };
