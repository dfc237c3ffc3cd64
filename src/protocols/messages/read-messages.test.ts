import { expect, test } from 'vitest';
import { read, readParts } from '../../../test/support/messages.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';

const PNG = { type: 'base64', media_type: 'image/png', data: 'AAA=' };

test('V014 P062 empty texts are kept for the transforms to drop', () => {
  const parts = readParts([
    { type: 'text', text: '' },
    { type: 'text' },
    { type: 'text', text: null },
    { type: 'text', text: 'x', cache_control: { type: 'ephemeral' }, citations: null },
  ]);
  expect(parts).toEqual([
    { kind: 'text', text: '' },
    { kind: 'text', text: '' },
    { kind: 'text', text: '' },
    { kind: 'text', text: 'x', cacheHint: true },
  ]);
});

test('V015 images and PDFs become media', () => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' };
  expect(
    readParts([
      { type: 'image', source: PNG },
      { type: 'document', source: pdf },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ]),
  ).toEqual([
    {
      kind: 'media',
      modality: 'image',
      mediaType: 'image/png',
      source: { kind: 'base64', base64: 'AAA=' },
    },
    {
      kind: 'media',
      modality: 'document',
      mediaType: 'application/pdf',
      source: { kind: 'base64', base64: 'JVBERg==' },
    },
    {
      kind: 'media',
      modality: 'image',
      source: {
        kind: 'url',
        url: 'https://example.com/a.png',
        path: 'messages[0].content[2].source.url',
      },
    },
  ]);
});

test.each([
  ['AA-_\nAA==', 'AA+/AA=='],
  ['/9j', '/9j='],
])('the base64 %j is put right, and a media type gets its one spelling', (data, base64) => {
  const source = { type: 'base64', media_type: 'IMAGE/JPG', data };
  expect(readParts([{ type: 'image', source }])).toMatchObject([
    { mediaType: 'image/jpeg', source: { base64 } },
  ]);
});

test('documents stand under their title and context: PDFs behind it, text and blocks with it', () => {
  const parts = readParts([
    {
      type: 'document',
      title: 'P',
      context: 'Q',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
    },
    {
      type: 'document',
      title: 'T',
      context: 'C',
      source: { type: 'text', media_type: 'text/plain', data: 'body' },
    },
    {
      type: 'document',
      title: 'U',
      source: {
        type: 'content',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', source: PNG },
        ],
      },
    },
    { type: 'document', source: { type: 'content', content: 'plain' } },
    {
      type: 'search_result',
      title: 'S',
      source: 'https://s',
      content: [{ type: 'text', text: 'p' }],
    },
  ]);
  expect(parts.map((part) => (part.kind === 'text' ? part.text : part.kind))).toEqual([
    'P\nQ',
    'media',
    'T\nC\n\nbody',
    'U',
    'x',
    'media',
    'plain',
    'S\nhttps://s\n\np',
  ]);
});

test('V016 P045 a tool call keeps id, name, input and carried signature', () => {
  const block = {
    type: 'tool_use',
    id: 't1',
    name: 'get',
    input: { a: 1 },
    signature: 'gw1:g3:tool-call:SIG',
    caller: { type: 'direct' },
  };
  expect(readParts([block], 'assistant')).toEqual([
    {
      kind: 'tool-call',
      id: 't1',
      name: 'get',
      input: { a: 1 },
      signature: { value: 'SIG', family: 'g3', on: 'tool-call' },
    },
  ]);
});

test('keys such as __proto__ survive in tool input', () => {
  const input = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as JsonObject;
  const parts = readParts([{ type: 'tool_use', id: 't', name: 'n', input }], 'assistant');
  expect(JSON.stringify(parts[0])).toContain('"__proto__":{"x":1}');
});

test('V017 P067 tool results take strings, blocks, nothing and errors', () => {
  const results: readonly JsonValue[] = [
    'ok',
    null,
    [],
    [
      { type: 'text', text: 'a' },
      { type: 'image', source: PNG },
    ],
    [{ type: 'tool_reference', tool_name: 'WebFetch' }],
  ];
  const blocks = results.map((content, index) => ({
    type: 'tool_result',
    tool_use_id: `t${index}`,
    content,
    is_error: index === 0,
  }));
  const parts = readParts(blocks);
  expect(parts.map((part) => part.kind === 'tool-result' && part.content)).toMatchObject([
    [{ kind: 'text', text: 'ok' }],
    [],
    [],
    [
      { kind: 'text', text: 'a' },
      { kind: 'media', mediaType: 'image/png' },
    ],
    [{ kind: 'text', text: 'Tool WebFetch is now available.' }],
  ]);
  expect(parts.map((part) => part.kind === 'tool-result' && part.isError)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('V022 V025 V026 thinking keeps text and signature, also when empty, and redacted payloads', () => {
  expect(
    readParts(
      [
        { type: 'thinking', thinking: 'hm', signature: 'bare' },
        { type: 'thinking', thinking: '', signature: 'gw1:g3:thinking:S' },
        { type: 'thinking', signature: 'bare' },
        { type: 'thinking', thinking: 'x', signature: '' },
        { type: 'redacted_thinking', data: 'zz' },
      ],
      'assistant',
    ),
  ).toEqual([
    { kind: 'thinking', text: 'hm', signature: { value: 'bare' } },
    { kind: 'thinking', text: '', signature: { value: 'S', family: 'g3', on: 'thinking' } },
    { kind: 'thinking', text: '', signature: { value: 'bare' } },
    { kind: 'thinking', text: 'x' },
    { kind: 'redacted-thinking', payload: 'zz' },
  ]);
});

test('server tools in history become calls and readable results', () => {
  const parts = readParts(
    [
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's1',
        content: [
          {
            type: 'web_search_result',
            title: 'T',
            url: 'u',
            encrypted_content: '',
            page_age: null,
          },
        ],
      },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's2',
        content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
      },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 's3',
        content: { type: 'bash_code_execution_result', stdout: 'out', stderr: '', return_code: 0 },
      },
      {
        type: 'web_fetch_tool_result',
        tool_use_id: 's4',
        content: {
          type: 'web_fetch_result',
          url: 'u',
          content: { type: 'document', title: 'D', source: { type: 'text', data: 'page' } },
        },
      },
      {
        type: 'mcp_tool_result',
        tool_use_id: 's5',
        content: [{ type: 'text', text: 'm' }],
      },
      { type: 'future_tool_result', tool_use_id: 's6', content: { type: 'future', a: 1 } },
      { type: 'mcp_tool_result', tool_use_id: 's7', is_error: true, content: 'no such file' },
    ],
    'assistant',
  );
  expect(parts.map((part) => (part.kind === 'server-tool-result' ? part.text : part.kind))).toEqual(
    [
      'server-tool-call',
      'T\nu',
      'error: unavailable',
      'out\nexit code 0',
      'u\nD\npage',
      'm',
      '{"type":"future","a":1}',
      'error: no such file',
    ],
  );
  expect(parts[3]).toMatchObject({ callId: 's3', name: 'bash_code_execution' });
});

