// The Responses surface of the OpenAI-style protocol: how a request is read, answered and kept.

import type { JsonObject } from '../../../lib/json.ts';
import type { CountTokensCall, GenerateCall, ReplyContext, RouteInput } from '../../protocol.ts';
import { readBodySession } from '../read-request.ts';
import { BackgroundAnswer, QUEUED_EVENTS } from './background.ts';
import { addTurn, outputOf } from './previous-response.ts';
import { compactedResponse, listInputItems, withTrigger } from './read-input.ts';
import { readResponsesRequest } from './read-request.ts';
import { ResponsesWriter, writeResponse } from './write-events.ts';

/** @throws GatewayError 400 naming the field */
export function readResponsesCall(input: RouteInput): GenerateCall {
  return readWritableCall(input).call;
}

/**
 * The response that makes ready for a later one, which goes on from it: whole, and without an answer.
 * @throws GatewayError 400 naming the field
 */
export function readWarmUpCall(input: RouteInput): GenerateCall {
  const { call, writerOf } = readWritableCall(input);
  return { ...call, writeAtOnce: (context) => writerOf(context).writeWarmUp() };
}

function readWritableCall(input: RouteInput): {
  readonly call: GenerateCall;
  readonly writerOf: (context: ReplyContext) => ResponsesWriter;
} {
  const { body, receipt, responses, earlier } = input;
  const { model, stream, canonical, settings } = readResponsesRequest(body, receipt, earlier);
  const { echo, isStored, previousId, conversationId } = settings;
  const put = (response: JsonObject): boolean => {
    const { id } = response;
    if (typeof id !== 'string' || responses === undefined) return false;
    const asked = { id, previousId, input: listInputItems(body.input) };
    if (isStored) return responses.put({ ...asked, response });
    // To go on from there is only the output.
    return (
      responses.putUnstored?.({ ...asked, response: { output: [...outputOf(response)] } }) === true
    );
  };
  const background = settings.isBackground
    ? new BackgroundAnswer({
        ...{ model, echo, put, isStreamed: stream },
        // The first events of a stream repeat what was asked.
        size: JSON.stringify(body).length * (stream ? 1 + QUEUED_EVENTS : 1),
      })
    : undefined;
  const keep = (response: JsonObject, { createId, createdAt }: ReplyContext): void => {
    if (background === undefined) put(response);
    else if (!background.complete(response, createdAt)) return;
    if (responses !== undefined && conversationId !== undefined) {
      const input = listInputItems(body.input);
      void addTurn(responses, conversationId, { input, output: outputOf(response), createId });
    }
  };
  /** An answer is kept when it is whole; one that failed is nothing to go on with. */
  const writerOf = (context: ReplyContext): ResponsesWriter =>
    new ResponsesWriter(
      background?.contextOf(context) ?? context,
      settings,
      {
        keep: (response) => keep(response, context),
        fail: (error, response) => background?.fail(error, outputOf(response)),
      },
      background?.reader === undefined ? 0 : QUEUED_EVENTS,
    );
  const call: GenerateCall = {
    protocol: 'chat',
    model,
    // Read as it comes: an answer nobody waits for may take as long as it goes on.
    stream: stream || background !== undefined,
    background,
    bodySession: readBodySession(body, earlier?.rootId),
    request: canonical,
    createStreamWriter: writerOf,
    writeReply: (reply, context) => writeResponse(reply, writerOf(context)),
  };
  return { call, writerOf };
}

/** Source: `openai` resources/responses/input-tokens. @throws GatewayError 400 naming the field */
export function readInputTokensCall({ body, receipt, earlier }: RouteInput): CountTokensCall {
  const { model, canonical: request } = readResponsesRequest(body, receipt, earlier);
  return {
    protocol: 'chat',
    model,
    request,
    writeCount: ({ totalTokens }) => ({
      object: 'response.input_tokens',
      input_tokens: totalTokens,
    }),
  };
}

/** A summary to go on from, in place of the conversation so far. @throws GatewayError 400 naming the field */
export function readCompactCall({ body, receipt, earlier }: RouteInput): GenerateCall {
  const asked = withTrigger(body);
  const { model, canonical: request, settings } = readResponsesRequest(asked, receipt, earlier);
  return {
    protocol: 'chat',
    model,
    stream: false,
    bodySession: readBodySession(body, earlier?.rootId),
    request,
    createStreamWriter: (context) => new ResponsesWriter(context, settings),
    writeReply: (reply, context) =>
      compactedResponse(writeResponse(reply, new ResponsesWriter(context, settings))),
  };
}
