// The routes of kept responses: reading one, its input items, deleting and cancelling it.

import { GatewayError, invalidRequest } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { KeptAnswer } from '../../../shelf/answer-shelf.ts';
import type { KeptAnswersInput, ProtocolRoute } from '../../protocol.ts';
import { isAnswerId, unknownAnswer } from './earlier.ts';
import { writeItemPage } from './item-page.ts';

const ONE = '/v1/responses/{model}';

/** Sources: platform.openai.com, "Responses" API reference; `openai` resources/responses. */
export const KEPT_ANSWER_ROUTES: readonly ProtocolRoute[] = [
  route('GET', ONE, { title: 'shows a kept response', run: readAnswer }),
  route('DELETE', ONE, { title: 'deletes a kept response', run: removeAnswer }),
  route('GET', `${ONE}/input_items`, {
    title: 'lists what a kept response was asked with',
    run: listInput,
  }),
  route('POST', `${ONE}/cancel`, {
    title: 'is refused: nothing runs in the background',
    run: refuseCancel,
  }),
  route('POST', '/v1/responses/compact', {
    title: 'is always a 404: clients then compact by themselves',
    run: refuseCompact,
  }),
];

function route(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  rest: Pick<Extract<ProtocolRoute, { operation: 'kept-answers' }>, 'title' | 'run'>,
): ProtocolRoute {
  return { operation: 'kept-answers', method, path, ...rest };
}

async function readAnswer(input: KeptAnswersInput): Promise<JsonObject> {
  for (const key of ['stream', 'starting_after']) {
    const value = input.query.get(key);
    if (value === null || value === 'false') continue;
    throw invalidRequest(
      key,
      `${key}: a kept response comes whole, and no stream of it can be gone on with; leave ${key} out.`,
      'unsupported',
    );
  }
  return (await find(input)).response;
}

async function removeAnswer(input: KeptAnswersInput): Promise<JsonObject> {
  if (!(await input.shelf.remove(input.id))) throw unknownAnswer(input.id, 'response_id');
  return { id: input.id, object: 'response', deleted: true };
}

/** Newest first unless asked otherwise, as the real service lists them. */
async function listInput(input: KeptAnswersInput): Promise<JsonObject> {
  const { query } = input;
  const answer = await find(input);
  const items = answer.input.map((item, index) => ({ ...item, id: idOf(item, answer, index) }));
  return writeItemPage(items, query);
}

async function refuseCancel(input: KeptAnswersInput): Promise<JsonObject> {
  await find(input);
  throw invalidRequest(
    'response_id',
    'Only responses made in the background can be cancelled; close the connection of a stream.',
    'unsupported',
  );
}

/** Clients that compact by themselves go on when this is not there. */
async function refuseCompact(): Promise<JsonObject> {
  throw new GatewayError({
    kind: 'not-found',
    source: 'client',
    message:
      'Conversations are not compacted here. Summarise with POST /v1/responses, or send a shorter input.',
  });
}

async function find({ id, shelf }: KeptAnswersInput): Promise<KeptAnswer> {
  const answer = isAnswerId(id) ? await shelf.find(id) : undefined;
  if (answer === undefined) throw unknownAnswer(id, 'response_id');
  return answer;
}

function idOf(item: JsonObject, answer: KeptAnswer, index: number): string {
  return typeof item.id === 'string' ? item.id : `item_${answer.id.slice(-24)}_${index}`;
}
