// The console's own reading and writing of the client protocols.

import { expect, test } from 'vitest';
import { takesFile } from '../../console/src/wire/attachments.ts';
import { joinPieces, readPieces } from '../../console/src/wire/read-answer.ts';
import { createFrameReader } from '../../console/src/wire/read-frames.ts';
import { readTools } from '../../console/src/wire/tools.ts';
import { writeCurl } from '../../console/src/wire/write-curl.ts';
import { type Draft, writeRequest } from '../../console/src/wire/write-request.ts';

const DRAFT: Draft = {
  protocol: 'chat',
  model: 'models/a b',
  system: 'Be brief.',
  turns: [{ role: 'user', text: 'Hi' }],
  tools: [],
  stream: true,
  maxTokens: 100,
  temperature: undefined,
  thinkingTokens: 16_384,
  size: '',
  quality: '',
  count: 1,
};

test('an event stream gives the same events however it is cut', () => {
  const stream = 'event: a\r\ndata: one\r\ndata: two\r\n\r\n: ping\n\ndata:three\n\n';
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const reader = createFrameReader();
    const frames = [...reader.push(stream.slice(0, cut)), ...reader.push(stream.slice(cut))];
    expect(frames).toEqual([
      { event: 'a', data: 'one\ntwo' },
      { event: '', data: 'three' },
    ]);
  }
});

test.each([
  ['chat', { choices: [{ delta: { content: 'x' } }] }],
  ['chat', { choices: [{ message: { content: 'x' } }] }],
  ['messages', { type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } }],
  ['messages', { type: 'message', content: [{ type: 'text', text: 'x' }] }],
  ['generate', { candidates: [{ content: { parts: [{ text: 'x' }] } }] }],
  ['responses', { type: 'response.output_text.delta', delta: 'x' }],
  ['responses', { object: 'response', output: [{ type: 'message', content: [{ text: 'x' }] }] }],
] as const)('text of %s is read out of %j', (protocol, value) => {
  expect(readPieces(protocol, JSON.stringify(value))).toEqual([{ kind: 'text', text: 'x' }]);
});

test('thinking and tool calls are told from text, and pieces of one are joined', () => {
  const chunks = [
    { choices: [{ delta: { reasoning_content: 'hm' } }] },
    { choices: [{ delta: { tool_calls: [{ function: { name: 'get', arguments: '{"a"' } }] } }] },
    { choices: [{ delta: { tool_calls: [{ function: { arguments: ':1}' } }] } }] },
  ];
  const pieces = chunks
    .map((chunk) => readPieces('chat', JSON.stringify(chunk)))
    .reduce(joinPieces, []);
  expect(pieces).toEqual([
    { kind: 'thought', text: 'hm' },
    { kind: 'tool-call', id: '', name: 'get', text: '{"a":1}' },
  ]);
});

test('a refusal is shown in its own words', () => {
  const body = JSON.stringify({ type: 'error', error: { type: 'x', message: 'No room.' } });
  expect(readPieces('messages', body)).toEqual([{ kind: 'error', text: 'No room.' }]);
});

const BLOCKED = 'The upstream refused this prompt: SAFETY.';

test.each([
  [
    'chat',
    [
      { choices: [{ delta: { refusal: BLOCKED } }] },
      { choices: [{ delta: {}, finish_reason: 'content_filter' }] },
    ],
    BLOCKED,
    '',
  ],
  [
    'chat',
    [
      {
        choices: [{ message: { content: '', refusal: BLOCKED }, finish_reason: 'content_filter' }],
      },
    ],
    BLOCKED,
    '',
  ],
  [
    'messages',
    [
      {
        type: 'message_delta',
        delta: { stop_reason: 'refusal', stop_details: { explanation: BLOCKED } },
      },
    ],
    BLOCKED,
    '',
  ],
  [
    'messages',
    [
      {
        type: 'message',
        content: [],
        stop_reason: 'refusal',
        stop_details: { explanation: BLOCKED },
      },
    ],
    BLOCKED,
    '',
  ],
  ['generate', [{ promptFeedback: { blockReason: 'SAFETY' } }], '', 'SAFETY'],
  ['generate', [{ candidates: [{ finishReason: 'RECITATION' }] }], '', 'RECITATION'],
  [
    'responses',
    [
      { type: 'response.refusal.delta', delta: BLOCKED },
      {
        type: 'response.incomplete',
        response: { incomplete_details: { reason: 'content_filter' } },
      },
    ],
    BLOCKED,
    'content_filter',
  ],
  [
    'responses',
    [
      {
        object: 'response',
        output: [{ type: 'message', content: [{ type: 'refusal', refusal: BLOCKED }] }],
        incomplete_details: { reason: 'content_filter' },
      },
    ],
    BLOCKED,
    'content_filter',
  ],
] as const)('an answer of %s that is held back says so: %j', (protocol, values, text, code) => {
  const pieces = values
    .map((value) => readPieces(protocol, JSON.stringify(value)))
    .reduce(joinPieces, []);
  expect(pieces).toEqual([{ kind: 'ending', reason: 'stopped', text, code }]);
});

