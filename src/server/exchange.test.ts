import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEdge, type TestEdge } from './start-edge.test-support.ts';

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.server.close());

async function messageAt(path: string): Promise<string> {
  const response = await fetch(edge.url + path, { method: 'POST' });
  expect(response.status).toBe(404);
  return response.text();
}

test.each([
  ['/v1/batches', 'Batches are not offered'],
  ['/openai/batches', 'Batches are not offered'],
  ['/openai/v1/batches', 'Batches are not offered'],
  ['/v1/messages/batches/msgbatch_1/results', 'Batches are not offered'],
  ['/v1beta/models/alpha-3-flash:batchGenerateContent', 'Batches are not offered'],
  ['/v1beta/models/e:asyncBatchEmbedContent', 'Batches are not offered'],
  ['/v1/files', 'Files are not stored'],
  ['/upload/v1beta/files', 'Files are not stored'],
  ['/v1beta/files/abc', 'Files are not stored'],
  ['/v1beta/cachedContents', 'Caches are not kept'],
  ['/v1beta/interactions', 'use generateContent'],
  ['/v1/interactions/v1_abc/cancel', 'use generateContent'],
  ['/v1/audio/speech', 'This part of the protocol is not offered'],
  ['/v1/filesystem', 'This part of the protocol is not offered'],
])('a client of %s is not sent looking for a fault in its base URL', async (path, words) => {
  const message = await messageAt(path);
  expect(message).toContain(words);
  expect(message).not.toContain('base URL');
});

test('a path below no version is a matter of the base URL, as is one whose right form is known', async () => {
  expect(await messageAt('/batches')).toContain('Check the base URL');
  expect(await messageAt('/chat/completions')).toContain(
    'The right path is /v1/chat/completions: check the base URL',
  );
});

test.each(['/api/chat', '/api/generate', '/api/tags', '/api/embed'])(
  'a client of %s, which is another server’s, is told what to use in its place',
  async (path) => {
    expect(await messageAt(path)).toContain(
      'OpenAI-compatible, with the base URL that ends in /v1',
    );
  },
);