test('blocks that mean nothing here are dropped with a receipt, a readable summary is kept', () => {
  const { request, receipt } = read({
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'compaction', content: 'so far' },
          { type: 'compaction', encrypted_content: 'x' },
          { type: 'container_upload', file_id: 'f' },
          { type: 'fallback', from: {}, to: {} },
        ],
      },
    ],
  });
  expect(request.turns.map(({ parts }) => parts)).toMatchObject([
    [{ kind: 'text', text: expect.stringContaining('so far') }],
  ]);
  expect(receipt).toEqual([
    'dropped messages[0].content[1]',
    'dropped messages[0].content[2]',
    'dropped messages[0].content[3]',
  ]);
});

test('what is to be done with a picture that is too large is told as lost', () => {
  const picture = { type: 'image', source: PNG, transformations: { oversized_image: 'error' } };
  const { receipt } = read({ messages: [{ role: 'user', content: [picture] }] });
  expect(receipt).toEqual(['dropped messages[0].content[0].transformations']);
});

test('a summary that a client sends as words of its user stays what it says', () => {
  const content = [
    { type: 'compaction', content: 'so far' },
    { type: 'text', text: 'Go on.' },
  ];
  const { request, receipt } = read({ messages: [{ role: 'user', content }] });
  expect(request.turns[0]?.parts).toMatchObject([
    { kind: 'text', text: 'so far' },
    { kind: 'text', text: 'Go on.' },
  ]);
  expect(receipt).toEqual([]);
});

const refused: readonly (readonly [string, JsonObject, string])[] = [
  ['user', { type: 'video' }, '.type: Input tag "video" is not supported'],
  ['user', {}, '.type: Field required'],
  ['user', { type: 'image' }, '.source: Field required'],
  ['user', { type: 'image', source: { type: 'file', file_id: 'f' } }, '.source.type: Files'],
  ['user', { type: 'image', source: { ...PNG, data: 'data:x,%%' } }, '.source.data: Input'],
  ['user', { type: 'image', source: { ...PNG, media_type: 'text/html' } }, '.source.media_type: '],
  [
    'user',
    { type: 'image', source: { ...PNG, media_type: 'image/svg+xml' } },
    '.source.media_type',
  ],
  ['user', { type: 'image', source: { ...PNG, data: 'AAAAA' } }, '.source.data: Input'],
  ['user', { type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }, '.source.url: '],
  ['user', { type: 'image', source: { type: 'url', url: '/etc/passwd' } }, '.source.url: '],
  ['user', { type: 'image', source: { type: 'url', url: 'http://127.1/' } }, '.source.url: '],
  ['user', { type: 'image', source: { type: 'url', url: 'http://[::1]/' } }, '.source.url: '],
  ['user', { type: 'tool_use', id: 'a', name: 'b' }, ': `tool_use` blocks can only be in'],
  ['assistant', { type: 'tool_result', tool_use_id: 'a' }, ': `tool_result` blocks can only'],
  ['assistant', { type: 'tool_use', name: 'b' }, '.id: Field required'],
  ['assistant', { type: 'tool_use', id: 'a', name: 'b', input: [] }, '.input: Input should be'],
  ['user', { type: 'tool_result', tool_use_id: '' }, '.tool_use_id: String should'],
  ['user', { type: 'tool_result', tool_use_id: 'a', is_error: 'no' }, '.is_error: Input'],
  [
    'user',
    { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'thinking' }] },
    '.content.0.type: Input tag "thinking"',
  ],
];

test.each(refused)('in a %s message %j is refused naming its path', (role, block, message) => {
  expect(() => readParts([block], role)).toThrow(`messages.0.content.0${message}`);
});

test('P066 a picture inside markdown text becomes a picture, the text around it stays', () => {
  const text = 'before ![x](data:image/png;base64,AAAA) after';
  const parts = [
    { kind: 'text', text: 'before ' },
    { kind: 'media', mediaType: 'image/png', source: { base64: 'AAAA' } },
    { kind: 'text', text: ' after' },
  ];
  const turnOf = (content: JsonValue) =>
    read({ messages: [{ role: 'user', content }] }).request.turns[0]?.parts;
  expect(turnOf(text)).toMatchObject(parts);
  expect(turnOf([{ type: 'text', text }])).toMatchObject(parts);
});
