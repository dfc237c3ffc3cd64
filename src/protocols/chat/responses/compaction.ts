// Compaction: an item that asks for a summary of the conversation, and the item that holds one.
// Source: `openai` resources/responses, CompactionTrigger ("Must be the final input item") and
// ResponseCompactionItem; Codex takes no other answer to its trigger than exactly one such item.

import { GatewayError } from '../../../canonical/error.ts';
import { type Receipt, told } from '../../../canonical/receipt.ts';
import type { CanonicalRequest, Turn } from '../../../canonical/request.ts';
import { askForSummary, SUMMARY_INSTRUCTIONS, tellSummary } from '../../../canonical/summary.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';

/** Opaque to clients, as what the vendor encrypts is. */
const PREFIX = 'gw1-summary:';

/** True when the client wants a summary in place of the next answer. */
export function wantsSummary(input: JsonValue | undefined): boolean {
  return Array.isArray(input) && isTrigger(input.at(-1));
}

/**
 * The request for a response that is the summary this body asks `/responses/compact` for: of all its input, behind
 * what is kept of earlier responses. Nothing of it is stored. Source: `openai` resources/responses, `compact`.
 */
export function withTrigger(body: JsonObject): JsonObject {
  const { input, stream: _stream, background: _background, ...rest } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const triggered = Array.isArray(items) ? [...items, { type: 'compaction_trigger' }] : items;
  return { ...rest, input: triggered, store: false };
}

/** What `/responses/compact` answers with; a summary that is not whole is none. @throws GatewayError */
export function compactedResponse({ id, created_at, output, usage }: JsonObject): JsonObject {
  if (Array.isArray(output) && output.length > 0) {
    return {
      id: id ?? null,
      object: 'response.compaction',
      created_at: created_at ?? null,
      output,
      usage: usage ?? null,
    };
  }
  throw new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: 'The model did not finish the summary. Send the request again, or a shorter input.',
  });
}

/** The items the summary is of. */
export function withoutTrigger(items: readonly JsonValue[]): readonly JsonValue[] {
  return isTrigger(items.at(-1)) ? items.slice(0, -1) : items;
}

/**
 * What of a kept conversation is still to be told: from its last summary on, behind the instructions and tools it
 * began with. A trigger that no summary followed asks for nothing any more.
 */
export function sinceSummary(history: readonly JsonObject[]): readonly JsonObject[] {
  const summary = history.findLastIndex(isSummary);
  const trigger = history.findLastIndex((item, index) => index < summary && isTrigger(item));
  return history.filter((item, index) => !isTrigger(item) && (index > trigger || isSetting(item)));
}

function isSummary(item: JsonObject): boolean {
  return item.type === 'compaction' && readCompaction(item) !== undefined;
}

function isSetting({ type, role }: JsonObject): boolean {
  return type === 'additional_tools' || role === 'system' || role === 'developer';
}

function isTrigger(item: JsonValue | undefined): boolean {
  return isJsonObject(item) && item.type === 'compaction_trigger';
}

/** The request for a summary in words. */
export function askInWords(request: CanonicalRequest, receipt: Receipt): CanonicalRequest {
  receipt.add('approximated', 'input', told`The model is asked for the summary in words.`);
  return askForSummary(request, SUMMARY_INSTRUCTIONS);
}

/** A summary of this gateway's, told in its place; undefined for what only its issuer can read. */
export function readCompaction({ encrypted_content: content }: JsonObject): Turn | undefined {
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined;
  const summary = Buffer.from(content.slice(PREFIX.length), 'base64url').toString();
  return { role: 'user', parts: [{ kind: 'text', text: tellSummary(summary) }] };
}

/** The item as it stands in an answer. */
export function compactionItem(id: string, summary: string): JsonObject {
  const content = Buffer.from(summary).toString('base64url');
  return { id, type: 'compaction', encrypted_content: `${PREFIX}${content}` };
}
