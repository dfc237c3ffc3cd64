// Puts a client's own messages in order where upstreams refuse them: results behind their calls, media where they may stand.

import { isDeepStrictEqual } from 'node:util';
import type { Receipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { OpenResults } from '../open-results.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../read-values.ts';
import type { EncodeTarget } from '../upstream.ts';
import type { ChatQuirks } from './profiles.ts';

/** Messages that need nothing stay the same objects. */
export function patchMessages(
  messages: JsonValue | undefined,
  { receipt, capabilities }: Pick<EncodeTarget, 'receipt' | 'capabilities'>,
  { takesCacheMarks }: Pick<ChatQuirks, 'takesCacheMarks'>,
): JsonObject[] {
  const withKnownParts = takesCacheMarks ? withPlainPictures : withoutMarks;
  const isBlind = capabilities.refusesMedia?.includes('image') === true;
  const plain = objectsOf(messages).map((message, at) =>
    liftAnswer(withKnownParts(withoutNothing(message)), `messages[${at}]`, receipt),
  );
  const shown = isBlind ? plain.map((message) => withoutPictures(message, receipt)) : plain;
  return moveMedia(pairResults(shown, receipt), receipt);
}

/** Servers without pictures refuse them, and many take texts alone: what is left is one. */
function withoutPictures(message: JsonObject, receipt: Receipt): JsonObject {
  const parts = objectsOf(message.content);
  if (!parts.some(isPicture)) return message;
  const reason = told`The upstream takes no ${'image'} of this kind: the model is told that it is missing.`;
  receipt.add('dropped', 'messages', reason);
  const content = parts.map((part) =>
    isPicture(part) ? { type: 'text', text: MISSING_PICTURE } : part,
  );
  const isText = content.every(({ type }) => type === 'text');
  const texts = content.map(({ text }) => textOf(text) ?? '');
  return { ...message, content: isText ? texts.join('\n\n') : content };
}

const MISSING_PICTURE = '[image left out: it cannot be shown to this model]';

function isPicture({ type }: JsonObject): boolean {
  return type === 'image_url';
}

/** What a message may hold in place of a content. */
const INSTEAD = ['tool_calls', 'function_call', 'refusal', 'audio'];

/** What answers say even where it is nothing; services that know no such field refuse it (Groq: "property … is unsupported"). */
const OFTEN_NOTHING = ['refusal', 'annotations', 'audio', 'function_call'];

/** Hugging Face's clients write null, and Mistral's a list without parts, which strict servers refuse. */
function withoutNothing(message: JsonObject): JsonObject {
  const { name, tool_calls: calls, content, ...rest } = message;
  const hasNoCalls = calls !== undefined && isNothing(calls);
  const isEmpty = Array.isArray(content)
    ? content.length === 0
    : content === null && INSTEAD.every((field) => isNothing(message[field]));
  const idle = OFTEN_NOTHING.filter((field) => field in rest && isNothing(rest[field]));
  if (name !== null && !hasNoCalls && !isEmpty && idle.length === 0) return message;
  for (const field of idle) delete rest[field];
  return {
    ...rest,
    ...(content !== undefined && { content: isEmpty ? '' : content }),
    ...(name != null && { name }),
    ...(calls !== undefined && !hasNoCalls && { tool_calls: calls }),
  };
}

function isNothing(value: JsonValue | undefined): boolean {
  return (value ?? null) === null || (Array.isArray(value) && value.length === 0);
}

/** Marks for caches are other upstreams'. */
function withoutMarks(message: JsonObject): JsonObject {
  return withPlainPictures(mapParts(withoutMark(message), withoutMark));
}

function withoutMark(holder: JsonObject): JsonObject {
  const { cache_control: mark, ...rest } = holder;
  return mark === undefined ? holder : rest;
}

/** A picture's address may stand bare, as some clients write it. */
function withPlainPictures(message: JsonObject): JsonObject {
  return mapParts(message, (part) => {
    const url = textOf(part.image_url);
    return url === undefined ? part : { ...part, image_url: { url } };
  });
}

function mapParts(message: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  if (!Array.isArray(message.content)) return message;
  const content = message.content.map((part) => (isJsonObject(part) ? change(part) : part));
  const isSame = content.every((part, at) => part === itemsOf(message.content)[at]);
  return isSame ? message : { ...message, content };
}

/** What an answer says beside its text, and whether a message that goes up has a place for it. */
const ANSWER_FIELDS: Readonly<Record<string, 'carried' | 'left'>> = {
  refusal: 'carried',
  reasoning: 'carried',
  reasoning_content: 'carried',
  reasoning_details: 'carried',
  annotations: 'left',
  audio: 'left',
  tool_calls: 'left',
  role: 'left',
};

/** `@openai/agents` hands a whole answer back on the part that holds its text: what that says is the message's. */
function liftAnswer(message: JsonObject, path: string, receipt: Receipt): JsonObject {
  const parts = itemsOf(message.content);
  if (message.role !== 'assistant' || !parts.some((part) => answerIn(part).length > 0)) {
    return message;
  }
  const lifted: JsonObject = { ...message };
  lifted.content = parts.map((part, at) => {
    const own = { ...objectOf(part) };
    const answer = answerIn(part);
    for (const [field, said] of answer) {
      delete own[field];
      if (!said || isDeepStrictEqual(said, [])) continue;
      if (ANSWER_FIELDS[field] === 'carried') lifted[field] ??= said;
      if (isDeepStrictEqual(lifted[field], said)) continue;
      const reason = told`The upstream has no such field.`;
      receipt.add('dropped', `${path}.content[${at}].${field}`, reason);
    }
    return answer.length === 0 ? part : own;
  });
  return lifted;
}

/** A part that is a refusal has that field of its own. */
function answerIn(part: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(part)) return [];
  return Object.entries(part).filter(
    ([field]) => Object.hasOwn(ANSWER_FIELDS, field) && field !== part.type,
  );
}

