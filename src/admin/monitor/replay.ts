// `POST /api/requests/{id}/replay`: sends a recorded request again, to another account or model.

import type { XStatic } from 'typebox/schema';
import { isSameLabel } from '../../accounts/account.ts';
import type { CallRecord } from '../../canonical/call-record.ts';
import { asGatewayError, clientError, errorStatus, GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { TranscriptBlock } from '../../canonical/transcript.ts';
import type { CallContext, GenerateAnswer } from '../../dispatch/dispatcher.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import type { RequestRecord } from '../../monitor/record.ts';
import type { GenerateCall, RouteInput } from '../../protocols/protocol.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiInput, type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { findRequest } from './requests.ts';
import {
  cannotReplay,
  type GenerateRoute,
  judgeReplay,
  REPLAY_REQUEST_SCHEMA,
  REPLAY_SCHEMA,
  type ReplayJson,
} from './schemas.ts';

type ReplayOptions = Pick<
  MonitorRouteOptions,
  'book' | 'monitor' | 'clock' | 'protocols' | 'dispatcher' | 'createId'
>;

type ReplayInput = ApiInput<XStatic<typeof REPLAY_REQUEST_SCHEMA>, unknown>;

const MAX_BODY_CHARACTERS = 262_144;

export function createReplayRoute(options: ReplayOptions): ApiRoute {
  return defineRoute({
    at: 'POST /api/requests/{id}/replay',
    title: 'sends a recorded request again, to another account or model',
    parameter: 'Id of the request.',
    body: REPLAY_REQUEST_SCHEMA,
    answers: {
      200: {
        description: 'The new answer, also when it is an error, and how it differs.',
        schema: REPLAY_SCHEMA,
      },
    },
    async run(input) {
      const recorded = await findRequest(options.monitor, input.parameter);
      return answerJson(await replay(recorded, input, options));
    },
  });
}

async function replay(
  recorded: RequestRecord,
  input: ReplayInput,
  options: ReplayOptions,
): Promise<ReplayJson> {
  const { replay: verdict, found } = judgeReplay(recorded, options.protocols);
  if (found === undefined) throw cannotReplay(verdict);
  const asked = readAsked(recorded, input.body.model);
  const requestId = options.createId('req_');
  const record: CallRecord = { attempts: [], timings: {}, keepsAnswers: true };
  const context: CallContext = {
    requestId,
    clientKeyId: 'console',
    signal: input.signal,
    receipt: createReceipt(),
    strict: false,
    onlyAccount: findAccount(input.body.account, options)?.label,
    record,
  };
  const sent = await send({ recorded, route: found.route, asked, context }, options);
  const { error = record.error } = sent;
  const blocks = record.answers?.flatMap(({ transcript }) => transcript?.blocks ?? []) ?? [];
  const text = blocks.length === 0 ? (error?.message ?? '') : writeBlocks(blocks);
  const before = recorded.bodies?.response?.blocks;
  const body =
    sent.error === undefined
      ? sent.body
      : JSON.stringify(found.protocol.writeError(sent.error, { requestId }).body);
  return {
    status: statusOf(sent.error),
    headers: { 'x-request-id': requestId },
    body: body.slice(0, MAX_BODY_CHARACTERS),
    text,
    requestId,
    ...(record.accountLabel === undefined ? {} : { account: record.accountLabel }),
    ...(record.upstreamModel === undefined ? {} : { upstreamModel: record.upstreamModel }),
    differences: findDifferences(
      before ? writeBlocks(before) : (recorded.row.error?.text ?? ''),
      text,
    ),
  };
}

interface Sending {
  readonly recorded: RequestRecord;
  readonly route: GenerateRoute;
  readonly asked: Omit<RouteInput, 'receipt'>;
  readonly context: CallContext;
}

/** The monitor hears of it like of any other request. */
async function send(
  { recorded: { row, details }, route, asked, context }: Sending,
  options: ReplayOptions,
): Promise<{ readonly body: string; readonly error?: GatewayError | undefined }> {
  const { monitor, clock, dispatcher } = options;
  const { record, receipt, requestId } = context;
  const startedAt = clock.monotonic();
  let call: GenerateCall | undefined;
  let body = '';
  let error: GatewayError | undefined;
  monitor.observer.onBegin();
  try {
    call = await route.readCall({ ...asked, receipt });
    body = await readAnswer(await dispatcher.generate(call, context));
  } catch (thrown) {
    error = explain(asGatewayError(thrown), context, options);
    record.error = error;
  }
  const endedAtMonotonic = clock.monotonic();
  monitor.observer.onEnd({
    requestId,
    isIdGiven: false,
    protocol: row.protocol,
    route: details.route,
    pathModel: asked.pathModel,
    method: row.method,
    path: row.path,
    call: call && { model: call.model, stream: call.stream },
    body: asked.body,
    status: statusOf(error),
    clientKeyId: 'console',
    clientAddress: 'console',
    userAgent: undefined,
    session: undefined,
    credentials: [],
    receipt: receipt.entries,
    facts: record,
    endedAt: clock.now(),
    endedAtMonotonic,
    totalMs: endedAtMonotonic - startedAt,
    firstEventMs: record.committedAt === undefined ? undefined : record.committedAt - startedAt,
  });
  return { body, error };
}

function statusOf(error: GatewayError | undefined): number {
  return error === undefined ? 200 : errorStatus(error);
}

/** The words of the pool are of all accounts; here one alone was asked for. */
function explain(
  error: GatewayError,
  { onlyAccount, record }: CallContext,
  options: ReplayOptions,
): GatewayError {
  const asked = findAccount(onlyAccount, options);
  const found = record.passedOver?.[0];
  if (asked === undefined || found === undefined || record.attempts.length > 0) return error;
  const { kind, source, retryAfterMs } = error;
  const message = told`${asked.label} cannot serve this request now: ${found.verdict}.`;
  return new GatewayError({ kind, source, message, retryAfterMs });
}

/** @throws GatewayError invalid-request for a label no account has */
function findAccount(label: string | undefined, { book }: Pick<ReplayOptions, 'book'>) {
  if (label === undefined) return undefined;
  const found = book.list().find(({ record }) => isSameLabel(record.label, label));
  if (found !== undefined) return found.record;
  const message = told`account: there is no account "${label}". Names are listed under Accounts.`;
  throw clientError('invalid-request', message, { field: 'account' });
}

async function readAnswer(answer: GenerateAnswer): Promise<string> {
  if (answer.kind === 'reply') return JSON.stringify(answer.body);
  let text = '';
  for await (const chunk of answer.chunks) {
    if (text.length < MAX_BODY_CHARACTERS) text += chunk;
  }
  return text;
}

function readAsked(
  { details, bodies }: RequestRecord,
  model: string | undefined,
): Omit<RouteInput, 'receipt'> {
  const body = parseJson(bodies?.clientRequest?.text ?? '');
  if (!isJsonObject(body)) throw cannotReplay('in-part');
  const isInPath = details.pathModel !== '';
  return {
    pathModel: isInPath ? (model ?? details.pathModel) : '',
    query: new URLSearchParams(isInPath ? 'alt=sse' : ''),
    headers: {},
    body: isInPath || model === undefined ? body : { ...body, model },
  };
}

function writeBlocks(blocks: readonly TranscriptBlock[]): string {
  return blocks.map(writeBlock).join('\n');
}

function writeBlock(block: TranscriptBlock): string {
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return block.text;
    case 'tool-call':
      return `${block.name}(${block.arguments})`;
    case 'code':
      return block.code;
    case 'code-result':
      return block.output;
    case 'media':
      return `[${block.mediaType}, ${block.bytes} bytes]`;
    default:
      return block satisfies never;
  }
}

