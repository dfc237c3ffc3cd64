import { expect, test } from 'vitest';
import { createProtocols } from './index.ts';

const NO_QUERY = new URLSearchParams();

test('the registry holds each protocol once, under its name', () => {
  const protocols = createProtocols();
  expect(protocols.all.map((protocol) => protocol.name).sort()).toEqual([
    'chat',
    'generate',
    'messages',
  ]);
  for (const protocol of protocols.all) expect(protocols.byName[protocol.name]).toBe(protocol);
  expect(protocols.protocolForPath('/v1beta/x', {}, NO_QUERY).name).toBe('generate');
  expect(protocols.pickListProtocol({}, new URLSearchParams()).name).toBe('chat');
});

test.each([
  ['/v1beta', 'generate'],
  ['/v1beta/models/m:embedContent', 'generate'],
  ['/v1betamax', 'chat'],
  ['/v1alpha/auth_tokens', 'generate'],
  ['/v1beta1/publishers/google/models/m:predict', 'generate'],
  ['/upload/v1beta/files', 'generate'],
  ['/v1beta/openai/chat/completions', 'chat'],
  ['/v1/models/m:generateContent', 'generate'],
  ['/v1/models/a/b%3AgenerateContent', 'generate'],
  ['/v1/models/m:nonsense', 'generate'],
  ['/v1/models/m/countTokens', 'generate'],
  ['/v1/messages', 'messages'],
  ['/v1/messages/count_tokens', 'messages'],
  ['/v1/messagesx', 'chat'],
  ['/v1/models/claude', 'messages'],
  ['/v1/models/beta', 'messages'],
  ['/v1/models/m', 'chat'],
  ['/v1/chat/completions', 'chat'],
  ['/nowhere', 'chat'],
])('errors under %s have the shape of %s', (path, name) => {
  expect(createProtocols().protocolForPath(path, {}, NO_QUERY).name).toBe(name);
});

test.each([
  ['/v1/cachedContents', { 'x-goog-api-key': 'k' }, 'generate'],
  ['/v1/models/m', { 'x-goog-api-client': 'sdk' }, 'generate'],
  ['/v1/files', { 'anthropic-version': '2023-06-01' }, 'messages'],
  ['/v1/files', { 'x-api-key': 'k' }, 'chat'],
  ['/v1/responses/r', { 'x-goog-api-key': 'k' }, 'chat'],
  ['/v1/messages/batches', { 'x-goog-api-key': 'k' }, 'messages'],
])('errors under %s have the shape its clients read, known by %j', (path, headers, name) => {
  expect(createProtocols().protocolForPath(path, headers, NO_QUERY).name).toBe(name);
});

test.each([
  ['/v1/models', 'key=k', 'generate'],
  ['/v1/models/m', 'pageSize=3', 'generate'],
  ['/nowhere', 'key=k', 'generate'],
  ['/v1/chat/completions', 'key=k', 'chat'],
  ['/v1/messages', 'key=k', 'messages'],
  ['/v1/models', 'limit=3', 'chat'],
])('errors under %s?%s have the shape of %s, as the answer would', (path, query, name) => {
  const { protocolForPath } = createProtocols();
  expect(protocolForPath(path, {}, new URLSearchParams(query)).name).toBe(name);
});

test.each([
  [{ 'x-goog-api-key': 'k' }, '', 'generate'],
  [{ 'x-vendora-api-key': 'k', 'anthropic-version': '2023-06-01' }, '', 'generate'],
  [{ 'x-goog-api-client': 'sdk' }, '', 'generate'],
  [{}, 'key=k', 'generate'],
  [{}, 'pageSize=5', 'generate'],
  [{ 'vendorb-version': '2023-06-01' }, 'pageToken=t', 'generate'],
  [{ 'anthropic-version': '2026-10-21' }, 'limit=1000', 'messages'],
  [{ 'vendorb-version': '2023-06-01' }, '', 'messages'],
  [{ 'x-api-key': 'k', authorization: 'Bearer k' }, '', 'chat'],
  [{ 'x-goog-api-key': '' }, '', 'chat'],
  [{}, '', 'chat'],
])('the shared list asked with %j and ?%s is answered by %s', (headers, query, name) => {
  expect(createProtocols().pickListProtocol(headers, new URLSearchParams(query)).name).toBe(name);
});
