import { expect, test } from 'vitest';
import type { JsonObject } from '../../../lib/json.ts';
import type { KeptAnswers } from '../../../stored-responses/response-store.ts';
import { findEarlier } from './previous-response.ts';

/** Keeps an answer of this size for each item whose id begins with `kept`. */
function keep(size = 1) {
  const asked: string[] = [];
  const responses: KeptAnswers = {
    find: async () => undefined,
    findLatest: async () => undefined,
    findByItem: async (id) => {
      asked.push(id);
      if (!id.startsWith('kept')) return undefined;
      return { id: `resp_${id}`, previousId: undefined, input: [], response: answerOf(id), size };
    },
  };
  return { responses, asked };
}
const answerOf = (id: string): JsonObject => ({ output: [{ type: 'message', id }] });
const refer = (ids: readonly string[]) => ({
  input: ids.map((id) => ({ type: 'item_reference', id })),
});

test('an item that a request refers to again and again is looked for once', async () => {
  const { responses, asked } = keep();
  const { findItem } = await findEarlier(refer(['kept_1', 'rs_1', 'kept_1', 'rs_1']), responses);
  expect(asked).toEqual(['kept_1', 'rs_1']);
  expect(findItem('kept_1')).toMatchObject({ id: 'kept_1' });
});

test('one request has no more than 1,000 items looked for, others are not kept for it', async () => {
  const { responses, asked } = keep();
  const ids = Array.from({ length: 3000 }, (_, at) => `rs_${at}`);
  const { findItem } = await findEarlier(refer([...ids, 'kept_1']), responses);
  expect(asked).toHaveLength(1000);
  expect(findItem('kept_1')).toBeUndefined();
});

test('answers that are referred to are no larger together than a request may be', async () => {
  const { responses } = keep(30 * 1024 * 1024);
  const found = findEarlier(refer(['kept_1', 'kept_2', 'kept_3', 'kept_4']), responses);
  await expect(found).rejects.toMatchObject({ kind: 'too-large' });
});

test('what is missing of a conversation is told: its last answer, or what was before it', async () => {
  const last = { id: 'resp_2', previousId: 'resp_1', input: [], response: {}, size: 1 };
  const { responses } = keep();
  const kept = { ...responses, find: async (id: string) => (id === 'resp_2' ? last : undefined) };
  const goOn = (previous_response_id: string) => findEarlier({ previous_response_id }, kept);
  const lost = {
    kind: 'invalid-request',
    reason: 'thread-not-found',
    field: 'previous_response_id',
  };
  await expect(goOn('resp_1')).rejects.toMatchObject({
    ...lost,
    message: expect.stringContaining('There is no response "resp_1"'),
  });
  await expect(goOn('resp_2')).rejects.toMatchObject({
    ...lost,
    message: expect.stringContaining('The beginning of the conversation of "resp_2" is not kept'),
  });
});
