// The Responses surface of the OpenAI-style protocol: how a request is read, answered and kept.

import type { JsonObject } from '../../../lib/json.ts';
import type {
  CountTokensCall,
  GenerateCall,
  ReplyContext,
  RouteInput,
  StreamWriter,
} from '../../protocol.ts';
import { readString } from '../fields.ts';
import { addTurn } from './conversation-log.ts';
import { outputOf } from './earlier-chain.ts';
import { listInputItems } from './read-input.ts';
import { readBodySession, readResponsesRequest } from './read-request.ts';
import { createResponsesWriter, type ResponseStreamWriter } from './write-events.ts';
import { writeResponse } from './write-reply.ts';

/** Reads eagerly: no upstream speaks this wire. @throws GatewayError 400 naming the field */
export function readResponsesCall(input: RouteInput): GenerateCall {
  const { body, receipt, shelf, earlier } = input;
  const { model, stream, canonical, settings } = readResponsesRequest(body, receipt, earlier);
  const keep = (response: JsonObject, { createId }: ReplyContext): void => {
    const { conversationId } = settings;
    if (shelf !== undefined && conversationId !== undefined) {
      const turn = { input: listInputItems(body.input), output: outputOf(response) };
      void addTurn(shelf, conversationId, { turn, createId });
    }
    if (!settings.isStored || typeof response.id !== 'string') return;
    shelf?.put({
      id: response.id,
      previousId: readString(body, 'previous_response_id'),
      input: listInputItems(body.input),
      response,
    });
  };
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: readBodySession(body, earlier?.rootId),
    canonical: () => canonical,
    createStreamWriter: (context) =>
      keeping(createResponsesWriter(context, settings), (response) => keep(response, context)),
    writeReply(reply, context) {
      const response = writeResponse(reply, context, settings);
      keep(response, context);
      return response;
    },
  };
}

/** Source: `openai` resources/responses/input-tokens. @throws GatewayError 400 naming the field */
export function readInputTokensCall({ body, receipt, earlier }: RouteInput): CountTokensCall {
  const { model, canonical } = readResponsesRequest(body, receipt, earlier);
  return {
    protocol: 'chat',
    model,
    canonical: () => canonical,
    writeCount: ({ totalTokens }) => ({
      object: 'response.input_tokens',
      input_tokens: totalTokens,
    }),
  };
}

/** An answer is kept when it is whole; one that failed is nothing to go on with. */
function keeping(writer: ResponseStreamWriter, keep: (response: JsonObject) => void): StreamWriter {
  return {
    contentType: writer.contentType,
    keepAlive: () => writer.keepAlive(),
    write(event) {
      const text = writer.write(event);
      if (event.kind === 'finish') keep(writer.response);
      return text;
    },
  };
}
