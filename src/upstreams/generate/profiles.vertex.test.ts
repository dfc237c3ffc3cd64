import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { AccountAccess } from '../upstream.ts';
import { call, closers, failureOf, json, start } from './client.test-support.ts';
import { createGenerateUpstream } from './index.ts';
import { createVertexProfile } from './profiles.ts';

const token: AccountAccess = {
  accountId: 'acc_1',
  credential: 'token-1',
  credentialKind: 'access-token',
  projectId: 'my-project',
};
const key: AccountAccess = { accountId: 'acc_2', credential: 'k', credentialKind: 'api-key' };

/** A Vertex upstream over a scripted server. */
async function vertexAt(handle: ReturnType<typeof json>, location = 'europe-west4') {
  const { port, seen } = await start(handle);
  const profile = createVertexProfile({ baseUrl: `http://127.0.0.1:${port}/v1`, location });
  const upstream = createGenerateUpstream({ profile, clock: createFakeClock() });
  closers.push(() => upstream.close());
  return { upstream, seen };
}

test.each([
  ['global', 'https://aiplatform.googleapis.com'],
  ['us-central1', 'https://us-central1-aiplatform.googleapis.com'],
  ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
])('the location %s is reached at %s', (location, baseUrl) => {
  expect(createVertexProfile({ location }).baseUrl).toBe(baseUrl);
});

test('project and location stand in the path, escaped, and nowhere else', async () => {
  const { upstream, seen } = await vertexAt(json({ a: 1 }));
  const access = { ...token, projectId: 'my/project' };
  await upstream.open(call({ access, stream: true, modelId: 'gemini-x' }));
  expect(seen[0]?.url).toBe(
    '/v1/projects/my%2Fproject/locations/europe-west4/publishers/google/models/gemini-x:streamGenerateContent?alt=sse',
  );
  expect(seen[0]?.headers.authorization).toBe('Bearer token-1');
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual(call().body);
});

test('an API key needs no project at the global address (express mode)', async () => {
  const { upstream, seen } = await vertexAt(json({ a: 1 }), 'global');
  await upstream.open(call({ access: key, stream: false, modelId: 'gemini-x' }));
  expect(seen[0]?.url).toBe('/v1/publishers/google/models/gemini-x:generateContent');
  expect(seen[0]?.headers['x-goog-api-key']).toBe('k');
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

test('P165: without a project nothing is sent, and the way out is told', async () => {
  const { upstream, seen } = await vertexAt(json({}));
  const { projectId: _none, ...bare } = token;
  for (const access of [bare, { ...token, projectId: '' }, key]) {
    const error = await failureOf(upstream.open(call({ access })));
    expect(error.message).toContain(`Account ${access.accountId} has no project`);
    expect(error.message).toContain('ISTHMUS_UPSTREAM_PROJECT');
    expect(error.failure).toMatchObject({ kind: 'unauthenticated', detail: error.message });
    await expect(upstream.countTokens(call({ access }))).rejects.toThrow('has no project');
  }
  expect(seen).toEqual([]);
});

test('tokens are counted of the fields that bear on them', async () => {
  const { upstream, seen } = await vertexAt(json({ totalTokens: 5 }));
  const body = { ...call().body, tools: [], labels: { a: 'b' }, safetySettings: [] };
  expect(await upstream.countTokens(call({ access: token, body }))).toMatchObject({ total: 5 });
  expect(seen[0]?.url).toMatch(/\/models\/gemini-3-flash:countTokens$/);
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ ...call().body, tools: [] });
});

test('the publisher’s list is read; an account that may not see it has no list', async () => {
  const { signal } = new AbortController();
  const listed = await vertexAt(
    json({ publisherModels: [{ name: 'publishers/google/models/gemini-x', versionId: '1' }] }),
  );
  expect(await listed.upstream.listModels(token, signal)).toMatchObject([{ id: 'gemini-x' }]);
  expect(listed.seen[0]?.url).toBe('/v1beta1/publishers/google/models?pageSize=100');
  const refusing = await vertexAt(json({ error: { status: 'PERMISSION_DENIED' } }, 403));
  expect(await refusing.upstream.listModels(token, signal)).toEqual([]);
  const expired = await vertexAt(json({ error: { status: 'UNAUTHENTICATED' } }, 401));
  expect((await failureOf(expired.upstream.listModels(token, signal))).failure?.kind).toBe(
    'unauthenticated',
  );
});

test('labels are taken and buckets are read, which the public API does not', () => {
  const profile = createVertexProfile();
  expect(profile.extraFields).toContain('labels');
  expect(profile.extraFields).not.toContain('store');
  expect(profile.readsUri('gs://bucket/a.png')).toBe(true);
  expect(profile.readsUri('https://example.com/a.png')).toBe(false);
  expect(profile.quotaPath).toBeUndefined();
});
