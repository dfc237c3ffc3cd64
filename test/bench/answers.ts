// The mock upstream's answers in the words of each wire, as text ready to be sent.

import { PLAYED_MODELS } from './models.ts';

export interface Answers {
  readonly whole: string;
  /** What comes before and behind the events. */
  readonly head: string;
  readonly tail: string;
  event(text: string, isLast: boolean): string;
  readonly models: string;
}

const WHOLE_TEXT = 'word of the answer '.repeat(20);

const GENERATE: Answers = {
  whole: generateAnswer(WHOLE_TEXT, true),
  head: '',
  tail: '',
  event: (text, isLast) => `data: ${generateAnswer(text, isLast)}\r\n\r\n`,
  models: JSON.stringify({
    models: PLAYED_MODELS.map(({ name }) => ({
      name: `models/${name}`,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  }),
};

function generateAnswer(text: string, isLast: boolean): string {
  return JSON.stringify({
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        index: 0,
        ...(isLast && { finishReason: 'STOP' }),
      },
    ],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 100, totalTokenCount: 112 },
    modelVersion: 'bench',
    responseId: 'bench-1',
  });
}

const MESSAGE = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  stop_sequence: null,
};
const messageFrame = (frame: { readonly type: string }): string =>
  `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`;
const MESSAGE_USAGE = { input_tokens: 12, output_tokens: 100 };

const MESSAGES: Answers = {
  whole: JSON.stringify({
    ...MESSAGE,
    content: [{ type: 'text', text: WHOLE_TEXT }],
    stop_reason: 'end_turn',
    usage: MESSAGE_USAGE,
  }),
  head: [
    {
      type: 'message_start',
      message: { ...MESSAGE, content: [], stop_reason: null, usage: MESSAGE_USAGE },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ]
    .map(messageFrame)
    .join(''),
  event: (text) =>
    messageFrame({
      type: 'content_block_delta',
      ...{ index: 0, delta: { type: 'text_delta', text } },
    }),
  tail: [
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 100 },
    },
    { type: 'message_stop' },
  ]
    .map(messageFrame)
    .join(''),
  models: JSON.stringify({
    data: PLAYED_MODELS.map(({ name }) => ({ type: 'model', id: name, display_name: name })),
    has_more: false,
  }),
};

const COMPLETION = { id: 'chatcmpl-bench', created: 1, model: 'bench' };
const COMPLETION_USAGE = { prompt_tokens: 12, completion_tokens: 100, total_tokens: 112 };
const chunkFrame = (fields: object): string =>
  `data: ${JSON.stringify({ ...COMPLETION, object: 'chat.completion.chunk', ...fields })}\n\n`;
const choiceChunk = (delta: object, reason: 'stop' | null): string =>
  chunkFrame({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });

const CHAT: Answers = {
  whole: JSON.stringify({
    ...COMPLETION,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: WHOLE_TEXT }, finish_reason: 'stop' },
    ],
    usage: COMPLETION_USAGE,
  }),
  head: choiceChunk({ role: 'assistant', content: '' }, null),
  event: (content) => choiceChunk({ content }, null),
  tail: `${choiceChunk({}, 'stop')}${chunkFrame({ choices: [], usage: COMPLETION_USAGE })}data: [DONE]\n\n`,
  models: JSON.stringify({
    object: 'list',
    data: PLAYED_MODELS.map(({ name }) => ({ id: name, object: 'model' })),
  }),
};

export const ALL_ANSWERS: readonly Answers[] = [GENERATE, MESSAGES, CHAT];

/** By the beginning of the path that is asked. */
export function answersTo(url: string): Answers {
  if (url.startsWith('/messages/')) return MESSAGES;
  return url.startsWith('/chat/') ? CHAT : GENERATE;
}
