// Calls that are several requests at once: all are asked at the same time and answered as one.

import { asGatewayError, GatewayError, invalidRequest } from '../canonical/error.ts';
import type { Reply, ReplyChoice } from '../canonical/fold.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { unfold } from '../canonical/unfold.ts';
import { addUsage } from '../canonical/usage.ts';
import { sizeOf } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { FanOut, GenerateCall } from '../protocols/protocol.ts';
import type { ReplyContext } from '../protocols/writers.ts';
import type { HeldMemory } from '../stream/held-memory.ts';
import { AsyncBatchQueue } from '../stream/queue.ts';
import { abortError } from './attempts.ts';
import { choicesOf, lookForLease, type Routing, routeCall } from './call-setup.ts';
import type { CallContext, GenerateAnswer } from './dispatcher.ts';
import { isRelayed } from './prepare.ts';

interface FanOutOptions {
  /** Answers one of the requests, with all attempts it takes. */
  generateOne(call: GenerateCall, context: CallContext): Promise<GenerateAnswer>;
  readonly replyContext: ReplyContext;
  /** For the answers that wait for others; given back once all are written. */
  readonly memory: HeldMemory;
  /** For the requests that are on their way beside the first, whose memory the body has; given back once all are answered. */
  readonly sending: HeldMemory;
}

/** So many of the requests of one call are on their way at the same time, if there is memory for them. */
const AT_ONCE = 10;

/**
 * A stream begins when all answers are there, as pieces of several would have to wait for one
 * another; or with the first of them, where their streams stand apart.
 * @throws GatewayError of the first request that failed; where some answers are worth having without
 * the others, only when all failed.
 */
export async function generateSeveral(
  call: GenerateCall & { readonly fanOut: FanOut },
  context: CallContext,
  options: FanOutOptions,
): Promise<GenerateAnswer> {
  const { memory } = options;
  let answer: GenerateAnswer | undefined;
  try {
    answer = await answerSeveral(call, context, options);
    const { heldBytes } = memory;
    if (answer.kind === 'reply') return heldBytes > 0 ? { ...answer, heldBytes } : answer;
    return { kind: 'stream', chunks: releasing(memory, answer.chunks) };
  } finally {
    if (answer?.kind !== 'stream') memory.release();
  }
}

async function* releasing(
  memory: HeldMemory,
  chunks: AsyncIterable<string>,
): AsyncGenerator<string, void> {
  try {
    yield* chunks;
  } finally {
    memory.release();
  }
}

async function answerSeveral(
  call: GenerateCall & { readonly fanOut: FanOut },
  context: CallContext,
  options: FanOutOptions,
): Promise<GenerateAnswer> {
  const { requests, takesPartial, isStreamedApart } = call.fanOut;
  context.record.upstreamCalls = requests.length;
  if (call.stream && takesPartial && isStreamedApart === true) {
    return streamApart(call, context, options);
  }
  const results = await askAll(call, context, options);
  const replies = results.flatMap((one) => (one instanceof GatewayError ? [] : [one]));
  const failures = results.filter((result) => result instanceof GatewayError);
  // A fault of the gateway itself is never passed over.
  const first = gravest(failures);
  const isWhole = first?.kind === 'internal' || !takesPartial;
  if (first !== undefined && (replies.length === 0 || isWhole)) throw first;
  if (first !== undefined) noteFailures(failures, results.length, context);
  const reply = mergeReplies(replies, takesPartial ? 0 : (requests[0]?.choices ?? 0));
  const { replyContext } = options;
  if (!call.stream) return { kind: 'reply', body: call.writeReply(reply, replyContext) };
  return { kind: 'stream', chunks: writeStream(call, reply, replyContext) };
}

/**
 * Each answer is written as soon as it is whole; the stream begins with the first one. What fails
 * later is left out, unless the fault is the gateway's own.
 */
async function streamApart(
  call: GenerateCall & { readonly fanOut: FanOut },
  context: CallContext,
  options: FanOutOptions,
): Promise<GenerateAnswer> {
  const arrivals = new AsyncBatchQueue<Result>();
  const onResult = (result: Result): void => arrivals.add([result]);
  void askAll(call, context, { ...options, onResult }).then(() => arrivals.end({ kind: 'end' }));
  const failures: GatewayError[] = [];
  const ready: Result[] = [];
  const next = async (): Promise<Result | undefined> => {
    if (ready.length === 0) ready.push(...((await arrivals.next()).value ?? []));
    return ready.shift();
  };
  let first = await next();
  for (; first instanceof GatewayError; first = await next()) failures.push(first);
  const error = gravest(failures);
  if (error !== undefined && (first === undefined || error.kind === 'internal')) throw error;
  const { replyContext } = options;
  async function* chunks(): AsyncGenerator<string, void> {
    for (let result = first; result !== undefined; result = await next()) {
      if (result instanceof GatewayError) failures.push(result);
      else yield* writeStream(call, result, replyContext);
    }
    const fault = gravest(failures);
    if (fault !== undefined) noteFailures(failures, call.fanOut.requests.length, context);
    if (fault?.kind !== 'internal') return;
    yield call.createStreamWriter(replyContext).write({ kind: 'error', error: fault });
  }
  return { kind: 'stream', chunks: chunks() };
}

/** A fault of the gateway itself before any other. */
function gravest(failures: readonly GatewayError[]): GatewayError | undefined {
  return failures.find(({ kind }) => kind === 'internal') ?? failures[0];
}

type Result = Reply | GatewayError;

