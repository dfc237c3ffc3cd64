// Reads a Messages body: the head every call needs at once, and the canonical request on demand.

import { GatewayError } from '../../canonical/error.ts';
import { readImageOptions } from '../../canonical/media.ts';
import { plainModelName } from '../../canonical/model.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Part, Sampling, Turn } from '../../canonical/request.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { EXCESS_WORDS, JsonExcessError } from '../../lib/json-limits.ts';
import { told } from '../../lib/localized-message.ts';
import { readConversation } from './read-messages.ts';
import {
  asksToThink,
  readOmitsThinking,
  readOutputFormat,
  readReasoning,
  readSummaryWish,
} from './read-reasoning.ts';
import { readToolSet } from './read-tools.ts';
import {
  BODY_SHAPE,
  clientNamesOf,
  fieldError,
  missing,
  nonEmptyStringAt,
  note,
  noteUnknown,
  optionalArrayAt,
  optionalBooleanAt,
  optionalIntegerAt,
  optionalNumberAt,
  optionalObjectAt,
  optionalStringAt,
  optionalStringsAt,
  pathOf,
  type Scope,
  unknownWord,
} from './schema.ts';

/** What is known of a call before its conversation is read. */
interface CallHead {
  /** Without a leading `models/`. */
  readonly model: string;
  readonly stream: boolean;
  readonly bodySession: string | undefined;
  /** True when thinking blocks are answered without text. */
  readonly omitsThinking: boolean;
}

/** The protocol names no limit; each one costs a search of the whole answer. */
const MAX_STOP_SEQUENCES = 64;

/**
 * Checks everything outside the conversation.
 * @throws GatewayError naming the field, worded `<field>: …`.
 */
export function readCallHead(body: Scope): CallHead {
  const model = plainModelName(nonEmptyStringAt(body, 'model'));
  if (model === '') throw fieldError('model', 'Input should be the name of a model');
  if (optionalArrayAt(body, 'messages') === undefined) throw missing('messages');
  refuseThreads(body);
  if ((optionalArrayAt(body, 'mcp_servers') ?? []).length > 0) {
    throw fieldError('mcp_servers', 'MCP servers cannot be called from here', 'unsupported');
  }
  readMaxTokens(body);
  readSampling(body);
  return {
    model,
    stream: optionalBooleanAt(body, 'stream') ?? false,
    bodySession: readBodySession(body),
    omitsThinking: readOmitsThinking(body),
  };
}

/** `max_tokens` is required for an answer, not for a token count. */
export function requireMaxTokens(body: Scope): void {
  if (readMaxTokens(body) === undefined) throw missing('max_tokens');
}

/** @throws GatewayError naming the field by its dotted path. */
export function readCanonicalRequest(body: Scope, receipt: Receipt): CanonicalRequest {
  const conversation = readConversation(body, receipt);
  noteUnsupported(body, receipt);
  const goesOn = readSummaryWish(body) !== undefined;
  if (asksToThink(body) && !goesOn) refusePrefill(conversation.turns);
  return {
    system: conversation.system,
    turns: conversation.turns,
    ...readToolSet(body, { toolChanges: conversation.toolChanges, receipt }),
    sampling: readSampling(body),
    maxOutputTokens: atLeastOne(readMaxTokens(body)),
    stopSequences: readStopSequences(body),
    choices: 1,
    reasoning: readReasoning(body, { turnEffort: conversation.turnEffort, receipt }),
    outputFormat: readOutputFormat(body, receipt),
    image: readImage(body, receipt),
    safety: [],
    clientNames: clientNamesOf(body, { hasTurnEffort: conversation.turnEffort !== undefined }),
  };
}

/** As the real service: an answer that thinks first cannot go on from words already said. */
function refusePrefill(turns: readonly Turn[]): void {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || !endsInWords(last.parts)) return;
  throw fieldError(
    'messages',
    'This model does not support assistant message prefill with thinking. The conversation must end with a user message.',
    'unsupported',
  );
}

/** A turn with calls, or one that paused at a tool of the real service, is gone on with, not completed. */
function endsInWords(parts: readonly Part[]): boolean {
  const end = parts.findLast(({ kind }) => kind !== 'thinking' && kind !== 'redacted-thinking');
  return end?.kind === 'text' && end.text !== '' && !parts.some(({ kind }) => kind === 'tool-call');
}

