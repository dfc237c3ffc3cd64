import { afterEach, expect, test } from 'vitest';
import type { AdminRoute } from './admin-route.ts';
import type { EdgeSettings } from './settings.ts';
import { startEdge, type TestEdge } from './testing/start-edge.ts';

const running: TestEdge[] = [];
const echo: AdminRoute = {
  method: 'POST',
  path: '/api/echo',
  run: async ({ body }) => ({ got: body }),
};

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

async function statusWith(
  settings: Partial<EdgeSettings>,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const edge = await startEdge({ settings, adminRoutes: [echo] });
  running.push(edge);
  const response = await fetch(`${edge.url}/api/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"a":1}',
  });
  return response.status;
}

const API_KEY = [{ id: 'main', key: 'the-api-key' }];
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

test('while nothing is configured, the admin API takes local requests and no foreign page', async () => {
  expect(await statusWith({})).toBe(200);
  expect(await statusWith({}, { origin: 'http://evil.example' })).toBe(401);
  expect(await statusWith({}, { 'x-forwarded-for': '203.0.113.9' })).toBe(401);
});

test.each(['off', 'auto', 'strict'] as const)(
  'with a console password, mode %s asks for it and refuses the API key (V162, P170)',
  async (authMode) => {
    const settings = { authMode, apiKeys: API_KEY, consolePassword: 'the-password' };
    expect(await statusWith(settings)).toBe(401);
    expect(await statusWith(settings, bearer('the-api-key'))).toBe(401);
    expect(await statusWith(settings, bearer('the-password'))).toBe(200);
  },
);

test('every admin route asks for the console credential', async () => {
  const edge = await startEdge({ adminRoutes: [echo] });
  running.push(edge);
  const admin = edge.server.routes.routes.filter((route) => route.path.startsWith('/api/'));
  expect(admin.map((route) => route.access)).toEqual(['console']);
});
