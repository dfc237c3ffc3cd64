import { expect, test } from 'vitest';
import { fakeProtocols } from './fake-protocols.test-support.ts';
import { listRoutes } from './list-routes.test-support.ts';
import { createRouteTable } from './routes.ts';

const table = createRouteTable(fakeProtocols.all);

/** `METHOD /path → route path (model)`, the allowed methods, or what was meant. */
function resolve(method: string, path: string): string {
  const match = table.match(method, path);
  switch (match.kind) {
    case 'route':
      return [match.route.path, match.parameter, match.deployment && `for ${match.deployment}`]
        .filter(Boolean)
        .join(' ');
    case 'wrong-method':
      return `405 ${match.allow.join(' ')}`;
    case 'unknown':
      return `404 ${match.meant ?? ''}`.trim();
    default:
      return match satisfies never;
  }
}

const nativeRoutes = (version: string): string[] => [
  `POST ${version}/models/{model}/countTokens client generate:count-tokens`,
  `POST ${version}/models/{model}:countTokens client generate:count-tokens`,
  `POST ${version}/models/{model}:generateContent client generate:generate`,
  `POST ${version}/models/{model}:streamGenerateContent client generate:generate`,
];

test('the merged table lists every route, what it asks for and who answers', () => {
  expect(listRoutes(table)).toEqual([
    'GET /health public health',
    'GET /healthz public health',
    'GET /livez public health',
    'GET /readyz public health',
    'GET /v1/models client chat:list-models messages:list-models generate:list-models',
    'GET /v1/models/claude client messages:list-models',
    'GET /v1/models/{model} client chat:get-model messages:get-model generate:get-model',
    'GET /v1beta/models client generate:list-models',
    'GET /v1beta/models/{model} client generate:get-model',
    'POST /v1/chat/completions client chat:generate',
    'POST /v1/messages client messages:generate',
    'POST /v1/messages/count_tokens client messages:count-tokens',
    ...nativeRoutes('/v1'),
    'POST /v1/talk client chat:generate',
    ...nativeRoutes('/v1beta'),
  ]);
});

test('P179: only the health routes are public', () => {
  const open = table.routes.filter((route) => route.access === 'public');
  expect(open.map((route) => route.path)).toEqual(['/health', '/healthz', '/livez', '/readyz']);
});

test.each([
  ['GET', '/v1/models', '/v1/models'],
  ['GET', '/v1/models/', '/v1/models'],
  ['HEAD', '/v1/models', '/v1/models'],
  ['HEAD', '/health', '/health'],
  ['GET', '/v1/models/claude', '/v1/models/claude'],
  ['GET', '/v1/models/claude-x', '/v1/models/{model} claude-x'],
  ['GET', '/v1/models/org/large', '/v1/models/{model} org/large'],
  ['GET', '/v1/models/models/m', '/v1/models/{model} m'],
  ['GET', '/v1/models/ft:base:org', '/v1/models/{model} ft:base:org'],
  ['POST', '/v1/models/m:generateContent', '/v1/models/{model}:generateContent m'],
  [
    'POST',
    '/v1beta/models/m:streamGenerateContent',
    '/v1beta/models/{model}:streamGenerateContent m',
  ],
  ['POST', '/v1beta/models/models/m:countTokens', '/v1beta/models/{model}:countTokens m'],
  ['POST', '/v1beta/models/a/b/m:countTokens', '/v1beta/models/{model}:countTokens a/b/m'],
  ['POST', '/v1beta/models/m/countTokens', '/v1beta/models/{model}/countTokens m'],
  ['POST', '/v1beta/a/m:countTokens', '/v1beta/models/{model}:countTokens a/m'],
  ['POST', '/v1beta/a/b/m:x:countTokens', '/v1beta/models/{model}:countTokens a/b/m:x'],
  ['POST', '/openai/v1/chat/completions', '/v1/chat/completions'],
  ['POST', '/openai/v1/chat/completions/', '/v1/chat/completions'],
  ['GET', '/openai/v1/models/org/large', '/v1/models/{model} org/large'],
  ['GET', '/openai/models', '/v1/models'],
  ['POST', '/v1beta/openai/chat/completions', '/v1/chat/completions'],
  ['POST', '/openai/deployments/m/chat/completions', '/v1/chat/completions for m'],
  ['POST', '/openai/deployments/up/m/chat/completions', '/v1/chat/completions for up/m'],
  ['POST', '/v1beta/models/m:x:generateContent', '/v1beta/models/{model}:generateContent m:x'],
])('%s %s is %s', (method, path, expected) => {
  expect(resolve(method, path)).toBe(expected);
});

