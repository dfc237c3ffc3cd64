// One recorded upstream stream and what each kind of client is answered from it.

import { existsSync, readFileSync } from 'node:fs';
import { GatewayError } from '../../src/canonical/error.ts';
import type { CanonicalEvent } from '../../src/canonical/event.ts';
import { fold } from '../../src/canonical/fold.ts';
import { createReceipt } from '../../src/canonical/receipt.ts';
import { isNativeErrorReply } from '../../src/dispatch/lanes.ts';
import { StreamObserver } from '../../src/dispatch/stream-observer.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { type Sentence, told } from '../../src/lib/localized-message.ts';
import type { GenerateCall } from '../../src/protocols/protocol.ts';
import type { ReplyContext } from '../../src/protocols/writers.ts';
import { type Frame, FrameError, FrameReader } from '../../src/stream/sse.ts';
import { pathFault } from '../../src/upstreams/errors.ts';
import { GenerateDecoder } from '../../src/upstreams/generate/decode.ts';
import { findTextPart } from '../../src/upstreams/generate/plain-text.ts';
import { RepeatedTexts } from '../../src/upstreams/transport/repeated-texts.ts';
import type { Decoder } from '../../src/upstreams/upstream.ts';
import { goldenJson } from './golden-file.ts';
import { describeError, isGenerateCall, protocolOf, readCall } from './request-case.ts';

/** `relay` is the generate-content client behind an upstream of its own wire. */
export type LaneName = 'chat' | 'responses' | 'messages' | 'generate' | 'relay';
export const LANES: readonly LaneName[] = ['chat', 'responses', 'messages', 'generate', 'relay'];
/** The lanes whose whole answers are written from events. */
export const TRANSLATED_LANES = ['chat', 'responses', 'messages', 'generate'] as const;

/** The body of an upstream answer, read: its frames, and what was wrong with the bytes behind them. */
export interface UpstreamAnswer {
  readonly frames: readonly Frame[];
  readonly fault: GatewayError | undefined;
}

/** The calls the answers of one case are written for. */
export type Callers = Readonly<Record<LaneName, GenerateCall>>;

