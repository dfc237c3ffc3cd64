import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { ownerInput, startAdmin, type TestAdmin } from './admin.test-support.ts';
import { createDescriptionRoutes } from './openapi.ts';
import { defineRoute } from './route.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());

test('the reference page names every route and schema, and every link of it leads somewhere', async () => {
  const { body } = await admin.call('GET', '/api/openapi.json');
  const { status, text, headers } = await admin.call('GET', '/api/docs');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toContain('text/html');
  for (const [path, operations] of Object.entries(objectOf(body.paths))) {
    for (const method of Object.keys(objectOf(operations))) {
      expect(text).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
    }
  }
  for (const name of Object.keys(objectOf(objectOf(body.components).schemas))) {
    expect(text).toContain(`id="schema-${name}"`);
  }
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter((id) => !ids.has(id))).toEqual([]);
});

test('every change names the header that a browser needs for it, signed in or about to sign in', async () => {
  const { body } = await admin.call('GET', '/api/openapi.json');
  for (const [path, operations] of Object.entries(objectOf(body.paths))) {
    for (const [method, operation] of Object.entries(objectOf(operations))) {
      const { parameters = [], security } = objectOf(operation);
      const named = Array.isArray(parameters)
        ? parameters.map(objectOf).find(({ name }) => name === 'x-isthmus-console')
        : undefined;
      // Whoever shows no credential is always taken for a browser.
      const wanted = method === 'get' ? undefined : security !== undefined;
      expect([method, path, named?.required]).toEqual([method, path, wanted]);
    }
  }
});

test('the page runs nothing, whatever a description holds', async () => {
  const { headers, text } = await admin.call('GET', '/api/docs');
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('script-src');
  expect(text).not.toContain('<script');
  const evil = '<img src=x onerror="alert(1)">';
  const schema = {
    type: 'object',
    properties: { [evil]: { enum: [evil], description: evil } },
  } as const;
  const route = defineRoute({
    at: `POST /api/${evil}`,
    access: 'viewer',
    title: evil,
    body: { title: evil, ...schema },
    answers: { 200: { description: evil, schema } },
    run: () => Promise.reject(new Error('Nobody asks it.')),
  });
  const [, docs] = createDescriptionRoutes([route], {
    ...{ version: evil, access: { login: { cookieTag: '' } } },
  });
  const page = await docs?.run(ownerInput());
  expect(page).toMatchObject({ kind: 'page', html: expect.not.stringContaining('<img') });
});

function objectOf(value: unknown): JsonObject {
  if (!isJsonObject(value as JsonObject)) throw new Error('An object was expected.');
  return value as JsonObject;
}