type TextDifference = ReplayJson['differences'][number];

/** Comparing takes the product of both: beyond so many lines a side, all of the middle counts as changed. */
const MAX_LINES = 1000;

/**
 * The lines in which two texts differ, those of one kind that follow one another together. In the order of the
 * texts: put together, `same` and `removed` are the first and `same` and `added` the second.
 */
export function findDifferences(before: string, after: string): TextDifference[] {
  const found: TextDifference[] = [];
  const add = (kind: TextDifference['kind'], lines: readonly string[]): void => {
    for (const text of lines) {
      const last = found.at(-1);
      if (last?.kind === kind) last.text += `\n${text}`;
      else found.push({ kind, text });
    }
  };
  const left = before.split('\n');
  const right = after.split('\n');
  const start = countSame(left, right);
  const end = countSame(left.slice(start).reverse(), right.slice(start).reverse());
  add('same', left.slice(0, start));
  compare(left.slice(start, left.length - end), right.slice(start, right.length - end), add);
  add('same', left.slice(left.length - end));
  return found;
}

function countSame(left: readonly string[], right: readonly string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count += 1;
  return count;
}

function compare(
  left: readonly string[],
  right: readonly string[],
  add: (kind: TextDifference['kind'], lines: readonly string[]) => void,
): void {
  let [row, column] = [0, 0];
  if (left.length <= MAX_LINES && right.length <= MAX_LINES) {
    const common = measureCommon(left, right);
    while (row < left.length && column < right.length) {
      const isSame = left[row] === right[column];
      const isRemoved = !isSame && common(row + 1, column) >= common(row, column + 1);
      if (isSame || isRemoved) add(isSame ? 'same' : 'removed', left.slice(row, row + 1));
      else add('added', right.slice(column, column + 1));
      if (isSame || isRemoved) row += 1;
      if (!isRemoved) column += 1;
    }
  }
  add('removed', left.slice(row));
  add('added', right.slice(column));
}

/** How many lines the rests behind two places have in common, in order. */
function measureCommon(
  left: readonly string[],
  right: readonly string[],
): (row: number, column: number) => number {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        left[row] === right[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  return at;
}
