// A response that is made in the background.

import type { GatewayError } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { eventFrame } from '../../../stream/sse.ts';
import type { BackgroundCall } from '../../protocol.ts';
import type { ReplyContext, StreamWriter } from '../../writers.ts';
import { STREAM } from '../answer-parts.ts';
import { writeErrorBody } from '../errors.ts';
import { type Ending, Frames, failureOf, responseObject } from './response-object.ts';

interface BackgroundAnswerOptions {
  readonly model: string;
  readonly echo: JsonObject;
  /** Of the request, in UTF-16 units and roughly. */
  readonly size: number;
  /** Puts the response on the shelf, with what it was asked. */
  readonly put: (response: JsonObject) => unknown;
  /** As `put`, when it has ended: whether it stands so. Undefined when it is too large for that. */
  readonly end: (response: JsonObject) => Promise<boolean> | undefined;
  readonly isStreamed: boolean;
}

/** How many events its stream begins with, before there is anything of the answer. */
export const QUEUED_EVENTS = 2;

/** What who reads such a stream is told beside its events: the response itself does not end with their connection. */
export const READING_ALONG: StreamWriter = {
  contentType: STREAM.contentType,
  keepAlive: STREAM.keepAlive,
  write(event) {
    if (event.kind !== 'error') return '';
    const { code, message, param } = writeErrorBody(event.error).error;
    return eventFrame('error', JSON.stringify({ type: 'error', code, message, param }));
  },
};

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
  readonly reader: StreamWriter | undefined;
  readonly #options: BackgroundAnswerOptions;
  #head = { id: '', createdAt: 0 };
  #isOver = false;
  #ended: Promise<boolean> | undefined;

  constructor(options: BackgroundAnswerOptions) {
    this.#options = options;
    this.size = options.size;
    this.reader = options.isStreamed ? READING_ALONG : undefined;
  }

  queue({ createId, createdAt }: ReplyContext): ReturnType<BackgroundCall['queue']> {
    this.#head = { id: createId('resp_'), createdAt };
    const body = this.#write({ status: 'queued' }, []);
    this.#options.put(body);
    return { id: this.#head.id, body, events: () => writeQueued(body) };
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
    const { end } = this.#options;
    this.#ended = end(ended) ?? end(this.#write(TOO_LARGE, []));
    return true;
  }

  ended(): Promise<boolean> | undefined {
    return this.#ended;
  }

  fail(error: GatewayError, output: readonly JsonObject[] = []): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#options.end(this.#write(failureOf(error), output));
  }

  #write(ending: Ending, output: readonly JsonObject[]): JsonObject {
    const { model, echo } = this.#options;
    const head = { ...this.#head, model, echo };
    return responseObject(head, ending, { output, usage: undefined, searches: 0 });
  }
}

function writeQueued(response: JsonObject): string {
  const frames = new Frames();
  const created = frames.write('response.created', { response });
  return created + frames.write('response.queued', { response }) + frames.rest();
}