/** As the transport words them (`src/upstreams/transport/response.ts`). */
const FAULTS: Readonly<Record<FrameError['fault'], Sentence>> = {
  truncated: told`The upstream cut its answer off.`,
  'too-large': told`The upstream sent an answer that could not be read.`,
  'not-json': told`The upstream sent an answer that could not be read.`,
};
const NOW = Date.UTC(2026, 0, 1);
const QUESTION = 'Hi';
const BASE = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      model: 'gemini-3-flash',
      messages: [{ role: 'user', content: QUESTION }],
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  responses: {
    path: '/v1/responses',
    body: {
      model: 'gemini-3-flash',
      input: QUESTION,
      reasoning: { summary: 'auto' },
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
      store: false,
      stream: true,
    },
  },
  messages: {
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-6',
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      messages: [{ role: 'user', content: QUESTION }],
      stream: true,
    },
  },
  generate: {
    path: '/v1beta/models/gemini-3-flash:streamGenerateContent',
    query: 'alt=sse',
    body: {
      contents: [{ role: 'user', parts: [{ text: QUESTION }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    },
  },
};

/** `<case>.json` beside the stream may change the requests: `{chat, responses, messages, generate, query}`. */
export function readCallers(optionsFile: string): Callers {
  const text = existsSync(optionsFile) ? readFileSync(optionsFile, 'utf8') : '{}';
  const options: JsonObject = JSON.parse(text);
  const generate = callOf('generate', options);
  return {
    chat: callOf('chat', options),
    responses: callOf('responses', options),
    messages: callOf('messages', options),
    generate,
    relay: generate,
  };
}

/** What a body delivered in these chunks holds; a fault ends it. */
export function readAnswer(chunks: Iterable<Buffer>): UpstreamAnswer {
  const reader = new FrameReader({
    maxFrameBytes: 67_108_864,
    memory: new RepeatedTexts(findTextPart),
  });
  const frames: Frame[] = [];
  try {
    for (const chunk of chunks) frames.push(...reader.push(chunk));
    frames.push(...reader.end());
    return { frames, fault: undefined };
  } catch (error) {
    if (error instanceof FrameError) return { frames, fault: pathFault(FAULTS[error.fault]) };
    throw error;
  }
}

/** The text of the client's stream. @throws GatewayError when it fails before the commit point. */
export function writeStream(lane: LaneName, call: GenerateCall, answer: UpstreamAnswer): string {
  return lane === 'relay' ? relayStream(call, answer) : translateStream(call, answer);
}

/** As `writeStream`, with an early failure as status and body. */
export function showStream(lane: LaneName, call: GenerateCall, answer: UpstreamAnswer): string {
  try {
    return writeStream(lane, call, answer);
  } catch (error) {
    const { status, body } = refusalOf(error, call);
    return `HTTP ${status}\n${goldenJson(body)}`;
  }
}

/** The body of the client's unary answer. @throws GatewayError */
export function writeUnary(call: GenerateCall, answer: UpstreamAnswer): JsonObject {
  const context = replyContext(call);
  const events = [...decode(answer, context.createId)];
  return call.writeReply(fold(events), context);
}

/** Unary bodies of all protocols; a refusal is shown as status and body. */
export function showReplies(callers: Callers, answer: UpstreamAnswer): JsonObject {
  const replies = TRANSLATED_LANES.map((lane) => {
    const call = callers[lane];
    try {
      return [lane, writeUnary(call, answer)] as const;
    } catch (error) {
      return [lane, refusalOf(error, call)] as const;
    }
  });
  return Object.fromEntries(replies);
}

/** Ids count up by prefix, so that they do not depend on when a writer takes them. */
function replyContext(call: GenerateCall): ReplyContext {
  const counts = new Map<string, number>();
  const createId = (prefix: string): string => {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return `${prefix}${count}`;
  };
  return { model: call.model, createId, createdAt: NOW / 1000 };
}

function translateStream(call: GenerateCall, answer: UpstreamAnswer): string {
  const context = replyContext(call);
  const writer = call.createStreamWriter(context);
  let isCommitted = false;
  let text = '';
  for (const event of decode(answer, context.createId)) {
    if (event.kind === 'error' && !isCommitted) throw event.error;
    isCommitted ||= StreamObserver.isCommitting(event);
    text += writer.write(event);
  }
  return text;
}

function relayStream(call: GenerateCall, answer: UpstreamAnswer): string {
  const context = replyContext(call);
  if (call.relay === undefined) throw new Error(`${call.protocol} has no relay lane`);
  const writer = call.relay.createStreamWriter(context);
  const decoder = new GenerateDecoder(
    { signatureFamily: 'alpha', createId: context.createId },
    now,
  );
  let isCommitted = false;
  let text = '';
  const findError = (events: readonly CanonicalEvent[]): GatewayError | undefined => {
    for (const event of events) {
      if (event.kind !== 'error') isCommitted ||= StreamObserver.isCommitting(event);
      else if (isCommitted || isNativeErrorReply(event.error)) return event.error;
      else throw event.error;
    }
    return undefined;
  };
  let last: JsonObject | undefined;
  for (const frame of answer.frames) {
    const isRepeated = frame.repeats !== undefined && frame.repeats === last;
    const repeated = isRepeated ? writer.repeat?.(frame.text) : undefined;
    if (repeated === undefined) last = frame.value;
    const events = repeated === undefined ? undefined : decoder.repeat?.(frame);
    const error = findError(events ?? decoder.push(frame.value));
    if (error !== undefined) return text + writer.error(error);
    text += repeated ?? writer.write(frame.value, frame.text);
  }
  const error = findError(endOf(decoder, answer));
  return (
    text + (error === undefined || isNativeErrorReply(error) ? writer.end() : writer.error(error))
  );
}

function* decode(
  answer: UpstreamAnswer,
  createId: (prefix: string) => string,
): Generator<CanonicalEvent> {
  const decoder = new GenerateDecoder({ signatureFamily: 'alpha', createId }, now);
  for (const frame of answer.frames) {
    const events = decoder.repeat?.(frame) ?? decoder.push(frame.value);
    yield* events;
    if (events.at(-1)?.kind === 'error') return;
  }
  yield* endOf(decoder, answer);
}

/** A fault of the bytes is an error event of its own: the decoder never hears of it. */
function endOf(decoder: Decoder, { fault }: UpstreamAnswer): readonly CanonicalEvent[] {
  return fault === undefined ? decoder.end() : [{ kind: 'error', error: fault }];
}

function now(): number {
  return NOW;
}

function callOf(lane: (typeof TRANSLATED_LANES)[number], options: JsonObject): GenerateCall {
  const base = BASE[lane];
  const changes = options[lane];
  const body: JsonObject = { ...base.body, ...(isJsonObject(changes) ? changes : {}) };
  const query = String(options.query ?? ('query' in base ? base.query : ''));
  const call = readCall({ ...base, query, body }, createReceipt());
  if (!isGenerateCall(call)) throw new Error(`${base.path} gives no answer`);
  return call;
}

function refusalOf(
  error: unknown,
  { protocol }: GenerateCall,
): { status: number; body: JsonObject } {
  if (!(error instanceof GatewayError)) throw error;
  const { response } = describeError(error, protocolOf(BASE[protocol]));
  if (!isJsonObject(response) || !isJsonObject(response.body)) throw error;
  return { status: Number(response.status), body: response.body };
}
