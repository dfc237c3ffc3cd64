// A native client: contents and parts, signatures on parts, chunks kept as contents of their own.

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
  type ToolWish,
  textOf,
  without,
} from './client.ts';
import type { Call, Entry, Result } from './entries.ts';

const IMAGE: JsonObject = { inlineData: { mimeType: 'image/png', data: PNG } };
const THINKING = {
  unset: undefined,
  off: { thinkingBudget: 0 },
  on: { includeThoughts: true, thinkingBudget: 2048 },
  adaptive: { includeThoughts: true, thinkingBudget: -1 },
} as const;

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;
const TOOLS = [
  {
    functionDeclarations: TOOL_NAMES.map((name) => ({
      name,
      parameters: { type: 'OBJECT', properties: { path: { type: 'STRING' } }, required: ['path'] },
    })),
  },
];

const MODELS = ['alpha-3-flash', 'alpha-3-pro-high', 'beta-sonnet-4-6', 'beta-opus-4-6-thinking'];

export const generateClient: SessionClient = {
  name: 'generate',
  models: MODELS,
  carefulModels: MODELS,
  tampering: {
    takesSystemTurns: false,
    messageEdits: [
      (content) => filterParts(content, ({ thought }) => thought !== true),
      (content) => mapParts(content, (part) => without(part, 'thoughtSignature')),
      (content) =>
        mapParts(content, ({ thoughtSignature, ...part }) =>
          thoughtSignature === undefined ? part : { ...part, thought_signature: thoughtSignature },
        ),
    ],
    dropCall: (content, id) =>
      filterParts(
        content,
        ({ functionCall }) => functionCall === undefined || objectOf(functionCall).id !== id,
      ),
    say: (text) => ({ role: 'model', parts: [{ text }] }),
  },
  path: ({ model, stream, asArray }) => {
    const path = `/v1beta/models/${model}:`;
    if (!stream) return `${path}generateContent`;
    return `${path}streamGenerateContent${asArray ? '' : '?alt=sse'}`;
  },
  body: writeBody,
  readReply: (body) => answerOf([body]),
  readStream: (text) =>
    text.startsWith('[') ? answerOf(objectsOf(parseJson(text))) : answerOf(payloadsOf(text)),
};

function writeBody({ entries, thinking, tools, maxTokens }: Question): JsonObject {
  const wish = THINKING[thinking];
  return {
    systemInstruction: { parts: [{ text: 'You are an agent.' }] },
    contents: entries.flatMap(writeEntry),
    generationConfig: {
      maxOutputTokens: maxTokens,
      ...(wish === undefined ? {} : { thinkingConfig: { ...wish } }),
    },
    ...(tools === 'undeclared' ? {} : { tools: TOOLS, toolConfig: toolConfig(tools) }),
  };
}

function toolConfig(tools: Exclude<ToolWish, 'undeclared'>): JsonObject {
  return { functionCallingConfig: { mode: MODES[tools] } };
}

function writeEntry(entry: Entry): readonly JsonObject[] {
  switch (entry.kind) {
    case 'user': {
      const image = entry.hasImage ? [IMAGE] : [];
      return [{ role: 'user', parts: [...image, { text: entry.text }] }];
    }
    case 'system':
      return [];
    case 'assistant':
      // Clients leave out contents that became empty.
      return entry.messages.filter(({ parts }) => objectsOf(parts).length > 0);
    case 'results': {
      const note = entry.note === undefined ? [] : [{ text: entry.note }];
      const parts = [...entry.results.map(writeResult), ...note];
      return parts.length === 0 ? [] : [{ role: 'user', parts }];
    }
    default:
      return entry satisfies never;
  }
}

function writeResult({ call, text, isError, hasImage, hasId }: Result): JsonObject {
  return {
    functionResponse: {
      ...(hasId ? { id: call.id } : {}),
      name: call.name,
      response: isError ? { error: text } : { output: text },
      ...(hasImage ? { parts: [IMAGE] } : {}),
    },
  };
}

function mapParts(content: JsonObject, edit: (part: JsonObject) => JsonObject): JsonObject {
  const parts = objectsOf(content.parts)
    .map(edit)
    .filter((part) => part.text !== '' || Object.keys(part).length > 1);
  return { ...content, parts };
}

function filterParts(content: JsonObject, keep: (part: JsonObject) => boolean): JsonObject {
  return { ...content, parts: objectsOf(content.parts).filter(keep) };
}

function answerOf(chunks: readonly JsonObject[]): Answer {
  const candidates = chunks.map((chunk) => {
    const [candidate, second] = objectsOf(chunk.candidates);
    check(candidate !== undefined && second === undefined, 'one candidate in each chunk');
    return candidate;
  });
  const contents = candidates.map(({ content }) => objectOf(content));
  check(
    contents.every(({ role, parts }) => role === 'model' && objectsOf(parts).length > 0),
    'every content is the model’s and has parts',
  );
  check(
    candidates.every(
      ({ finishReason }, at) => (finishReason === undefined) === at < candidates.length - 1,
    ),
    'the last chunk finishes, no other',
  );
  checkUsage(objectOf(chunks.at(-1)?.usageMetadata));
  const parts = contents.flatMap((content) => objectsOf(content.parts));
  const calls = parts.flatMap(readCall);
  const reason = candidates.at(-1)?.finishReason;
  const stop = calls.length > 0 ? 'tool-calls' : 'stop';
  return {
    messages: contents,
    calls,
    text: parts.map((part) => (part.thought === true ? '' : textOf(part.text))).join(''),
    finish: reason === 'STOP' ? stop : reason === 'MAX_TOKENS' ? 'max-tokens' : 'other',
  };
}

function readCall({ functionCall }: JsonObject): readonly Call[] {
  if (functionCall === undefined) return [];
  const { id, name, args } = objectOf(functionCall);
  check(textOf(id) !== '', 'a call has an id');
  return [{ id: textOf(id), name: textOf(name), input: objectOf(args) }];
}

function checkUsage(usage: JsonObject): void {
  const prompt = countOf(usage.promptTokenCount);
  const parts = [
    prompt,
    countOf(usage.toolUsePromptTokenCount),
    countOf(usage.candidatesTokenCount),
    countOf(usage.thoughtsTokenCount),
  ];
  check(prompt > 0, 'a prompt was read');
  check(
    countOf(usage.totalTokenCount) === parts.reduce((sum, count) => sum + count, 0),
    'the total is the sum',
  );
  check(countOf(usage.cachedContentTokenCount) <= prompt, 'cached tokens are prompt tokens');
}
