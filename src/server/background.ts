// Creates one response in the background: the client polls for it or reads along, and may disconnect.

import {
  asGatewayError,
  clientError,
  cutOffError,
  type GatewayError,
  gatewayError,
  stoppedError,
} from '../canonical/error.ts';
import type { AnswerChunks, CallContext } from '../dispatch/dispatcher.ts';
import type { Timer } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import type { BackgroundCall, FollowedEvents, GenerateCall } from '../protocols/protocol.ts';
import type { ReplyContext } from '../protocols/writers.ts';
import { EventLog, type RefusedRun } from '../stored-responses/background-runs.ts';
import { shuttingDown } from './activity.ts';
import { observeDetached, readCallContext } from './call-context.ts';
import type { Edge, Exchange } from './edge.ts';
import { protocolOf, sendError, sendJson } from './respond.ts';
import { followStream } from './stream-response.ts';

/** Nobody waits at a connection, so that an answer may take longer than one that is waited for. */
const MAX_RUN_MS = 30 * 60_000;

/** Resolves when the answer has ended, long after its client was told. @throws GatewayError while nothing has begun. */
export async function answerInBackground(
  exchange: Exchange,
  call: GenerateCall & { readonly background: BackgroundCall },
): Promise<void> {
  const { edge } = exchange;
  const { background, model } = call;
  // A client that left by now would never learn where to look.
  exchange.abort.signal.throwIfAborted();
  const context = readCallContext(exchange);
  const { observed } = exchange;
  const createdAt = Math.floor(edge.clock.now() / 1000);
  const { reader } = background;
  const events = reader && new EventLog();
  let told = {};
  const started = edge.runs.start({
    clientKeyId: exchange.clientKeyId,
    size: background.size,
    events,
    begin() {
      const queued = background.queue({ model, createId, createdAt });
      told = queued.body;
      events?.add(queued.events());
      return queued.id;
    },
    async work(signal) {
      const limited = limit(edge, signal);
      if (observed !== undefined) observed.stop = () => limited.end(stoppedError());
      const making = new Making(call, events);
      try {
        await making.run(edge, { ...context, signal: limited.signal });
      } catch (error) {
        const failure = asGatewayError(limited.signal.aborted ? limited.signal.reason : error);
        exchange.record.error ??= failure;
        await making.endWithError(failure, { model, createId, createdAt });
        background.fail(failure);
      } finally {
        limited.timer.cancel();
      }
    },
  });
  if (started.kind === 'refused') throw refusal(started.reason);
  const tellEnd = observeDetached(exchange);
  await call.kept?.();
  if (events && reader) await readAlong(exchange, { events, first: 0, reader });
  else sendJson(exchange, { status: 200, body: told });
  await started.ended;
  const { error } = exchange.record;
  const { path, requestId } = exchange;
  const written = error && protocolOf(exchange).writeError(error, { requestId, path });
  tellEnd(written?.status ?? 200);
}

/** A client that leaves ends its own reading alone. */
async function readAlong(exchange: Exchange, followed: FollowedEvents): Promise<void> {
  try {
    await followStream(exchange, followed);
  } catch (error) {
    sendError(exchange, asGatewayError(error));
  }
}

/** The answer keeps itself as it is written; a stream that breaks off says so in its own words. */
class Making {
  readonly #call: GenerateCall;
  readonly #events: EventLog | undefined;
  #chunks: AnswerChunks | undefined;

  constructor(call: GenerateCall, events: EventLog | undefined) {
    this.#call = call;
    this.#events = events;
  }

  async run(edge: Edge, context: CallContext): Promise<void> {
    context.signal.throwIfAborted();
    const answer = await edge.dispatcher.generate(this.#call, context);
    if (answer.kind === 'reply') return;
    this.#chunks = answer.chunks;
    for await (const written of answer.chunks) {
      if ((await this.#call.background?.ended()) === false) {
        this.#chunks = undefined;
        throw cutOffError();
      }
      await this.#call.kept?.();
      this.#events?.add(written);
      context.signal.throwIfAborted();
    }
    context.signal.throwIfAborted();
  }

  /** Writes what is left of its stream. */
  async endWithError(error: GatewayError, context: ReplyContext): Promise<void> {
    const chunks = this.#chunks;
    if (chunks?.endWithError === undefined) {
      this.#events?.add(this.#call.createStreamWriter(context).write({ kind: 'error', error }));
      return;
    }
    chunks.endWithError(error);
    for await (const written of chunks) this.#events?.add(written);
  }
}

function limit(
  edge: Edge,
  signal: AbortSignal,
): {
  readonly signal: AbortSignal;
  readonly timer: Timer;
  end(error: GatewayError): void;
} {
  const late = new AbortController();
  const message = `No answer within ${MAX_RUN_MS / 60_000} minutes. Try a shorter request.`;
  const timer = edge.clock.startTimer(MAX_RUN_MS, () =>
    late.abort(gatewayError('timeout', message)),
  );
  const end = (error: GatewayError): void => late.abort(error);
  return { signal: AbortSignal.any([signal, late.signal]), timer, end };
}

function refusal(reason: RefusedRun['reason']): GatewayError {
  const field = 'background';
  switch (reason) {
    case 'too-many': {
      const message =
        'Too many responses are being made in the background. Wait until some have ended, cancel ' +
        'them, or leave background out.';
      return clientError('rate-limited', message, { field, retryAfterMs: 10_000 });
    }
    case 'too-large': {
      const message =
        'The request is too large to be answered in the background; leave background out, or send less.';
      return clientError('too-large', message, { field });
    }
    case 'closing':
      return shuttingDown();
    default:
      return reason satisfies never;
  }
}
