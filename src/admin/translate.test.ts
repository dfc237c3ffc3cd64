import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { parseJson } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { createProtocols } from '../protocols/index.ts';
import { createRouter } from '../routing/router.ts';
import { ownerInput } from './admin.test-support.ts';
import { createTranslateRoute } from './translate.ts';

const offered = Object.assign(new Set(['alpha-3-flash']), {
  isComplete: true,
  servedAs: (name: string) => (name === 'alpha-3-flash' ? name : undefined),
});

/** A route over a dispatcher that explains with the call's own canonical form. */
function translateWith(body: string) {
  const route = createTranslateRoute({
    protocols: createProtocols(),
    router: createRouter({ mapping: () => ({}), offered }),
    dispatcher: {
      explain: async (call, context) => {
        context.receipt.add('dropped', 'seed', told`no counterpart`);
        return {
          route: { target: call.model, webSearch: false },
          accountId: 'a',
          considered: [],
          upstreamId: 'sandbox',
          upstreamModel: call.model,
          lane: 'translate',
          canonical: call.request,
          upstreamBody: { contents: [] },
          receipt: context.receipt.entries,
        };
      },
    },
  });
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('body');
  return route.run(ownerInput(value));
}

test('a request of each protocol is shown with its canonical form and receipt', async () => {
  const bodies = {
    chat: '{"protocol":"chat","body":{"model":"m","messages":[{"role":"user","content":"Hi"}]}}',
    messages:
      '{"protocol":"messages","body":{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}}',
    generate: '{"protocol":"generate","model":"m","body":{"contents":[{"parts":[{"text":"Hi"}]}]}}',
  };
  for (const [protocol, body] of Object.entries(bodies)) {
    const answer = await translateWith(body);
    expect(answer.kind === 'json' && answer.body).toMatchObject({
      protocol,
      route: { target: 'm' },
      canonical: { turns: requestOf({ turns: [user('Hi')] }).turns },
      receipt: [{ action: 'dropped', path: 'seed' }],
    });
  }
});

test('the other surfaces of a protocol are named by their path', async () => {
  const ask = (path: string) =>
    translateWith(`{"protocol":"chat","path":"${path}","body":{"model":"m","input":"Hi"}}`);
  const answer = await ask('/v1/responses');
  expect(answer.kind === 'json' && answer.body).toMatchObject({
    protocol: 'chat',
    canonical: { turns: requestOf({ turns: [user('Hi')] }).turns },
  });
  await expect(
    translateWith(
      '{"protocol":"chat","path":"/v1/responses","body":{"model":"m","input":"Hi","previous_response_id":"resp_1"}}',
    ),
  ).rejects.toMatchObject({ kind: 'invalid-request', field: 'previous_response_id' });
  for (const path of ['/v1/messages', '/v1/models', '/v1/embeddings']) {
    await expect(ask(path)).rejects.toMatchObject({ field: 'path' });
  }
});

test.each([
  '"path":"/v1beta/models/m:generateContent","body":{',
  '"path":"/v1/models/m%3AstreamGenerateContent?alt=sse","body":{',
  '"body":{"model":"models/m",',
  '"path":"/v1beta/models/other:generateContent","model":"m","body":{"model":"another",',
])('the model of a native request is taken from where clients put it: %s', async (given) => {
  const answer = await translateWith(
    `{"protocol":"generate",${given}"contents":[{"parts":[{"text":"Hi"}]}]}}`,
  );
  expect(answer.kind === 'json' && answer.body).toMatchObject({ route: { target: 'm' } });
});

test('the path of a request may have a query', async () => {
  const answer = await translateWith(
    '{"protocol":"messages","path":"/v1/messages?beta=true","body":{"model":"m","max_tokens":5,' +
      '"messages":[{"role":"user","content":"Hi"}]}}',
  );
  expect(answer.kind === 'json' && answer.body).toMatchObject({ protocol: 'messages' });
});

test('a body that names no protocol is refused by field', async () => {
  await expect(translateWith('{"body":{}}')).rejects.toMatchObject({ field: 'protocol' });
  await expect(translateWith('{"protocol":"chat","body":3}')).rejects.toMatchObject({
    field: 'body',
  });
});