function readStopSequences(body: Scope): readonly string[] {
  const sequences = optionalStringsAt(body, 'stop_sequences') ?? [];
  if (sequences.length > MAX_STOP_SEQUENCES) {
    throw fieldError('stop_sequences', `List should have at most ${MAX_STOP_SEQUENCES} items`);
  }
  const empty = sequences.indexOf('');
  if (empty < 0) return sequences;
  throw fieldError(`stop_sequences.${empty}`, 'A stop sequence should not be empty');
}

/** The image extension of this product. */
function readImage(body: Scope, receipt: Receipt): CanonicalRequest['image'] {
  const fields = {
    size: optionalStringAt(body, 'size'),
    quality: optionalStringAt(body, 'quality'),
    imageSize: optionalStringAt(body, 'imageSize'),
  };
  return readImageOptions(fields, { receipt, unknownWord });
}

function readMaxTokens(body: Scope): number | undefined {
  return optionalIntegerAt(body, 'max_tokens', { min: 0 });
}

/** 0 asks to warm a cache; upstreams count from 1. */
function atLeastOne(maxTokens: number | undefined): number | undefined {
  return maxTokens === undefined ? undefined : Math.max(maxTokens, 1);
}

function readSampling(body: Scope): Sampling {
  return {
    temperature: optionalNumberAt(body, 'temperature', { min: 0, max: 1 }),
    topP: optionalNumberAt(body, 'top_p', { min: 0, max: 1 }),
    // 0 samples from all tokens, as no limit does; upstreams count from 1.
    topK: optionalIntegerAt(body, 'top_k', { min: 0 }) || undefined,
  };
}

/**
 * Server-held threads need state. `create` carries the whole conversation, so it is answered;
 * `continue` carries the last turn only, and the SDK replays everything when told the thread is gone
 * (TypeScript SDK, `lib/internal/threads/ThreadState.js`).
 */
function refuseThreads(body: Scope): void {
  const thread = optionalObjectAt(body, 'thread');
  if (thread === undefined || thread.value.type === 'create') return;
  if (thread.value.type !== 'continue') {
    throw fieldError('thread', 'Send the whole conversation without a thread', 'unsupported');
  }
  throw new GatewayError({
    kind: 'not-found',
    source: 'client',
    reason: 'thread-not-found',
    field: 'thread',
    message: 'thread: No thread is kept for this message. Send the whole conversation again.',
  });
}

function noteUnsupported(body: Scope, receipt: Receipt): void {
  const reason = told`The gateway has no counterpart for this field.`;
  noteUnknown(body, BODY_SHAPE, receipt);
  if (body.value.speed === 'fast') note(receipt, 'dropped', { path: 'speed', reason });
  if (isSet(body, 'service_tier') && body.value.service_tier !== 'auto') {
    note(receipt, 'dropped', { path: 'service_tier', reason });
  }
  if (readMaxTokens(body) === 0) {
    const nothing = told`An answer has at least one token here; 1 is sent.`;
    note(receipt, 'approximated', { path: 'max_tokens', reason: nothing });
  }
  const config = optionalObjectAt(body, 'output_config');
  if (config !== undefined && isSet(config, 'task_budget')) {
    note(receipt, 'dropped', { path: pathOf(config, 'task_budget'), reason });
  }
  if (isSet(body, 'thread')) {
    note(receipt, 'dropped', { path: 'thread', reason: told`Conversations are not kept here.` });
  }
}

function isSet(scope: Scope, key: string): boolean {
  const value = scope.value[key];
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/**
 * Coding CLIs put JSON text with a `session_id` there, older ones `user_…_session_<id>`. A plain user
 * id names a person, not a conversation, and is not used.
 */
function readBodySession(body: Scope): string | undefined {
  const metadata = optionalObjectAt(body, 'metadata');
  if (metadata === undefined) return undefined;
  const userId = optionalStringAt(metadata, 'user_id');
  if (userId === undefined) return undefined;
  if (userId.startsWith('{')) return sessionOfJson(userId, pathOf(metadata, 'user_id'));
  return /session_([A-Za-z0-9-]+)/.exec(userId)?.[1];
}

/** @throws GatewayError 400 for JSON over the limits; what is no JSON names no session */
function sessionOfJson(text: string, path: string): string | undefined {
  const value = tryParse(text, path);
  const session = isJsonObject(value) ? value.session_id : undefined;
  return typeof session === 'string' && session !== '' ? session : undefined;
}

function tryParse(text: string, path: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonExcessError)) return undefined;
    throw fieldError(path, `The JSON in it ${EXCESS_WORDS[error.excess]}`);
  }
}
