import { expect, test } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.ts';
import { GatewayError } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { BackgroundRuns } from '../../../stored-responses/background-runs.ts';
import { createResponseStores } from '../../../stored-responses/response-store.ts';
import { STORED_RESPONSE_ROUTES } from '../../../surfaces/stored-responses.ts';
import type { StoredResponseInput } from '../../protocol.ts';
import { CONTEXT } from '../answers.test-support.ts';
import { BackgroundAnswer } from './background.ts';

function setUp() {
  const kept: JsonObject[] = [];
  const answer = new BackgroundAnswer({
    model: 'm',
    echo: { background: true },
    size: 1,
    isStreamed: false,
    put: (response) => void kept.push(response),
    end: (response) =>
      JSON.stringify(response).length < MOST ? Promise.resolve(kept.push(response) > 0) : undefined,
  });
  return { answer, kept };
}

/** Units an answer may have. */
const MOST = 5000;

function errorOf(kind: 'client-gone' | 'overloaded' | 'internal'): GatewayError {
  return new GatewayError({ kind, source: 'gateway', message: 'It stopped.' });
}

test('whatever comes first is how it ended', () => {
  const { answer, kept } = setUp();
  answer.queue(CONTEXT);
  answer.fail(errorOf('client-gone'));
  expect(answer.complete({ id: 'resp_1', status: 'completed' }, 9)).toBe(false);
  answer.fail(errorOf('internal'));
  expect(kept.map(({ status }) => status)).toEqual(['queued', 'cancelled']);
});

test('what the client was told and what it finds are one response', () => {
  const { answer, kept } = setUp();
  let count = 0;
  const createId = (prefix: string): string => {
    count += 1;
    return `${prefix}${count}`;
  };
  const { id, body } = answer.queue({ ...CONTEXT, createId });
  const context = answer.contextOf({ ...CONTEXT, createId, createdAt: CONTEXT.createdAt + 60 });
  expect([context.createId('resp_'), context.createId('msg_')]).toEqual([id, 'msg_2']);
  expect([context.createdAt, body.created_at]).toEqual([CONTEXT.createdAt, CONTEXT.createdAt]);
  expect(answer.complete({ id, status: 'completed' }, CONTEXT.createdAt + 60)).toBe(true);
  expect(kept.at(-1)).toEqual({ id, status: 'completed', completed_at: CONTEXT.createdAt + 60 });
});

test('a gateway that stops leaves a failed response with what there is of it', () => {
  const { answer, kept } = setUp();
  answer.queue(CONTEXT);
  answer.fail(errorOf('overloaded'), [{ id: 'msg_1', type: 'message' }]);
  expect(kept.at(-1)).toMatchObject({
    status: 'failed',
    error: { code: 'server_is_overloaded', message: 'It stopped.' },
    output: [{ id: 'msg_1' }],
  });
});

test('an answer too large to be kept is a failed response, and not one that never ends', () => {
  const { answer, kept } = setUp();
  const { id } = answer.queue(CONTEXT);
  answer.complete({ id, status: 'completed', output: ['x'.repeat(MOST)] }, CONTEXT.createdAt);
  expect(kept.at(-1)).toMatchObject({
    id,
    status: 'failed',
    error: { message: expect.stringContaining('too large') },
  });
});

test('one that was queued before the process began is failed, whoever looks', async () => {
  const responseStores = createResponseStores({ clock: createFakeClock(0), onFailure: () => {} });
  const responses = responseStores.of('k');
  const answer = new BackgroundAnswer({
    model: 'm',
    echo: { background: true },
    size: 1,
    isStreamed: false,
    put: (response) => void responses.put({ id: String(response.id), input: [], response }),
    end: (response) => responses.end({ id: String(response.id), input: [], response }),
  });
  const { id } = answer.queue(CONTEXT);
  const ignore = (): void => {};
  const runs = { clock: createFakeClock(), cancelled: ignore, givenUp: ignore };
  const input: StoredResponseInput = {
    id,
    query: new URLSearchParams(),
    responses,
    runs: new BackgroundRuns(runs).of('k'),
    body: {},
    createId: (prefix) => `${prefix}1`,
    now: 0,
  };
  for (const method of ['GET', 'POST'] as const) {
    const path = `/v1/responses/{id}${method === 'GET' ? '' : '/cancel'}`;
    const route = STORED_RESPONSE_ROUTES.find((one) => one.method === method && one.path === path);
    if (route?.operation !== 'kept-answers') throw new Error(`no route ${path}`);
    expect(await route.run(input)).toMatchObject({
      id,
      status: 'failed',
      error: { code: 'server_error', message: expect.stringContaining('stopped') },
    });
  }
});
