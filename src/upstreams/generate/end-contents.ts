// Makes native contents end with the user where the upstream demands it.

import { CONTINUE_PROMPT, CONTINUE_REASON } from '../../canonical/prefill.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';

/** The same list when it ends with the user, or when the upstream takes a prefill. */
export function endContents(
  contents: JsonValue[],
  { capabilities, receipt }: EncodeTarget,
): JsonValue[] {
  const last = contents.at(-1);
  const isPrefill = isJsonObject(last) && last.role === 'model';
  if (!isPrefill || capabilities.acceptsPrefill === true) return contents;
  receipt.add('approximated', 'contents', CONTINUE_REASON);
  return [...contents, { role: 'user', parts: [{ text: CONTINUE_PROMPT }] }];
}
