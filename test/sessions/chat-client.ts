// A chat completions client: tool messages, reasoning beside the content, signatures in extra content.

import { type JsonObject, parseJson } from '../../src/lib/json.ts';
import { PNG } from '../support/prompts.ts';
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
import type { Call, Entry, Result } from './entries.ts';

const EFFORTS = { unset: undefined, off: 'none', on: 'high', adaptive: 'medium' } as const;
const IMAGE: JsonObject = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${PNG}` },
};

const TOOLS = TOOL_NAMES.map((name) => ({
  type: 'function',
  function: { name, description: 'A tool.', parameters: TOOL_SCHEMA },
}));
const FINISHES: ReadonlyMap<string, Answer['finish']> = new Map([
  ['stop', 'stop'],
  ['tool_calls', 'tool-calls'],
  ['length', 'max-tokens'],
]);

const MODELS = ['alpha-3-flash', 'alpha-3-pro-high', 'beta-sonnet-4-6', 'beta-opus-4-6-thinking'];

export const chatClient: SessionClient = {
  name: 'chat',
  models: MODELS,
  carefulModels: MODELS,
  tampering: {
    takesSystemTurns: true,
    messageEdits: [
      (message) => without(message, 'reasoning_content'),
      (message) => editCalls(message, (call) => without(call, 'extra_content')),
      (message) =>
        editCalls(without(message, 'reasoning_content'), (call) => without(call, 'extra_content')),
    ],
    dropCall(message, id) {
      const calls = objectsOf(message.tool_calls).filter((call) => call.id !== id);
      const rest = without(message, 'tool_calls');
      return calls.length === 0
        ? { ...rest, content: textOf(rest.content) }
        : { ...rest, tool_calls: calls };
    },
    say: (text) => ({ role: 'assistant', content: text }),
  },
  path: () => '/v1/chat/completions',
  body: writeBody,
  readReply(body) {
    check(body.object === 'chat.completion', 'object');
    const [choice, second] = objectsOf(body.choices);
    check(choice !== undefined && second === undefined, 'one choice');
    checkUsage(objectOf(body.usage));
    return answerOf(objectOf(choice.message), textOf(choice.finish_reason));
  },
  readStream(text) {
    check(text.endsWith('data: [DONE]\n\n'), 'the stream ends with [DONE]');
    const chunks = payloadsOf(text);
    const last = chunks.at(-1);
    check(last !== undefined && objectsOf(last.choices).length === 0, 'usage comes last');
    checkUsage(objectOf(last.usage));
    check(new Set(chunks.map(({ id }) => id)).size === 1, 'one id');
    check(
      chunks.every(({ object }) => object === 'chat.completion.chunk'),
      'object',
    );
    return foldChunks(chunks);
  },
};

function writeBody({ model, entries, stream, thinking, tools, maxTokens }: Question): JsonObject {
  const effort = EFFORTS[thinking];
  return {
    model,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    max_completion_tokens: maxTokens,
    messages: [{ role: 'system', content: 'You are an agent.' }, ...entries.flatMap(writeEntry)],
    ...(tools === 'undeclared' ? {} : { tools: TOOLS, tool_choice: tools }),
  };
}

function writeEntry(entry: Entry): readonly JsonObject[] {
  switch (entry.kind) {
    case 'user':
      return [{ role: 'user', content: entry.hasImage ? withImage(entry.text) : entry.text }];
    case 'system':
      return [{ role: 'developer', content: entry.text }];
    case 'assistant':
      return entry.messages;
    case 'results': {
      const messages = entry.results.map(writeResult);
      return entry.note === undefined
        ? messages
        : [...messages, { role: 'user', content: entry.note }];
    }
    default:
      return entry satisfies never;
  }
}

function writeResult({ call, text, hasImage }: Result): JsonObject {
  return { role: 'tool', tool_call_id: call.id, content: hasImage ? withImage(text) : text };
}

function withImage(text: string): JsonObject[] {
  return [{ type: 'text', text }, IMAGE];
}

function editCalls(message: JsonObject, edit: (call: JsonObject) => JsonObject): JsonObject {
  if (message.tool_calls === undefined) return message;
  return { ...message, tool_calls: objectsOf(message.tool_calls).map(edit) };
}

function foldChunks(chunks: readonly JsonObject[]): Answer {
  let message: JsonObject = {};
  const calls: JsonObject[] = [];
  let finish = '';
  for (const choice of chunks.flatMap((chunk) => objectsOf(chunk.choices))) {
    const delta = objectOf(choice.delta);
    const hasContent = Object.keys(delta).some((key) => key !== 'role');
    check(finish === '' || (!hasContent && !choice.finish_reason), 'nothing behind the finish');
    finish = textOf(choice.finish_reason) || finish;
    message = joinDelta(message, delta);
    for (const piece of objectsOf(delta.tool_calls)) joinCall(calls, piece);
  }
  check(message.role === 'assistant', 'the role is said');
  return answerOf(
    { content: null, ...message, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
    finish,
  );
}

function joinDelta(message: JsonObject, delta: JsonObject): JsonObject {
  const joined: JsonObject = { ...message };
  if (delta.role !== undefined) joined.role = delta.role;
  for (const key of ['content', 'reasoning_content']) {
    const piece = textOf(delta[key]);
    if (piece !== '') joined[key] = textOf(joined[key]) + piece;
  }
  return joined;
}

function joinCall(calls: JsonObject[], { index, ...piece }: JsonObject): void {
  const at = countOf(index);
  const known = calls[at];
  if (known === undefined) {
    check(at === calls.length, 'call indices rise by one');
    check(textOf(piece.id) !== '', 'a call begins with its id');
    calls.push(piece);
    return;
  }
  check(at === calls.length - 1, 'pieces belong to the last call');
  const holder = objectOf(known.function);
  const more = objectOf(piece.function);
  known.function = { ...holder, arguments: textOf(holder.arguments) + textOf(more.arguments) };
}

function answerOf(message: JsonObject, finish: string): Answer {
  const calls = objectsOf(message.tool_calls).map((call): Call => {
    check(call.type === 'function', 'the type of a call');
    const holder = objectOf(call.function);
    const input = objectOf(parseJson(textOf(holder.arguments)));
    return { id: textOf(call.id), name: textOf(holder.name), input };
  });
  check(message.role === 'assistant', 'the role is assistant');
  return {
    messages: [message],
    calls,
    text: textOf(message.content),
    finish: FINISHES.get(finish) ?? 'other',
  };
}

function checkUsage(usage: JsonObject): void {
  const prompt = countOf(usage.prompt_tokens);
  const completion = countOf(usage.completion_tokens);
  check(prompt > 0, 'a prompt was read');
  check(countOf(usage.total_tokens) === prompt + completion, 'the total is the sum');
  const { prompt_tokens_details: input = {}, completion_tokens_details: output = {} } = usage;
  check(countOf(objectOf(input).cached_tokens) <= prompt, 'cached tokens are prompt tokens');
  check(countOf(objectOf(output).reasoning_tokens) <= completion, 'thoughts are output');
}
