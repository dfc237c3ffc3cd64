import fc from 'fast-check';
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { readBodySession } from './read-request.ts';
import { canonical, notes, read, refusal } from './reading.test-support.ts';

type OfficialBody = OpenAI.ChatCompletionCreateParams;

test('P071 both limits are read, the newer one first', () => {
  expect(canonical({ max_tokens: 100 }).maxOutputTokens).toBe(100);
  expect(canonical({ max_tokens: 100, max_completion_tokens: 7 }).maxOutputTokens).toBe(7);
  expect(canonical({ max_tokens: null }).maxOutputTokens).toBeUndefined();
  expect(notes({ max_tokens: 100, max_completion_tokens: 7 })).toEqual(['dropped max_tokens']);
  expect(notes({ max_tokens: 7, max_completion_tokens: 7 })).toEqual([]);
});

test('V086 stop and n; nothing is added to the stop sequences (P070)', () => {
  expect(canonical({ stop: 'X', n: 2 })).toMatchObject({ stopSequences: ['X'], choices: 2 });
  expect(canonical({ stop: ['a', 'b'] }).stopSequences).toEqual(['a', 'b']);
  expect(canonical({}).stopSequences).toEqual([]);
});

test('P072 sampling figures are taken as they are', () => {
  const request = canonical({ temperature: 0.7, top_p: 0.95, top_k: 40, seed: 1 });
  expect(request.sampling).toEqual({ temperature: 0.7, topP: 0.95, topK: 40, seed: 1 });
  for (const top_k of [0, -1]) expect(canonical({ top_k }).sampling.topK).toBeUndefined();
});

test('V085 response formats', () => {
  expect(canonical({ response_format: { type: 'json_object' } }).outputFormat).toEqual({
    kind: 'json',
  });
  const json_schema = { name: 's', strict: true, schema: { type: 'object' } };
  expect(canonical({ response_format: { type: 'json_schema', json_schema } }).outputFormat).toEqual(
    {
      kind: 'json-schema',
      name: 's',
      strict: true,
      schema: { type: 'object' },
    },
  );
});

test('caching and bookkeeping fields are silent; fields whose meaning is lost are in the receipt', () => {
  expect(notes({ user: 'u', metadata: { a: 'b' }, store: false, prompt_cache_key: 'k' })).toEqual(
    [],
  );
  expect(
    notes({ logit_bias: { '1': 1 }, prediction: { type: 'content' }, verbosity: 'low', foo: 1 }),
  ).toEqual(['dropped logit_bias', 'dropped prediction', 'dropped foo']);
});

test('a schema beside the word for any JSON counts, as several services have it', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const response_format = { type: 'json_object', schema };
  expect(canonical({ response_format }).outputFormat).toEqual({ kind: 'json-schema', schema });
  expect(notes({ response_format })).toEqual([]);
});

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } };

test.each<JsonObject>([
  { type: 'json', value: SCHEMA },
  { type: 'json_object', value: SCHEMA },
  { type: 'json_schema', value: SCHEMA },
  { type: 'json_schema', value: { name: 'answer', schema: SCHEMA } },
])('the schema in Hugging Face’s words is read: %j', (response_format) => {
  expect(canonical({ response_format }).outputFormat).toMatchObject({
    kind: 'json-schema',
    schema: SCHEMA,
  });
  expect(notes({ response_format })).toEqual([]);
});

test('words of Mistral’s and Hugging Face’s clients are read', () => {
  const tools = [{ type: 'function', function: { name: 'w' } }];
  const said = { random_seed: 7, tools, tool_choice: 'any' };
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'document_url', document_url: 'https://a.example/a.pdf', document_name: 'a' },
      ],
    },
    { role: 'assistant', content: 'Yes', prefix: true },
  ];
  expect(canonical({ ...said, messages })).toMatchObject({
    sampling: { seed: 7 },
    toolChoice: { kind: 'required', names: [] },
    turns: [{ parts: [{ kind: 'media', modality: 'document' }] }, {}],
  });
  expect(notes({ ...said, messages })).toEqual([]);
  const choice = { tools, tool_choice: { function: { name: 'w' } } };
  expect(canonical(choice).toolChoice).toEqual({ kind: 'required', names: ['w'] });
});

test('the session is the cache key, else the user', () => {
  expect(readBodySession({ user: 'u', prompt_cache_key: 'k' })).toBe('k');
  expect(readBodySession({ user: 'u' })).toBe('u');
  expect(readBodySession({})).toBeUndefined();
});

