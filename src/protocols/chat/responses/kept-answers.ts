// The routes of kept responses: reading one, its input items, deleting and cancelling it.

import { GatewayError, invalidRequest } from '../../../canonical/error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { KeptAnswer } from '../../../shelf/answer-shelf.ts';
import type { RunState } from '../../../shelf/background-runs.ts';
import type { KeptAnswersInput, ProtocolRoute } from '../../protocol.ts';
import { isAnswerId, unknownAnswer } from './earlier.ts';
import { writeItemPage } from './item-page.ts';
import { failedError } from './response-object.ts';

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
    title: 'ends a response that is made in the background',
    run: cancelAnswer,
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

/** One that is still being made is ended first. */
async function removeAnswer(input: KeptAnswersInput): Promise<JsonObject> {
  await input.runs.cancel(input.id, cancelled());
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

/** One that has ended is shown as it ended, as the real service does. */
async function cancelAnswer(input: KeptAnswersInput): Promise<JsonObject> {
  await input.runs.cancel(input.id, cancelled());
  const { response } = await find(input);
  if (response.background === true) return response;
  throw invalidRequest(
    'response_id',
    'Only responses made in the background can be cancelled; close the connection of a stream.',
    'unsupported',
  );
}

async function find({ id, shelf, runs }: KeptAnswersInput): Promise<KeptAnswer> {
  const answer = isAnswerId(id) ? await shelf.find(id) : undefined;
  if (answer === undefined) throw unknownAnswer(id, 'response_id');
  return { ...answer, response: stateNow(answer.response, runs.stateOf(id)) };
}

/** What was queued and is made no more was cut off with the process that made it. */
function stateNow(response: JsonObject, state: RunState | undefined): JsonObject {
  if (response.status !== 'queued') return response;
  if (state !== undefined) return { ...response, status: state };
  const message = 'The gateway stopped while this response was being made. Send the request again.';
  return { ...response, status: 'failed', error: failedError({ code: 'server_error', message }) };
}

function cancelled(): GatewayError {
  return new GatewayError({
    kind: 'client-gone',
    source: 'client',
    message: 'The response was cancelled.',
  });
}

function idOf(item: JsonObject, answer: KeptAnswer, index: number): string {
  return typeof item.id === 'string' ? item.id : `item_${answer.id.slice(-24)}_${index}`;
}
