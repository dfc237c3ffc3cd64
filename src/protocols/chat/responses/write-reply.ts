// Writes one finished answer as a response object, by the same rules as its stream.

import type { Reply } from '../../../canonical/fold.ts';
import { unfold } from '../../../canonical/unfold.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReplyContext } from '../../protocol.ts';
import type { ResponseSettings } from './response-settings.ts';
import { createResponsesWriter } from './write-events.ts';

export function writeResponse(
  reply: Reply,
  context: ReplyContext,
  settings: ResponseSettings,
): JsonObject {
  const writer = createResponsesWriter(context, settings);
  for (const event of unfold(reply)) writer.write(event);
  return writer.response;
}
