import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { type OAuthSandbox, startOAuthSandbox } from './oauth.test-support.ts';
import { ADA, ask, GRACE, model, text, user } from './sandbox.test-support.ts';

const PLACE = '/v1/projects/sandbox-ada/locations/europe-west4';
const MODEL = `${PLACE}/publishers/google/models/gemini-3-flash-preview`;

let sandbox: OAuthSandbox;
beforeAll(async () => {
  sandbox = await startOAuthSandbox();
});
afterAll(() => sandbox.close());

const generate = (body: JsonObject, path = `${MODEL}:generateContent`) =>
  sandbox.send(path, { body });

test('the models answer at the path of the own project, under their real names', async () => {
  const whole = await generate(ask('hi'));
  expect([whole.status, whole.json.modelVersion]).toEqual([200, 'gemini-3-flash-preview']);
  const stream = await generate(ask('hi'), `${MODEL}:streamGenerateContent?alt=sse`);
  expect(stream.text).toMatch(/^data: \{/);
  const beta = MODEL.replace('/v1/', '/v1beta1/').replace('europe-west4', 'global');
  expect((await generate(ask('hi'), `${beta}:generateContent`)).status).toBe(200);
});

test('access tokens open the path of their own project only', async () => {
  const { access } = await sandbox.signIn('zoe@sandbox.example');
  const headers = { authorization: `Bearer ${access}` };
  const own = `${MODEL.replace('sandbox-ada', 'sandbox-zoe')}:generateContent`;
  expect((await sandbox.send(own, { body: ask('hi'), headers })).status).toBe(200);
  const foreign = await sandbox.send(`${MODEL}:generateContent`, { body: ask('hi'), headers });
  expect(foreign.json).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
});

test('an API key opens the short paths of express mode, which name no project', async () => {
  const short = '/v1/publishers/google/models/gemini-3-flash-preview:generateContent';
  const send = (header: string) =>
    sandbox.send(short, { body: ask('hi'), headers: { authorization: '', [header]: ADA.key } });
  expect((await send('x-goog-api-key')).status).toBe(200);
  expect((await send('x-vendora-api-key')).status).toBe(401);
  const body = ask('hi', { project: ADA.project });
  expect((await generate(body, short)).status).toBe(400);
});

test('a foreign or made-up project is 404', async () => {
  for (const project of [GRACE.project, 'made-up']) {
    const path = `${MODEL.replace(ADA.project, project)}:generateContent`;
    expect((await generate(ask('hi'), path)).status).toBe(404);
  }
});

test('the neutral names are unknown there, as the real ones are elsewhere', async () => {
  const neutral = MODEL.replace('gemini-3-flash-preview', 'alpha-3-flash');
  expect((await generate(ask('hi'), `${neutral}:generateContent`)).status).toBe(404);
  const plain = '/v1beta/models/gemini-3-flash-preview:generateContent';
  expect((await generate(ask('hi'), plain)).status).toBe(404);
});

test('tools have their real names there', async () => {
  const real = await generate(ask('search', { tools: [{ googleSearch: {} }] }));
  expect(real.text).toContain('groundingMetadata');
  expect((await generate(ask('x', { tools: [{ google_search: {} }] }))).status).toBe(200);
  const neutral = await generate(ask('x', { tools: [{ vendoraSearch: {} }] }));
  expect(neutral.text).toMatch(/unknown field \\"vendoraSearch\\"/);
});

test('search stands beside functions there without being reported', async () => {
  const tools = [{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }];
  expect((await generate(ask('x', { tools }))).status).toBe(200);
  const toolConfig = { includeServerSideToolInvocations: true };
  const told = await generate(ask('x', { tools, toolConfig }));
  expect([told.status, told.text]).toEqual([400, expect.stringMatching(/unknown field/)]);
});

test('the rules are as strict there', async () => {
  const refusals: readonly (readonly [JsonObject, RegExp])[] = [
    [ask('x', { nope: 1 }), /unknown field/],
    [{ contents: [user(text('a')), model(text('')), user(text('b'))] }, /must not be empty/],
    [ask('x', { project: ADA.project }), /belongs into the path/],
    [ask('x', { model: 'models/other' }), /is not the model of the path/],
  ];
  for (const [body, says] of refusals) {
    const reply = await generate(body);
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(says)]);
  }
  const full = MODEL.slice('/v1/'.length);
  expect((await generate(ask('x', { model: full }))).status).toBe(200);
});

test('tokens are counted from a request whose fields stand at the top', async () => {
  const body = {
    ...ask('four characters a token'),
    systemInstruction: { parts: [text('four')] },
    tools: [{ googleSearch: {} }],
  };
  const counted = await generate(body, `${MODEL}:countTokens`);
  expect(counted.json).toMatchObject({ totalTokens: expect.any(Number) });
  expect(Number(counted.json.totalTokens)).toBeGreaterThan(7);
  const wrapped = { generateContentRequest: ask('x') };
  expect((await generate(wrapped, `${MODEL}:countTokens`)).status).toBe(400);
});

test('calls there run down the same quota', async () => {
  const before = await remaining();
  await generate(ask('hi'));
  expect(await remaining()).toBe(before - 1);
});

test('a used-up quota names the model as it was asked for', async () => {
  const account = ADA.email;
  await sandbox.send('/sandbox/quota', { body: { account, remaining: 0 } });
  const refused = await generate(ask('hi'));
  await sandbox.send('/sandbox/quota', { body: { account, remainingFraction: 1 } });
  expect(refused.json).toMatchObject({
    error: { code: 429, details: [{ metadata: { model: 'gemini-3-flash-preview' } }, {}] },
  });
});

test('faults and forbidden models hold there under both names', async () => {
  const forbid = (forbiddenModels: string[]) =>
    sandbox.send(`/sandbox/accounts/${ADA.email}`, { body: { forbiddenModels } });
  await forbid(['alpha-3-flash']);
  expect((await generate(ask('hi'))).status).toBe(403);
  await forbid([]);
  for (const name of ['alpha-3-flash', 'gemini-3-flash-preview']) {
    await sandbox.send('/sandbox/faults', { body: { model: name, status: 500 } });
    expect((await generate(ask('hi'))).status).toBe(500);
  }
});

test('the publisher lists its models', async () => {
  const { json } = await sandbox.send('/v1beta1/publishers/google/models');
  expect(json.publisherModels).toContainEqual(
    expect.objectContaining({ name: 'publishers/google/models/gemini-3-flash-preview' }),
  );
});

async function remaining(): Promise<number> {
  const { json } = await sandbox.send(`/sandbox/quota?account=${ADA.email}`);
  const [flash] = Array.isArray(json.models) ? json.models : [];
  return Number(JSON.parse(JSON.stringify(flash)).remaining);
}