test.each([
  ['GET', '/v1/chat/completions', '405 POST OPTIONS'],
  ['DELETE', '/v1/models', '405 GET HEAD OPTIONS'],
  ['POST', '/v1/models/m', '405 GET HEAD OPTIONS'],
  ['GET', '/v1/models/m:generateContent', '405 POST OPTIONS'],
  ['POST', '/health', '405 GET HEAD OPTIONS'],
  ['POST', '/v1/models/m:embedContent', '404'],
  ['GET', '/', '404'],
  ['HEAD', '/api/hello', '404'],
  ['GET', '/V1/models', '404 /v1/models'],
  ['GET', '/v1/modelsx', '404'],
  ['POST', '/v1beta/models/:generateContent', '404'],
  ['POST', '/v1beta/models/models/:generateContent', '404'],
  ['POST', '/v1/v1/chat/completions', '404 /v1/chat/completions'],
  ['POST', '/v1/v1/messages/', '404 /v1/messages'],
  ['POST', '/v1beta/v1beta/models/m:countTokens', '404 /v1beta/models/m:countTokens'],
  ['POST', '/v1/v1beta/models/m:countTokens', '404 /v1beta/models/m:countTokens'],
  ['GET', '/v1/v1/models', '404 /v1/models'],
  ['GET', '/v1/v1/chat/completions', '404 /v1/chat/completions'],
  ['POST', '/chat/completions', '404 /v1/chat/completions'],
  ['POST', '/messages', '404 /v1/messages'],
  ['POST', '/v1/chat/completions/chat/completions', '404 /v1/chat/completions'],
  ['POST', '/v1/messages/v1/messages', '404 /v1/messages'],
  ['POST', '/anthropic/v1/messages', '404 /v1/messages'],
  ['GET', '/api/v1/models', '404 /v1/models'],
  ['GET', '/openai/v1/chat/completions', '405 POST OPTIONS'],
  ['GET', '/openai/deployments/m/chat/completions', '405 POST OPTIONS'],
  ['POST', '/openai/v1/v1/chat/completions', '404 /v1/chat/completions'],
  ['POST', '/openai/deployments/m/unknown', '404'],
  ['GET', '/openai/v1/threads/t/messages', '404'],
  ['GET', '/openai', '404'],
  ['POST', '/openai-proxy/v1/chat/completions', '404 /v1/chat/completions'],
  ['POST', '/v1beta1/publishers/g/models/m:countTokens', '404 /v1/models/m:countTokens'],
  ['POST', '/v1beta/m:countTokens', '404'],
  ['POST', '/v1beta/a/m:x', '404'],
  ['GET', '/v1/threads/t/messages', '404'],
  ['GET', '/v1/chat/completions/c/messages', '404'],
])('%s %s is %s', (method, path, expected) => {
  expect(resolve(method, path)).toBe(expected);
});

test('a protocol may not take a path of the gateway itself', () => {
  const [chat] = fakeProtocols.all;
  if (chat === undefined) throw new Error('no protocol');
  const [route] = chat.routes;
  if (route?.operation !== 'generate') throw new Error('no route');
  const routes = [
    { operation: 'list-models', method: 'GET', path: '/health', writeModels: () => ({}) },
  ] as const;
  expect(() => createRouteTable([{ ...chat, routes }])).toThrow('/health is taken');
});

test('prefix and suffix of a pattern never overlap', () => {
  const [chat] = fakeProtocols.all;
  if (chat === undefined) throw new Error('no protocol');
  const routes = [
    { operation: 'list-models', method: 'GET', path: '/m/{model}/m', writeModels: () => ({}) },
  ] as const;
  const { match } = createRouteTable([{ ...chat, routes }]);
  expect(match('GET', '/m/m').kind).toBe('unknown');
  expect(match('GET', '/m//m').kind).toBe('unknown');
  expect(match('GET', '/m/x/m')).toMatchObject({ kind: 'route', parameter: 'x' });
});