/**
 * Every call has its result right behind it, and one alone: late ones are moved up, missing ones told as such. Results
 * to no call are the client's mistake, which the upstream names.
 */
function pairResults(messages: readonly JsonObject[], receipt: Receipt): readonly JsonObject[] {
  const results = new OpenResults();
  for (const message of messages) {
    if (message.role === 'tool') results.add(textOf(message.tool_call_id) ?? '', message);
  }
  const called = new Set<string>();
  const paired: JsonObject[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!called.has(textOf(message.tool_call_id) ?? '')) paired.push(message);
      continue;
    }
    paired.push(message);
    for (const { id } of objectsOf(message.tool_calls)) {
      const callId = textOf(id) ?? '';
      called.add(callId);
      paired.push(results.take(callId, receipt) ?? missingResult(callId));
    }
  }
  results.noteLeft(called, receipt);
  const isSame =
    paired.length === messages.length && paired.every((one, at) => one === messages[at]);
  if (!isSame && paired.length === messages.length) {
    receipt.add('repaired', 'messages', told`Results of tool calls were moved behind their calls.`);
  }
  return paired;
}

function missingResult(callId: string): JsonObject {
  return { role: 'tool', tool_call_id: callId, content: 'Error: no result' };
}

/** Pictures of results stand in a user message behind the last result of the step. */
function moveMedia(messages: readonly JsonObject[], receipt: Receipt): JsonObject[] {
  const moved: JsonObject[] = [];
  let waiting: JsonObject[] = [];
  const release = (): void => {
    if (waiting.length > 0) moved.push({ role: 'user', content: waiting });
    waiting = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') release();
    const parts = message.role === 'tool' ? objectsOf(message.content) : [];
    const media = parts.filter(({ type }) => type !== 'text');
    if (media.length === 0) {
      moved.push(message);
      continue;
    }
    const reason = told`Media of tool results stand in the user message behind them.`;
    receipt.add('approximated', 'messages', reason);
    const texts = parts.filter(({ type }) => type === 'text').map(({ text }) => textOf(text) ?? '');
    const content = texts.join('\n') || 'The result is in the next message.';
    moved.push({ ...message, content });
    waiting.push(...media);
  }
  release();
  return moved;
}
