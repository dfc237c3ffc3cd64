// What clients of this surface call the fields that the gateway's rules speak of.

import type { ClientNames } from '../../../canonical/client-names.ts';
import type { ResponsesContext } from './responses-context.ts';

const NAMES: ClientNames = {
  system: 'instructions',
  messages: 'input',
  redacted_thinking: 'input',
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  response_schema: 'text.format.schema',
  logprobs: 'top_logprobs',
  tool_calls: 'output',
  answer: 'output',
};

/** Of several names for one field the client's own. */
export function clientNamesOf({
  thinkingPath,
  drawing,
}: Pick<ResponsesContext, 'thinkingPath' | 'drawing'>): ClientNames {
  return {
    ...NAMES,
    // Without any field it was the model's name that asked.
    thinking: thinkingPath ?? 'model',
    ...(drawing === undefined ? {} : { size: drawing.path }),
  };
}
