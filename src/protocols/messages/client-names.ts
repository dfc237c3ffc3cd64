// What this protocol's clients call the fields that the gateway's rules speak of.

import type { ClientNames } from '../../canonical/client-names.ts';
import { fieldAt, optionalObjectAt, type Scope } from './fields.ts';

const NAMES: ClientNames = {
  redacted_thinking: 'messages',
  stop: 'stop_sequences',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  tool_calls: 'content.tool_use',
  answer: 'content.text',
};

/** Of several names for one field the client's own. */
export function clientNamesOf(
  body: Scope,
  { hasTurnEffort }: { readonly hasTurnEffort: boolean },
): ClientNames {
  const config = optionalObjectAt(body, 'output_config');
  const says = (key: string, scope = config): boolean =>
    scope !== undefined && fieldAt(scope, key) !== undefined;
  const effortPath = says('effort') ? 'output_config.effort' : 'model';
  const wishPath = hasTurnEffort ? 'messages' : effortPath;
  const formatPath = says('format') ? 'output_config.format' : 'output_format';
  return {
    ...NAMES,
    // Without any field it was the model's name that asked.
    thinking: fieldAt(body, 'thinking') === undefined ? wishPath : 'thinking',
    response_format: formatPath,
    response_schema: `${formatPath}.schema`,
    size: ['size', 'imageSize', 'quality'].find((key) => says(key, body)) ?? 'size',
  };
}
