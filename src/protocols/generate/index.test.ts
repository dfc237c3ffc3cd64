import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createProtocols } from '../index.ts';
import type { RouteInput } from '../protocol.ts';

const protocol = createProtocols().byName.generate;
const BODY: JsonObject = { contents: [{ parts: [{ text: 'x' }] }] };
const CONTEXT = { model: 'm', createId: (prefix: string) => `${prefix}1`, createdAt: 0 };

function input(query = '', body = BODY): RouteInput {
  const receipt = createReceipt();
  return { pathModel: 'm', query: new URLSearchParams(query), headers: {}, body, receipt };
}

function readCall(path: string, query = '', body = BODY) {
  const route = protocol.routes.find((one) => one.path === path);
  if (route?.operation !== 'generate') throw new Error(`no generate route ${path}`);
  return route.readCall(input(query, body));
}

test('V114 both prefixes have the same routes', () => {
  const under = (prefix: string) =>
    protocol.routes
      .filter((route) => route.path.startsWith(`${prefix}/`))
      .map((route) => `${route.method} ${route.path.slice(prefix.length)} ${route.operation}`);
  expect(under('/v1')).toEqual(under('/v1beta'));
  expect(under('/v1')).toEqual([
    'POST /models/{model}:generateContent generate',
    'POST /models/{model}:streamGenerateContent generate',
    'POST /models/{model}:countTokens count-tokens',
    'POST /models/{model}/countTokens count-tokens',
    'GET /models list-models',
    'GET /models/{model} get-model',
    'POST /models/{model}:embedContent embed',
    'POST /models/{model}:batchEmbedContents embed',
  ]);
});

test('the verb decides about streaming, and alt=sse about its form', () => {
  const stream = '/v1beta/models/{model}:streamGenerateContent';
  expect(readCall('/v1/models/{model}:generateContent').stream).toBe(false);
  for (const [query, type] of [
    ['', 'application/json'],
    ['alt=json', 'application/json'],
    ['alt=sse', 'text/event-stream'],
    ['key=k&alt=SSE', 'text/event-stream'],
  ]) {
    const call = readCall(stream, query);
    expect(call.stream).toBe(true);
    expect(call.createStreamWriter(CONTEXT).contentType).toContain(type);
    expect(call.relay?.createStreamWriter(CONTEXT).contentType).toContain(type);
  }
});

test('the relayed body is the normalised one and the canonical request is built once', () => {
  const call = readCall('/v1/models/{model}:generateContent');
  expect(call).toMatchObject({ protocol: 'generate', model: 'm', bodySession: undefined });
  expect(call.relay).toMatchObject({
    wire: 'generate-content',
    body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  });
  expect(call.request).toBe(call.request);
});

test('V115 countTokens answers with the total in both spellings of the path', () => {
  const routes = protocol.routes.filter((route) => route.operation === 'count-tokens');
  expect(routes).toHaveLength(6);
  for (const route of routes) {
    const call = route.readCall(input());
    expect(call.request.turns).toHaveLength(1);
    expect(call.writeCount(7)).toEqual({ totalTokens: 7 });
  }
});

test('what is counted is the request itself, but for what is no tokens', () => {
  const route = protocol.routes.find((one) => one.operation === 'count-tokens');
  if (route?.operation !== 'count-tokens') throw new Error('no count route');
  const contents = [{ parts: [{ fileData: { fileUri: 'gs://bucket/film' } }] }];
  const request = { contents, safetySettings: [], labels: { a: 'b' }, store: true };
  const body = { contents: [{ role: 'user', ...contents[0] }] };
  const relay = { wire: 'generate-content', body };
  expect(route.readCall(input('', request)).relay).toMatchObject({ ...relay, field: '' });
  const wrapped = { generateContentRequest: request };
  expect(route.readCall(input('', wrapped)).relay).toMatchObject({
    ...relay,
    field: 'generateContentRequest',
  });
});

test('a path without a model is refused', () => {
  const [route] = protocol.routes;
  if (route?.operation !== 'generate') throw new Error('unexpected order of routes');
  expect(() => route.readCall({ ...input(), pathModel: '' })).toThrow(/must name a model/);
});

test.each(['generateContentRequest', 'generate_content_request'])(
  'what is noted and refused of a counted request names its place in %s',
  (key) => {
    const receipt = createReceipt();
    const route = protocol.routes.find((one) => one.operation === 'count-tokens');
    if (route?.operation !== 'count-tokens') throw new Error('no count route');
    const count = (request: JsonObject, beside: JsonObject = {}) => {
      const call = route.readCall({ ...input('', { [key]: request, ...beside }), receipt });
      for (const { action, path, reason } of call.relay?.reading?.().losses ?? []) {
        receipt.add(action, path, reason);
      }
      return call.request;
    };
    const declaration = { name: 'w', parametersJsonSchema: {}, behavior: 'BLOCKING' };
    const { clientNames, tools } = count(
      {
        ...BODY,
        model: 'models/other',
        generationConfig: { audioTranscriptionConfig: {} },
        tools: [{ functionDeclarations: [declaration] }, { googleMaps: {} }],
        continuationToken: 'c',
      },
      { model: 'models/m', systemInstruction: 'S' },
    );
    expect(new Set(receipt.entries.map(({ path }) => path))).toEqual(
      new Set([
        'systemInstruction',
        `${key}.model`,
        `${key}.continuationToken`,
        `${key}.tools[1].googleMaps`,
        `${key}.tools[0].functionDeclarations[0].behavior`,
        `${key}.generationConfig.audioTranscriptionConfig`,
      ]),
    );
    expect(clientNames).toMatchObject({ messages: `${key}.contents` });
    expect(tools).toMatchObject([
      {
        path: `${key}.tools[0].functionDeclarations[0]`,
        parametersPath: `${key}.tools[0].functionDeclarations[0].parametersJsonSchema`,
      },
    ]);
    expect(() => count({ contents: [{ role: 'system', parts: [{ text: 'x' }] }] })).toThrow(
      `${key}.contents[0].role`,
    );
  },
);