test.each([
  ['chat', { choices: [{ delta: {}, finish_reason: 'length' }] }],
  ['messages', { type: 'message_delta', delta: { stop_reason: 'max_tokens' } }],
  ['generate', { candidates: [{ finishReason: 'MAX_TOKENS' }] }],
  [
    'responses',
    {
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'max_output_tokens' } },
    },
  ],
] as const)('an answer of %s that stops at the limit of tokens says so', (protocol, value) => {
  expect(readPieces(protocol, JSON.stringify(value))).toMatchObject([
    { kind: 'ending', reason: 'limit' },
  ]);
});

test.each([
  ['chat', { choices: [{ delta: {}, finish_reason: 'stop' }] }],
  [
    'chat',
    { choices: [{ message: { content: null, refusal: null }, finish_reason: 'tool_calls' }] },
  ],
  ['messages', { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_details: null } }],
  ['generate', { candidates: [{ finishReason: 'STOP' }] }],
  ['responses', { type: 'response.completed', response: { incomplete_details: null } }],
] as const)('nothing is said of the natural end of an answer of %s', (protocol, value) => {
  expect(readPieces(protocol, JSON.stringify(value))).toEqual([]);
});

const PICTURE = 'data:image/png;base64,AAAA';
const IMAGES = [{ image_url: { url: PICTURE } }];

test.each([
  ['chat', { choices: [{ delta: { content: `\n\n![image](${PICTURE})`, images: IMAGES } }] }],
  [
    'responses',
    { type: 'response.output_item.done', item: { type: 'image_generation_call', result: 'AAAA' } },
  ],
] as const)('a picture in a stream of %s stands there once, as a picture', (protocol, value) => {
  expect(readPieces(protocol, JSON.stringify(value))).toEqual([{ kind: 'image', url: PICTURE }]);
});

test('the text around a picture of a whole chat answer stays', () => {
  const message = { content: `Here:\n\n![image](${PICTURE})`, images: IMAGES };
  expect(readPieces('chat', JSON.stringify({ choices: [{ message }] }))).toEqual([
    { kind: 'text', text: 'Here:' },
    { kind: 'image', url: PICTURE },
  ]);
});

test.each([
  'https://elsewhere.example/x.png',
  'data:image/svg+xml;base64,AAAA',
  'data:text/html;base64,AAAA',
])('a picture is never loaded from %s', (url) => {
  expect(readPieces('images', JSON.stringify({ data: [{ url }] }))).toEqual([]);
});

test('what is no JSON, and keys of a prototype, give nothing', () => {
  expect(readPieces('chat', '[DONE]')).toEqual([]);
  expect(readPieces('chat', '{"__proto__":{"choices":[{"delta":{"content":"x"}}]}}')).toEqual([]);
});

