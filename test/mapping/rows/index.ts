// All rows of the mapping's requests, by what they are about.

import type { RequestRow } from '../row.ts';
import { CALL_ROWS } from './calls.ts';
import { MEDIA_ROWS } from './media.ts';
import { OUTPUT_ROWS } from './output.ts';
import { REASONING_ROWS } from './reasoning.ts';
import { ROLE_ROWS } from './roles.ts';
import { SAMPLING_ROWS } from './sampling.ts';
import { TOOL_ROWS } from './tools.ts';

export const REQUEST_SECTIONS: Readonly<Record<string, readonly RequestRow[]>> = {
  roles: ROLE_ROWS,
  media: MEDIA_ROWS,
  tools: TOOL_ROWS,
  calls: CALL_ROWS,
  sampling: SAMPLING_ROWS,
  reasoning: REASONING_ROWS,
  output: OUTPUT_ROWS,
};
