// Reads a Messages body: the head every call needs at once, and the canonical request on demand.

import { readImageOptions } from '../../canonical/image-options.ts';
import { plainModelName } from '../../canonical/model.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Part, Turn } from '../../canonical/request.ts';
import { leaveThread } from '../../canonical/threads.ts';
import {
  EXCESS_WORDS,
  isJsonObject,
  JsonLimitError,
  type JsonObject,
  parseJson,
  readNumber,
} from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectOf, textOf } from '../../lib/read-values.ts';
import type { Checked } from '../body-schema.ts';
import { readConversation } from './read-messages.ts';
import { readOutputFormat, readReasoning, readSummaryWish } from './read-reasoning.ts';
import { readToolSet } from './read-tools.ts';
import {
  BODY,
  type Body,
  check,
  clientNamesOf,
  fieldError,
  NO_COUNTERPART,
  noteUnknown,
  unknownWord,
} from './schema.ts';

/** What is known of a call before its conversation is read. */
interface CallHead {
  /** Every field has the type and the range it must have. */
  readonly body: Checked<Body>;
  /** Without a leading `models/`. */
  readonly model: string;
  readonly stream: boolean;
  readonly bodySession: string | undefined;
  /** True when thinking blocks are answered without text. */
  readonly omitsThinking: boolean;
}

/** The protocol names no limit; each one costs a search of the whole answer. */
const MAX_STOP_SEQUENCES = 64;

/** @throws GatewayError naming the field, worded `<field>: …`. */
export function readCallHead(
  value: JsonObject,
  { needsLimit }: { readonly needsLimit: boolean },
): CallHead {
  const checked = check({ value, path: '' }, BODY);
  const body = checked.value;
  const model = plainModelName(body.model);
  if (model === '') throw fieldError('model', 'Input should be the name of a model');
  if (needsLimit && (body.max_tokens ?? null) === null) {
    throw fieldError('max_tokens', 'Field required', 'missing-field');
  }
  return {
    body: checked,
    model,
    stream: body.stream ?? false,
    bodySession: body.metadata?.user_id ? sessionOf(body.metadata.user_id) : undefined,
    omitsThinking: body.thinking?.display === 'omitted',
  };
}

/** @throws GatewayError naming the field by its dotted path. */
export function readCanonicalRequest(checked: Checked<Body>, receipt: Receipt): CanonicalRequest {
  const body = checked.value;
  if (body.thread) leaveThread(body.thread, receipt);
  if ((body.mcp_servers ?? []).length > 0) {
    throw fieldError('mcp_servers', 'MCP servers cannot be called from here', 'unsupported');
  }
  const { system, turns, turnEffort, toolChanges } = readConversation(body, receipt);
  if (checked.unknown !== undefined) noteUnknown(checked, '', receipt);
  noteUnsupported(body, receipt);
  // Thinking is switched on by its own field; an effort alone leaves the choice to the model.
  const thinks = body.thinking ? body.thinking.type !== 'disabled' : false;
  if (thinks && !(body.compaction && readSummaryWish(body.compaction))) {
    refusePrefill(turns);
  }
  const maxTokens = readNumber(body.max_tokens);
  return {
    system,
    turns,
    ...(body.tools || body.tool_choice || toolChanges.length > 0
      ? readToolSet(body, toolChanges, receipt)
      : { tools: [], toolChoice: { kind: 'auto', names: [] } }),
    sampling: {
      temperature: readNumber(body.temperature),
      topP: readNumber(body.top_p),
      // 0 samples from all tokens, as no limit does; upstreams count from 1.
      topK: readNumber(body.top_k) || undefined,
    },
    // 0 asks to warm a cache; upstreams count from 1.
    maxOutputTokens: maxTokens === 0 ? 1 : maxTokens,
    stopSequences: body.stop_sequences ? readStopSequences(body.stop_sequences) : [],
    choices: 1,
    reasoning:
      body.thinking || body.output_config || turnEffort
        ? readReasoning(body, turnEffort, receipt)
        : { amount: { kind: 'unset' } },
    outputFormat:
      body.output_config?.format || body.output_format
        ? readOutputFormat(body, receipt)
        : { kind: 'text' },
    // The image extension of this product.
    image: readImageOptions(body, { receipt, unknownWord }),
    safety: [],
    serviceTier: body.service_tier ?? undefined,
    clientNames: clientNamesOf(body, turnEffort !== undefined),
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

function readStopSequences(sequences: readonly string[]): readonly string[] {
  if (sequences.length > MAX_STOP_SEQUENCES) {
    throw fieldError('stop_sequences', `List should have at most ${MAX_STOP_SEQUENCES} items`);
  }
  const empty = sequences.indexOf('');
  if (empty < 0) return sequences;
  throw fieldError(`stop_sequences.${empty}`, 'A stop sequence should not be empty');
}

function noteUnsupported(body: Body, receipt: Receipt): void {
  const drop = (path: string): void => receipt.add('dropped', path, NO_COUNTERPART);
  if (body.speed === 'fast') drop('speed');
  if (readNumber(body.max_tokens) === 0) {
    const nothing = told`An answer has at least one token here; 1 is sent.`;
    receipt.add('approximated', 'max_tokens', nothing);
  }
  if ((body.output_config?.task_budget ?? null) !== null) drop('output_config.task_budget');
  const { context_management: management } = body;
  const edits = isJsonObject(management) && Array.isArray(management.edits) ? management.edits : [];
  for (const [index, edit] of edits.entries()) {
    // Nothing is cleared here, as one coding CLI asks with every request.
    if (!isJsonObject(edit) || edit.keep !== 'all') drop(`context_management.edits[${index}]`);
  }
  if ((body.container ?? null) !== null) drop('container');
}

/**
 * Coding CLIs put JSON text with a `session_id` there, older ones `user_…_session_<id>`. A plain user
 * id names a person, not a conversation, and is not used.
 * @throws GatewayError 400 for JSON over the limits; what is no JSON names no session
 */
function sessionOf(userId: string): string | undefined {
  if (!userId.startsWith('{')) return /session_([A-Za-z0-9-]+)/.exec(userId)?.[1];
  try {
    return textOf(objectOf(parseJson(userId))?.session_id);
  } catch (error) {
    if (!(error instanceof JsonLimitError)) return undefined;
    throw fieldError('metadata.user_id', `The JSON in it ${EXCESS_WORDS[error.excess]}`);
  }
}
