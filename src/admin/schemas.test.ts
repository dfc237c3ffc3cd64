import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAdmin, type TestAdmin } from './admin.test-support.ts';
import { patternWords } from './schemas.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());

test('a text of the wrong form is refused in words', async () => {
  const account = { upstream: 'main', kind: 'api-key', key: 'k', project: '../x y' };
  const added = await admin.call('POST', '/api/accounts', { body: account });
  expect([added.status, added.text]).toEqual([400, expect.stringContaining('letters, digits')]);
  expect(added.text).not.toContain('pattern');
  const listed = await admin.call('GET', '/api/access-log?limit=no');
  expect([listed.status, listed.text]).toEqual([400, expect.stringContaining('from 1 to 500')]);
});

test('every pattern of the API has its words', async () => {
  const { text } = await admin.call('GET', '/api/openapi.json');
  const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, quoted = '']) =>
    JSON.parse(quoted),
  );
  expect(patterns.length).toBeGreaterThan(5);
  expect(patterns.filter((pattern) => patternWords({ pattern }) === undefined)).toEqual([]);
});
