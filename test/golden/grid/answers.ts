// What upstreams answer, one answer of each wire for each feature, and whether each client is shown it.

import { fold } from '../../../src/canonical/fold.ts';
import { createReceipt } from '../../../src/canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/lib/json.ts';
import { createAnswerRules } from '../../../src/transforms/answer/index.ts';
import { isGenerateCall, readCall } from '../request-case.ts';
import { type Cell, GRID_TARGETS } from './cells.ts';
import { type ClientName, PLAIN } from './features.ts';

export const ANSWER_WIRES = ['gemini-api', 'anthropic', 'openai-compatible'] as const;
export type AnswerWire = (typeof ANSWER_WIRES)[number];

interface AnswerFeature extends Readonly<Partial<Record<AnswerWire, readonly JsonObject[]>>> {
  readonly title: string;
  /** Stands in what a client is shown. */
  readonly mark: string | number;
}

/** What asks for everything that an answer can hold. */
const ASKING: Readonly<Record<ClientName, JsonObject>> = {
  chat: { reasoning_effort: 'low', web_search_options: {} },
  responses: {
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
    tools: [{ type: 'web_search' }],
  },
  messages: {
    thinking: { type: 'adaptive' },
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  },
  generate: {
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    tools: [{ googleSearch: {} }],
  },
};

const TOKENS = { answer: 5, thoughts: 977, cached: 733 };
const PNG = 'iVBORw0KGgo';
const PAGE = 'https://example.com/heliotrope';
const SIGNATURE = 'U0lHTkVE';

/** One frame of the generate-content wire. */
function generated(parts: JsonObject[], more: JsonObject = {}): JsonObject[] {
  const usageMetadata = {
    promptTokenCount: 800,
    candidatesTokenCount: TOKENS.answer,
    thoughtsTokenCount: TOKENS.thoughts,
    cachedContentTokenCount: TOKENS.cached,
    totalTokenCount: 800 + TOKENS.answer + TOKENS.thoughts,
  };
  const content = { role: 'model', parts };
  const candidate = { index: 0, content, finishReason: 'STOP', ...more };
  return [{ candidates: [candidate], usageMetadata }];
}

/** The events of the Messages wire for blocks, each with its deltas. */
function messaged(blocks: { block: JsonObject; deltas: JsonObject[] }[]): JsonObject[] {
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
    usage: { input_tokens: 67, output_tokens: 1, cache_read_input_tokens: TOKENS.cached },
  };
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(({ block, deltas }, index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: TOKENS.answer + TOKENS.thoughts },
    },
    { type: 'message_stop' },
  ];
}

/** The chunks of the Chat Completions wire for deltas. */
function chatted(deltas: JsonObject[], finish = 'stop'): JsonObject[] {
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const chunk = (delta: JsonObject, finish_reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, finish),
    {
      ...head,
      choices: [],
      usage: {
        prompt_tokens: 800,
        completion_tokens: TOKENS.answer + TOKENS.thoughts,
        total_tokens: 800 + TOKENS.answer + TOKENS.thoughts,
        prompt_tokens_details: { cached_tokens: TOKENS.cached },
        completion_tokens_details: { reasoning_tokens: TOKENS.thoughts },
      },
    },
  ];
}

const textBlock = (text: string) => ({
  block: { type: 'text', text: '' },
  deltas: [{ type: 'text_delta', text }],
});
const thoughtBlock = {
  block: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    { type: 'thinking_delta', thinking: 'I ponder' },
    { type: 'signature_delta', signature: SIGNATURE },
  ],
};
const callBlock = {
  block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
  deltas: [{ type: 'input_json_delta', partial_json: '{"city":"Oslo"}' }],
};