/** A few at a time, in order. Where a single failure ends the whole call, the others are not waited for. */
async function askAll(
  call: GenerateCall & { readonly fanOut: FanOut },
  context: CallContext,
  options: FanOutOptions & { onResult?(result: Result): void },
): Promise<readonly Result[]> {
  const { requests, takesPartial } = call.fanOut;
  const giveUp = new AbortController();
  const signal = AbortSignal.any([context.signal, giveUp.signal]);
  const results: Result[] = [];
  const waiting = requests.entries();
  let bytes = 0;
  const askOne = async (request: CanonicalRequest, own: CallContext): Promise<Reply> => {
    const reply = await ask(request, call, own, options);
    bytes += sizeOf(reply);
    options.memory.count(bytes);
    return reply;
  };
  const work = async (): Promise<void> => {
    for (const [index, request] of waiting) {
      const own = { ...context, signal, upstreamCall: index + 1 };
      const result = await askOne(request, own).catch(asGatewayError);
      // The reason of the first failure is what the others end with.
      if (result instanceof GatewayError && !takesPartial) giveUp.abort(result);
      results[index] = result;
      options.onResult?.(result);
    }
  };
  try {
    await Promise.all(Array.from({ length: takeSeveral(requests, options.sending) }, work));
    return results;
  } finally {
    options.sending.release();
  }
}

/** Takes the memory for requests beside the first, and says for how many there is some. */
function takeSeveral(requests: readonly CanonicalRequest[], sending: HeldMemory): number {
  let [taken, bytes] = [1, 0];
  for (const request of requests.slice(1, AT_ONCE)) {
    bytes += sizeOf(request);
    try {
      sending.count(bytes);
    } catch {
      // These wait for the ones before them.
      break;
    }
    taken += 1;
  }
  return taken;
}

async function ask(
  request: CanonicalRequest,
  call: GenerateCall,
  context: CallContext,
  { generateOne }: FanOutOptions,
): Promise<Reply> {
  if (context.signal.aborted) throw abortError(context.signal);
  let taken: Reply | undefined;
  const single: GenerateCall = {
    ...call,
    stream: false,
    fanOut: undefined,
    request,
    writeReply(reply) {
      taken = reply;
      return {};
    },
  };
  await generateOne(single, context);
  if (taken === undefined) throw new Error('A request was answered without a reply.');
  call.fanOut?.check?.(taken);
  return taken;
}

function noteFailures(
  failures: readonly GatewayError[],
  asked: number,
  { receipt }: CallContext,
): void {
  const words = failures[0]?.sentence ?? '';
  receipt.add('dropped', 'n', told`${failures.length} of ${asked} answers failed: ${words}`);
}

async function* writeStream(
  call: GenerateCall,
  reply: Reply,
  context: ReplyContext,
): AsyncGenerator<string, void> {
  const writer = call.createStreamWriter(context);
  for (const event of unfold(reply)) yield writer.write(event);
}

/**
 * Choices are numbered through in the order of the requests; usage is the sum.
 * @param apart how far apart those of two requests begin at least: by its number a client knows the prompt of an answer
 */
function mergeReplies(replies: readonly Reply[], apart: number): Reply {
  const choices: ReplyChoice[] = [];
  let next = 0;
  for (const [at, reply] of replies.entries()) {
    next = Math.max(next, at * apart);
    for (const { end, blocks, grounding } of reply.choices) {
      const choice = next;
      next += 1;
      choices.push({
        end: { ...end, choice },
        blocks,
        grounding: grounding && { ...grounding, choice },
      });
    }
  }
  const [first] = replies;
  return {
    upstreamId: first?.upstreamId,
    modelVersion: first?.modelVersion,
    serviceTier: first?.serviceTier,
    choices,
    usage: replies.map(({ usage }) => usage).reduce(addUsage),
  };
}

/** As many as the models give that give several. */
const MAX_ANSWERS = 8;

/**
 * The call as the model takes it, which is known with its account: one that would serve it now is looked at,
 * and not taken. @throws GatewayError when the model name leads nowhere, or for too many answers.
 */
export async function askApart(
  call: GenerateCall,
  context: CallContext,
  routing: Routing,
): Promise<GenerateCall> {
  const routes = await routeCall(call, context, routing);
  const { leased } = lookForLease(routes, routing.pool);
  // Without an account the attempts say what is wrong.
  if (leased.kind === 'none') return call;
  const { upstream, modelId, listedModel, release } = leased.lease;
  release({ kind: 'neutral' });
  const capabilities = upstream.capabilities(modelId, listedModel);
  if (capabilities.severalAnswers) return call;
  const goesAsItIs = isRelayed(call.relay, upstream.wire, capabilities);
  if (goesAsItIs && capabilities.relaysOneAnswer !== true) return call;
  if (choicesOf(call) > MAX_ANSWERS) {
    throw invalidRequest('n', told`n: at most ${MAX_ANSWERS} answers are possible.`);
  }
  const { request, fanOut = { requests: [request], takesPartial: true } } = call;
  for (const { action, path, reason } of call.relay?.reading?.().losses ?? []) {
    context.receipt.add(action, path, reason);
  }
  const requests = fanOut.requests.flatMap(eachApart);
  const asked = { ...call, request: requests[0] ?? request, relay: undefined };
  return { ...asked, fanOut: { ...fanOut, requests } };
}

/** The same seed would give the same answer each time. */
function eachApart(request: CanonicalRequest): readonly CanonicalRequest[] {
  const { choices, sampling } = request;
  const { seed } = sampling;
  return Array.from({ length: choices }, (_, index) => ({
    ...request,
    choices: 1,
    sampling: seed === undefined ? sampling : { ...sampling, seed: seed + index },
  }));
}
