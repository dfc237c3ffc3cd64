// A response that is made in the background.

import type { GatewayError } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { BackgroundCall, ReplyContext } from '../../protocol.ts';
import { type Ending, failureOf, responseObject } from './response-object.ts';

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