describe('fields out of range or of a wrong type are a 400 naming the field', () => {
  const cases: [string, JsonObject][] = [
    ['model', { model: '' }],
    ['model', { model: 3 }],
    ['model', { model: null }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hi' }],
    ['messages', { messages: null }],
    ['messages[0]', { messages: ['hi'] }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[0].role', { messages: [{ role: 'alien', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 1 }] }],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['temperature', { temperature: 2.1 }],
    ['temperature', { temperature: '1' }],
    ['top_p', { top_p: -0.1 }],
    ['presence_penalty', { presence_penalty: 3 }],
    ['frequency_penalty', { frequency_penalty: -2.5 }],
    ['n', { n: 0 }],
    ['n', { n: 129 }],
    ['n', { n: 1.5 }],
    ['top_logprobs', { top_logprobs: 21, logprobs: true }],
    ['stop', { stop: ['1', '2', '3', '4', '5'] }],
    ['stop[0]', { stop: [1] }],
    ['stream', { stream: 'yes' }],
    ['stream_options.include_usage', { stream_options: { include_usage: 1 } }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_completion_tokens', { max_completion_tokens: 1.5 }],
    ['modalities[1]', { modalities: ['text', 'audio'] }],
    ['reasoning_effort', { reasoning_effort: 'huge' }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    ['tools[0].function.parameters', { tools: [{ function: { name: 'w', parameters: 'x' } }] }],
    ['tools[0].function.name', { tools: [{ function: { name: 'a\u0000b' } }] }],
    ['size', { size: 1024 }],
    ['size', { size: '7:3' }],
    ['imageSize', { imageSize: '8K' }],
    ['image_config.aspect_ratio', { image_config: { aspect_ratio: '7:3' } }],
    ['image_config.image_size', { image_config: { image_size: '8K' } }],
  ];
  test.each(cases)('%s %j', (field, fields) => {
    expect(refusal(fields).field).toBe(field);
  });
});

test.each<[string, JsonObject]>([
  ['stop must be a string or an array of strings.', { stop: 5 }],
  [
    'messages[0].content[0].video_url must be a string or an object.',
    { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: 5 }] }] },
  ],
])('a refusal names every type that would do: %s', (message, fields) => {
  expect(refusal(fields).message).toBe(message);
});

test('a picture is asked for in OpenRouter’s words as well', () => {
  const image_config = { aspect_ratio: '16:9', image_size: '2K', strength: 1 };
  const fields = { modalities: ['image', 'text'], image_config };
  expect(canonical(fields).image).toMatchObject({ aspectRatio: '16:9', size: '2K' });
  expect(notes(fields)).toEqual(['dropped image_config.strength']);
  expect(canonical({ size: '1:1', image_config }).image).toMatchObject({ aspectRatio: '1:1' });
});

test.each<[string, (settings: JsonObject[]) => JsonObject]>([
  ['safety_settings', (settings) => ({ safety_settings: settings })],
  [
    'extra_body.google.safety_settings',
    (settings) => ({ extra_body: { google: { safety_settings: settings } } }),
  ],
  ['vendora.safety_settings', (settings) => ({ vendora: { safety_settings: settings } })],
])('safety settings are read from %s', (path, fields) => {
  const setting = { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' };
  const request = canonical(fields([setting]));
  expect(request.safety).toEqual([setting]);
  expect(request.clientNames?.safety_settings).toBe(path);
  expect(notes(fields([setting]))).toEqual([]);
  expect(refusal(fields([{ category: 'HARM_CATEGORY_HARASSMENT' }]))).toMatchObject({
    field: `${path}[0].threshold`,
  });
});

test('a body of the official type is read without loss', () => {
  const body = {
    model: 'models/alpha-3-flash',
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
    stream_options: { include_usage: true },
  } satisfies OfficialBody;
  const request = read(body);
  expect(request).toMatchObject({ model: 'alpha-3-flash', stream: true });
  expect(request.answer.includeUsage).toBe(true);
});

test('any JSON in any field is read or refused with a 400, never anything else', () => {
  const keys = ['messages', 'tools', 'tool_choice', 'stop', 'reasoning', 'thinking', 'size', 'n'];
  const more = ['response_format', 'extra_body', 'google', 'functions', 'modalities', 'model'];
  const field = fc.tuple(fc.constantFrom(...keys, ...more), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(field, { maxLength: 4 }), (entries) => {
      const body = parseJson(JSON.stringify(Object.fromEntries(entries)));
      if (!isJsonObject(body)) return;
      try {
        read(body);
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
        expect(error).toMatchObject({ kind: 'invalid-request', field: expect.any(String) });
      }
    }),
    { numRuns: 300 },
  );
});

test('receipts and errors of rules are named in the words of this client', () => {
  const names = (fields: JsonObject) => canonical(fields).clientNames;
  expect(names({ max_completion_tokens: null, max_tokens: 5 })).toMatchObject({
    max_tokens: 'max_tokens',
    system: 'messages',
    thinking: 'model',
  });
  expect(names({ max_completion_tokens: 5, reasoning: { effort: 'low' } })).toMatchObject({
    max_tokens: 'max_completion_tokens',
    thinking: 'reasoning',
  });
  expect(names({ functions: [{ name: 'w' }] })).toMatchObject({ tool_choice: 'function_call' });
});

test('unknown fields are told wherever they stand, known hints are not', () => {
  const zz = 1;
  const call = {
    id: 'c',
    index: 0,
    type: 'function',
    function: { name: 'w', arguments: '{}', zz },
  };
  expect(
    notes({
      stream_options: { include_usage: true, zz },
      reasoning: { effort: 'low', zz },
      thinking: { type: 'adaptive', zz },
      tools: [{ type: 'function', function: { name: 'w' } }],
      tool_choice: { type: 'function', function: { name: 'w', zz } },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'q', cache_control: { type: 'ephemeral' }, zz },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', zz } },
          ],
        },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ],
    }).toSorted(),
  ).toEqual([
    'dropped messages[0].content[0].zz',
    'dropped messages[0].content[1].image_url.zz',
    'dropped messages[1].tool_calls[0].function.zz',
    'dropped reasoning.zz',
    'dropped stream_options.zz',
    'dropped thinking',
    'dropped thinking.zz',
    'dropped tool_choice.function.zz',
  ]);
});
