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
import { findDifferences } from './text-difference.ts';

type ReplayOptions = Pick<
  MonitorRouteOptions,
  'book' | 'monitor' | 'clock' | 'protocols' | 'dispatcher' | 'createId'
>;

type ReplayInput = ApiInput<XStatic<typeof REPLAY_REQUEST_SCHEMA>, unknown>;

const MAX_BODY_CHARACTERS = 262_144;

export function createReplayRoute(options: ReplayOptions): ApiRoute {
  return defineRoute({
    at: 'POST /api/requests/{id}/replay',
    access: 'operator',
    shows: 'nothing',
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
