// Keys and address rules that somebody changes are told to every open page.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';

const PASSWORD = 'the-password-of-this-test';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ file: { admin_password: PASSWORD } });
});
afterAll(() => app.close());

async function api(method: string, path: string, body?: object): Promise<string> {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${PASSWORD}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.ok).toBe(true);
  const read = answer.status === 204 ? {} : parseJson(await answer.text());
  const made = isJsonObject(read) && isJsonObject(read.key) ? read.key : read;
  return isJsonObject(made) ? String(made.id) : '';
}

/** Reads the live feed until so many of the events were told; gives the ids they name. */
async function hear(kind: string, count: number, act: () => Promise<void>) {
  const leaving = new AbortController();
  const answer = await fetch(`${app.url}/api/events`, {
    headers: { authorization: `Bearer ${PASSWORD}` },
    signal: leaving.signal,
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? '';
  await act();
  const told = () =>
    [...text.matchAll(new RegExp(`event: ${kind}\ndata: {"id":"([^"]+)"}\n\n`, 'g'))].map(
      ([, id]) => id,
    );
  while (told().length < count) {
    const piece = await reader?.read();
    if (piece?.value === undefined) throw new Error('The feed ended.');
    text += piece.value;
  }
  leaving.abort();
  return told();
}

test.each([
  ['key', '/api/keys', { name: 'Ada' }, { tokensPerMinute: 5 }],
  ['address-rule', '/api/address-rules', { list: 'deny', range: '192.0.2.1' }, { note: 'lab' }],
] as const)(
  'a %s that is made, changed and removed is told each time',
  async (kind, path, made, change) => {
    let id = '';
    const told = await hear(kind, 3, async () => {
      id = await api('POST', path, made);
      await api('PATCH', `${path}/${id}`, change);
      await api('DELETE', `${path}/${id}`);
    });
    expect(told).toEqual([id, id, id]);
  },
);
