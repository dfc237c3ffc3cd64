// All English texts, by page.

import { first } from './en/first.ts';
import { rest } from './en/rest.ts';

export const en = { ...first, ...rest };