export const ANSWER_FEATURES: readonly AnswerFeature[] = [
  {
    title: 'Text',
    mark: 'Hello there',
    'gemini-api': generated([{ text: 'Hello there' }]),
    anthropic: messaged([textBlock('Hello there')]),
    'openai-compatible': chatted([{ content: 'Hello there' }]),
  },
  {
    title: 'Thoughts',
    mark: 'I ponder',
    'gemini-api': generated([{ text: 'I ponder', thought: true }, { text: 'Yes' }]),
    anthropic: messaged([thoughtBlock, textBlock('Yes')]),
    'openai-compatible': chatted([{ reasoning_content: 'I ponder' }, { content: 'Yes' }]),
  },
  {
    title: 'Signature of thoughts before a call',
    mark: SIGNATURE,
    'gemini-api': generated([
      { text: 'I ponder', thought: true },
      {
        functionCall: { name: 'weather', args: { city: 'Oslo' } },
        thoughtSignature: SIGNATURE,
      },
    ]),
    anthropic: messaged([thoughtBlock, callBlock]),
  },
  {
    title: 'Call of a function',
    mark: 'Oslo',
    'gemini-api': generated([{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }]),
    anthropic: messaged([callBlock]),
    'openai-compatible': chatted(
      [
        {
          tool_calls: [
            {
              index: 0,
              id: 'call_1',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Oslo"}' },
            },
          ],
        },
      ],
      'tool_calls',
    ),
  },
  {
    title: 'Sources of a search',
    mark: PAGE,
    'gemini-api': generated([{ text: 'Purple' }], {
      groundingMetadata: {
        webSearchQueries: ['colour'],
        groundingChunks: [{ web: { uri: PAGE, title: 'Example' } }],
        groundingSupports: [
          { segment: { startIndex: 0, endIndex: 6, text: 'Purple' }, groundingChunkIndices: [0] },
        ],
      },
    }),
    anthropic: messaged([
      {
        block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: '{"query":"colour"}' }],
      },
      {
        block: {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: PAGE, title: 'Example' }],
        },
        deltas: [],
      },
      textBlock('Purple'),
    ]),
    'openai-compatible': chatted([
      { content: 'Purple' },
      {
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: PAGE, title: 'Example', start_index: 0, end_index: 6 },
          },
        ],
      },
    ]),
  },
  {
    title: 'Picture',
    mark: PNG,
    'gemini-api': generated([{ inlineData: { mimeType: 'image/png', data: PNG } }]),
    'openai-compatible': chatted([
      {
        images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
      },
    ]),
  },
  {
    title: 'Code that was run',
    mark: 'print(7)',
    'gemini-api': generated([
      { executableCode: { language: 'PYTHON', code: 'print(7)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '7' } },
      { text: 'Seven' },
    ]),
    anthropic: messaged([
      {
        block: { type: 'server_tool_use', id: 'srvtoolu_2', name: 'code_execution', input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: '{"code":"print(7)"}' }],
      },
      textBlock('Seven'),
    ]),
  },
  {
    title: 'Tokens read from a cache',
    mark: TOKENS.cached,
    'gemini-api': generated([{ text: 'Yes' }]),
    anthropic: messaged([textBlock('Yes')]),
    'openai-compatible': chatted([{ content: 'Yes' }]),
  },
  {
    title: 'Tokens of thoughts',
    mark: TOKENS.thoughts,
    'gemini-api': generated([{ text: 'Yes' }]),
    'openai-compatible': chatted([{ content: 'Yes' }]),
  },
];

/** Undefined where the wire has no such answer. */
export function findAnswerCell(
  feature: AnswerFeature,
  client: ClientName,
  wire: AnswerWire,
): Pick<Cell, 'outcome' | 'entries'> | 'absent' | undefined {
  const frames = feature[wire];
  if (frames === undefined) return undefined;
  const { upstream } = GRID_TARGETS[wire];
  const receipt = createReceipt();
  const { path, body } = PLAIN[client];
  const call = readCall({ path, body: { ...body, ...ASKING[client] } }, createReceipt());
  if (!isGenerateCall(call)) throw new Error(`${client} asks for no answer`);
  if (call.relay?.wire === upstream.wire) return { outcome: 'relayed', entries: [] };
  let ids = 0;
  const createId = (prefix: string): string => `${prefix}${++ids}`;
  const decoder = upstream.createDecoder({ signatureFamily: 'grid', createId });
  const rules = createAnswerRules({ request: call.request, receipt, createId });
  const events = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
  const reply = fold(rules.transform(events));
  const shown = call.writeReply(reply, { model: 'm', createId, createdAt: 1 });
  const { entries } = receipt;
  if (entries.length > 0) return { outcome: 'noted', entries };
  return holds(shown, String(feature.mark)) ? { outcome: 'carried', entries } : 'absent';
}

/** In a value, or behind its base64, in which some clients carry signatures. */
function holds(value: JsonValue | undefined, mark: string): boolean {
  if (Array.isArray(value)) return value.some((item) => holds(item, mark));
  if (isJsonObject(value)) return Object.values(value).some((item) => holds(item, mark));
  const text = String(value);
  return text.includes(mark) || Buffer.from(text, 'base64').toString('latin1').includes(mark);
}
