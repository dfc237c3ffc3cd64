// The Responses surface of the OpenAI-style protocol: how a request is read, answered and kept.

import type { GatewayError } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type {
  BackgroundCall,
  CountTokensCall,
  GenerateCall,
  ReplyContext,
  RouteInput,
} from '../../protocol.ts';
import { readBodySession } from '../read-request.ts';
import { addTurn, outputOf } from './previous-response.ts';
import { compactedResponse, listInputItems, withTrigger } from './read-input.ts';
import { readResponsesRequest } from './read-request.ts';
import { type Ending, failureOf, responseObject } from './response-object.ts';
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
    ? new BackgroundAnswer({ model, echo, size: JSON.stringify(body).length, put })
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
    new ResponsesWriter(background?.contextOf(context) ?? context, settings, {
      keep: (response) => keep(response, context),
      fail: (error, response) => background?.fail(error, outputOf(response)),
    });
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

interface BackgroundAnswerOptions {
  readonly model: string;
  readonly echo: JsonObject;
  /** UTF-16 units of the request. */
  readonly size: number;
  /** Puts the response on the shelf, with what it was asked; false when it is too large for that. */
  readonly put: (response: JsonObject) => boolean;
}

const TOO_LARGE = {
  status: 'failed',
  code: 'server_error',
  message: 'The answer is too large to be kept. Ask for less, or leave background out.',
} as const;

/**
 * A response that is made in the background: kept as queued at once, and once more as it ended. Whatever comes first
 * is how it ended: a client that cancels does not see it completed later.
 */
export class BackgroundAnswer implements BackgroundCall {
  readonly size: number;
  readonly #options: BackgroundAnswerOptions;
  #head = { id: '', createdAt: 0 };
  #isOver = false;

  constructor(options: BackgroundAnswerOptions) {
    this.#options = options;
    this.size = options.size;
  }

  queue({ createId, createdAt }: ReplyContext): { readonly id: string; readonly body: JsonObject } {
    this.#head = { id: createId('resp_'), createdAt };
    const body = this.#write({ status: 'queued' }, []);
    this.#options.put(body);
    return { id: this.#head.id, body };
  }

  /** For the writer of the answer: the id and the time are those the client was told. */
  contextOf(context: ReplyContext): ReplyContext {
    const { id, createdAt } = this.#head;
    const createId = (prefix: string): string =>
      prefix === 'resp_' ? id : context.createId(prefix);
    return { ...context, createdAt, createId };
  }

  /** True when the answer came first. `endedAt` is in seconds since the epoch. */
  complete(response: JsonObject, endedAt: number): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const isCompleted = response.status === 'completed';
    const ended = isCompleted ? { ...response, completed_at: endedAt } : response;
    if (!this.#options.put(ended)) this.#options.put(this.#write(TOO_LARGE, []));
    return true;
  }

  fail(error: GatewayError, output: readonly JsonObject[] = []): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isCancelled = error.kind === 'client-gone';
    const ending = isCancelled ? ({ status: 'cancelled' } as const) : failureOf(error);
    this.#options.put(this.#write(ending, output));
  }

  #write(ending: Ending, output: readonly JsonObject[]): JsonObject {
    const { model, echo } = this.#options;
    const head = { ...this.#head, model, echo };
    return responseObject(head, ending, { output, usage: undefined, searches: 0 });
  }
}