test.each([
  ['chat', '/v1/chat/completions', { reasoning_effort: 'medium', max_tokens: 100 }],
  [
    'messages',
    '/v1/messages',
    {
      max_tokens: 16_484,
      system: 'Be brief.',
      thinking: { type: 'enabled', budget_tokens: 16_384 },
    },
  ],
  [
    'generate',
    '/v1beta/models/models%2Fa%20b:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
  ['responses', '/v1/responses', { instructions: 'Be brief.', store: false }],
  ['images', '/v1/images/generations', { prompt: 'Hi', n: 1, response_format: 'b64_json' }],
] as const)('a request of %s goes to %s', (protocol, path, part) => {
  const request = writeRequest({ ...DRAFT, protocol });
  expect(request.path).toBe(path);
  expect(request.body).toMatchObject(part);
});

test('a command keeps quotes in their place and never holds the key', () => {
  const turns = [{ role: 'user', text: "it's" }] as const;
  const command = writeCurl('http://127.0.0.1:8045', writeRequest({ ...DRAFT, turns }), true);
  expect(command).toContain(`it'\\''s`);
  expect(command).toContain('Bearer $ISTHMUS_KEY');
});

const FILES = [
  { name: 'a.png', type: 'image/png', base64: 'AAAA' },
  { name: 'b.pdf', type: 'application/pdf', base64: 'BBBB' },
  { name: 'c.txt', type: 'text/plain', base64: btoa('words') },
] as const;
const CALL = { id: 'c1', name: 'get', text: '{"a":1}' } as const;
const TALK: Draft = {
  ...DRAFT,
  tools: [{ name: 'get', description: 'Gets.', parameters: { type: 'object' } }],
  turns: [
    { role: 'user', text: 'Look', files: FILES },
    { role: 'assistant', text: '', calls: [CALL] },
    { role: 'user', text: '', results: [{ id: 'c1', name: 'get', text: '42' }] },
  ],
};

test('files, tools, calls and results are written as each protocol has them', () => {
  const body = (protocol: Draft['protocol']) => writeRequest({ ...TALK, protocol }).body;
  expect(body('chat')).toMatchObject({
    tools: [{ type: 'function', function: { name: 'get', parameters: { type: 'object' } } }],
    messages: [
      { role: 'system' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          {
            type: 'file',
            file: { filename: 'b.pdf', file_data: 'data:application/pdf;base64,BBBB' },
          },
          { type: 'text', text: 'c.txt:\n\nwords' },
          { type: 'text', text: 'Look' },
        ],
      },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', function: { name: 'get', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '42' },
    ],
  });
  expect(body('messages')).toMatchObject({
    tools: [{ name: 'get', input_schema: { type: 'object' } }],
    messages: [
      {
        content: [
          { type: 'image' },
          { type: 'document' },
          { source: { data: 'words' } },
          { text: 'Look' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '42' }] },
    ],
  });
  expect(body('generate')).toMatchObject({
    tools: [{ functionDeclarations: [{ name: 'get', parametersJsonSchema: { type: 'object' } }] }],
    contents: [
      {
        parts: [
          { inlineData: { mimeType: 'image/png' } },
          { inlineData: {} },
          {},
          { text: 'Look' },
        ],
      },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'get', args: { a: 1 } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'get', response: { result: '42' } } }] },
    ],
  });
  expect(body('responses')).toMatchObject({
    tools: [{ type: 'function', name: 'get' }],
    input: [
      { content: [{ type: 'input_image' }, { type: 'input_file' }, {}, { type: 'input_text' }] },
      { type: 'function_call', call_id: 'c1', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: '42' },
    ],
  });
});

test('tools are taken in the form of any protocol, alone, in a list or in a body', () => {
  const tool = { name: 'get', description: '', parameters: { type: 'object' } };
  for (const given of [
    [{ type: 'function', function: { name: 'get', parameters: { type: 'object' } } }],
    { name: 'get', input_schema: { type: 'object' } },
    {
      tools: [
        { functionDeclarations: [{ name: 'get', parametersJsonSchema: { type: 'object' } }] },
      ],
    },
  ]) {
    expect(readTools(JSON.stringify(given))).toEqual([tool]);
  }
  expect(readTools(' ')).toEqual([]);
  expect(readTools('[{"type":"function"}]')).toBeUndefined();
  expect(readTools('{')).toBeUndefined();
});

test('a file is sent where the protocol takes its kind', () => {
  const audio = { name: 'a.mp3', type: 'audio/mpeg', base64: '' };
  expect(takesFile('chat', audio)).toBe(true);
  expect(takesFile('messages', audio)).toBe(false);
  expect(takesFile('images', FILES[0])).toBe(false);
  expect(takesFile('generate', { ...audio, type: 'application/zip' })).toBe(false);
});
