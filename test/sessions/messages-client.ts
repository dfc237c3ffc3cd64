// A Messages client: content blocks, thinking with signatures, results in user messages.

import type { JsonObject } from '../../src/lib/json.ts';
import { PNG } from '../support/prompts.ts';
import { foldFrames } from '../support/stream-grammar/messages.ts';
import {
  type Answer,
  check,
  countOf,
  objectOf,
  objectsOf,
  payloadsOf,
  type Question,
  type SessionClient,
  TOOL_NAMES,
  TOOL_SCHEMA,
  textOf,
  without,
} from './client.ts';
import type { Entry, Result } from './entries.ts';

const THINKING = {
  unset: undefined,
  off: { type: 'disabled' },
  on: { type: 'enabled', budget_tokens: 2048 },
  adaptive: { type: 'adaptive' },
} as const;
const IMAGE: JsonObject = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: PNG },
};

const TOOLS = TOOL_NAMES.map((name) => ({
  name,
  description: 'A tool.',
  input_schema: TOOL_SCHEMA,
}));
const CHOICES = { auto: 'auto', none: 'none', required: 'any' } as const;
const FINISHES: ReadonlyMap<string, Answer['finish']> = new Map([
  ['end_turn', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'max-tokens'],
]);

const MODELS = ['beta-sonnet-4-6', 'beta-opus-4-6-thinking', 'alpha-3-flash', 'alpha-3-pro-low'];

export const messagesClient: SessionClient = {
  name: 'messages',
  models: MODELS,
  carefulModels: MODELS,
  tampering: {
    takesSystemTurns: true,
    messageEdits: [
      (message) => filterBlocks(message, ({ type }) => type !== 'thinking'),
      (message) => mapBlocks(message, (block) => without(block, 'signature')),
      (message) => mapBlocks(message, spoilSignature),
      (message) =>
        mapBlocks(message, (block) =>
          block.type === 'tool_use' ? without(block, 'signature') : block,
        ),
      (message) =>
        mapBlocks(message, (block) =>
          block.type === 'thinking' ? { ...block, thinking: '' } : block,
        ),
    ],
    dropCall: (message, id) => filterBlocks(message, (block) => block.id !== id),
    say: (text) => ({ role: 'assistant', content: text }),
  },
  path: () => '/v1/messages?beta=true',
  body: writeBody,
  readReply: answerOf,
  readStream(text) {
    check(text.startsWith('event: message_start\n'), 'the stream begins with message_start');
    return answerOf(foldFrames(payloadsOf(text)));
  },
};

function writeBody({ model, entries, stream, thinking, tools, maxTokens }: Question): JsonObject {
  const wish = THINKING[thinking];
  return {
    model,
    stream,
    max_tokens: maxTokens,
    ...(wish === undefined ? {} : { thinking: { ...wish } }),
    system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
    messages: entries.flatMap(writeEntry),
    ...(tools === 'undeclared' ? {} : { tools: TOOLS, tool_choice: { type: CHOICES[tools] } }),
  };
}

function writeEntry(entry: Entry): readonly JsonObject[] {
  switch (entry.kind) {
    case 'user': {
      const content = entry.hasImage ? [IMAGE, textBlock(entry.text)] : entry.text;
      return [{ role: 'user', content }];
    }
    case 'system':
      return [{ role: 'system', content: entry.text }];
    case 'assistant':
      // Clients leave out messages that became empty.
      return entry.messages.filter(
        ({ content }) => !(Array.isArray(content) && content.length === 0),
      );
    case 'results': {
      const note = entry.note === undefined ? [] : [textBlock(entry.note)];
      const content = [...entry.results.map(writeResult), ...note];
      return content.length === 0 ? [] : [{ role: 'user', content }];
    }
    default:
      return entry satisfies never;
  }
}

function writeResult({ call, text, isError, hasImage }: Result): JsonObject {
  const content = hasImage ? [...(text === '' ? [] : [textBlock(text)]), IMAGE] : text;
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    ...(text === '' && !hasImage ? {} : { content }),
    ...(isError ? { is_error: true } : {}),
  };
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

function mapBlocks(message: JsonObject, edit: (block: JsonObject) => JsonObject): JsonObject {
  if (!Array.isArray(message.content)) return message;
  return { ...message, content: objectsOf(message.content).map(edit) };
}

function filterBlocks(message: JsonObject, keep: (block: JsonObject) => boolean): JsonObject {
  if (!Array.isArray(message.content)) return message;
  return { ...message, content: objectsOf(message.content).filter(keep) };
}

/** A signature that some other service issued. */
function spoilSignature(block: JsonObject): JsonObject {
  return block.type === 'thinking' ? { ...block, signature: 'RXJrQkNrZ0lB' } : block;
}

function answerOf(message: JsonObject): Answer {
  check(message.type === 'message' && message.role === 'assistant', 'a message of the assistant');
  const blocks = objectsOf(message.content);
  check(
    blocks.every(({ type }) => ['text', 'thinking', 'tool_use'].includes(textOf(type))),
    'known blocks',
  );
  check(
    blocks.findLastIndex(({ type }) => type === 'thinking') <= 0,
    'thoughts come first, in one block',
  );
  const usage = objectOf(message.usage);
  const cached = countOf(usage.cache_read_input_tokens);
  check(countOf(usage.input_tokens) + cached > 0, 'a prompt was read');
  check(countOf(usage.output_tokens) > 0 || blocks.length === 0, 'an answer was written');
  return {
    messages: [{ role: 'assistant', content: blocks }],
    calls: blocks.flatMap(({ type, id, name, input }) =>
      type === 'tool_use' ? [{ id: textOf(id), name: textOf(name), input: objectOf(input) }] : [],
    ),
    text: blocks.map((block) => (block.type === 'text' ? textOf(block.text) : '')).join(''),
    finish: FINISHES.get(textOf(message.stop_reason)) ?? 'other',
  };
}
