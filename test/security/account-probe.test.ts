// Whether a client can find out which accounts there are by asking for them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { PROTOCOL_CALLS, type ProtocolCall } from '../support/protocol-calls.ts';

const PASSWORD = 'the password of the console';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { ...STRICT, WEB_PASSWORD: PASSWORD } });
  const answer = await fetch(`${app.url}/api/accounts/env-sandbox-2/disable`, {
    method: 'POST',
    headers: { authorization: `Bearer ${PASSWORD}` },
  });
  expect(await answer.text()).toContain('key-2@env');
});
afterAll(() => app.close());

/** All that an answer shows, without ids and times. */
async function ask(call: ProtocolCall, account: string): Promise<object> {
  const question = { model: call.model, text: 'Hello', stream: false };
  const answer = await fetch(app.url + call.path(call.model, false), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${KEY}`,
      'x-preferred-account': account,
      'x-request-id': 'same',
      'x-session-id': `probe ${call.name}`,
    },
    body: JSON.stringify(call.body(question)),
  });
  const text = await answer.text();
  const headers = Object.fromEntries(answer.headers);
  for (const name of ['date', 'server-timing']) delete headers[name];
  return {
    status: answer.status,
    headers,
    text: text.replaceAll(/"(?:id|responseId|created)":(?:"[^"]*"|\d+)/g, '"id"'),
  };
}

test.each(PROTOCOL_CALLS)(
  '$name: an account that cannot be used and one that is not there are answered alike',
  async (call) => {
    const unknown = await ask(call, 'nobody@nowhere.example');
    expect(unknown).toMatchObject({ status: 200 });
    expect(await ask(call, 'key-2@env')).toEqual(unknown);
  },
);
