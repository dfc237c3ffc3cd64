// Accounts of two upstreams that have the same name: what each served is told of it, and not of the other.

import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const running: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of running.splice(0).toReversed()) await close();
});

async function startOver(): Promise<PoolApp> {
  const upstreams: Record<string, JsonObject> = {};
  for (const id of ['east', 'west']) {
    const upstream = await startRawUpstream(['house-1'], (response) => {
      const content = { role: 'model', parts: [{ text: `From the ${id}.` }] };
      const body = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    running.push(() => upstream.close());
    upstreams[id] = { profile: 'generic', base_url: upstream.url };
  }
  const app = await startPoolApp({ file: { upstreams } });
  running.push(() => app.close());
  return app;
}

const add = (app: PoolApp, upstream: string, named: JsonObject = {}): Promise<JsonObject> =>
  app.must('POST', '/api/accounts', {
    ...{ upstream, kind: 'api-key', key: `up-${upstream}-0123`, ...named },
  });

const ask = (app: PoolApp, model: string) =>
  app.must('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

const entries = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

test('accounts that nobody named have names of their own, whatever their upstream', async () => {
  const app = await startOver();
  expect(await add(app, 'east')).toMatchObject({ label: 'key-1', name: 'key-1' });
  expect(await add(app, 'west')).toMatchObject({ label: 'key-2', name: 'key-2' });
});

test('the younger of two accounts of the same label has its upstream in its name', async () => {
  const app = await startOver();
  expect(await add(app, 'east', { label: 'Ada' })).toMatchObject({ label: 'Ada', name: 'Ada' });
  app.clock.skip(1_000);
  expect(await add(app, 'west', { label: 'ada' })).toMatchObject({
    label: 'ada',
    name: 'ada (west)',
  });
  for (const model of ['east/house-1', 'west/house-1', 'west/house-1']) await ask(app, model);
  const records = entries((await app.must('GET', '/api/requests')).requests);
  expect(records.map(({ account }) => account)).toEqual(['ada (west)', 'ada (west)', 'Ada']);
  const { buckets } = await app.must('GET', '/api/usage?by=account');
  const used = entries(buckets).map(({ group, requests }) => `${group}: ${requests}`);
  expect(used.toSorted()).toEqual(['Ada: 1', 'ada (west): 2']);
  const outcomes = entries((await app.must('GET', '/api/outcomes')).accounts);
  expect(outcomes.map(({ account }) => account).toSorted()).toEqual(['Ada', 'ada (west)']);
});

test('an account is asked for by the name that requests have of it', async () => {
  const app = await startOver();
  await add(app, 'east', { label: 'Ada' });
  app.clock.skip(1_000);
  await add(app, 'west', { label: 'Ada' });
  const body = { model: 'house-1', messages: [{ role: 'user', content: 'Hi' }] };
  for (let nth = 0; nth < 3; nth += 1) {
    const answer = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-preferred-account': 'Ada (west)' },
      body: JSON.stringify(body),
    });
    expect(await answer.text()).toContain('From the west.');
  }
});

test('after a restart an account is as healthy as it was', async () => {
  const app = await startOver();
  await add(app, 'east', { label: 'Ada' });
  await add(app, 'west', { label: 'Bob' });
  const states = async (): Promise<unknown> =>
    entries((await app.must('GET', '/api/accounts')).accounts)
      .slice(0, 2)
      .map(({ condition }) => isJsonObject(condition) && condition.state);
  await ask(app, 'east/house-1');
  expect(await states()).toEqual(['healthy', 'untried']);
  await app.restart();
  await expect.poll(states).toEqual(['healthy', 'untried']);
});
