// `POST /api/requests/{id}/replay`: sends a recorded request again, to another account or model, or in another protocol.

import type { XStatic } from 'typebox/schema';
import { isSameLabel } from '../../accounts/account.ts';
import type { CallRecord } from '../../canonical/call-record.ts';
import {
  asGatewayError,
  clientError,
  errorStatus,
  GatewayError,
  stoppedError,
} from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { KeptText, type TranscriptBlock } from '../../canonical/transcript.ts';
import type { CallContext, GenerateAnswer } from '../../dispatch/dispatcher.ts';
import { compareLines } from '../../lib/difference.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import type { EndedRequest, RequestRecord } from '../../monitor/record.ts';
import type {
  ClientProtocol,
  GenerateCall,
  GenerateRoute,
  RouteInput,
} from '../../protocols/protocol.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiInput, type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { cannotReplay, findRequest, findRoute, judgeReplay } from './requests.ts';
import {
  REPLAY_PROTOCOLS,
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
    access: 'operator',
    shows: 'nothing',
    title: 'sends a recorded request again, to another account or model, or in another protocol',
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
  const { protocol: wanted = recorded.row.protocol } = input.body;
  const into =
    wanted === recorded.row.protocol
      ? undefined
      : findAnswering(options.protocols, wanted, recorded.row.stream);
  const requestId = options.createId('req_');
  const record: CallRecord = { attempts: [], timings: {}, keepsAnswers: true };
  const stop = new AbortController();
  const context: ReplayContext = {
    requestId,
    clientKeyId: 'console',
    stop,
    signal: AbortSignal.any([input.signal, stop.signal]),
    receipt: createReceipt(),
    strict: false,
    onlyAccount: findAccount(input.body.account, options)?.label,
    record,
  };
  const sent = await send({ recorded, route: found.route, into, asked, context }, options);
  const { error = record.error } = sent;
  const blocks = record.answers?.flatMap(({ transcript }) => transcript?.blocks ?? []) ?? [];
  const text = blocks.length === 0 ? (error?.message ?? '') : writeBlocks(blocks);
  const before = recorded.bodies?.response?.blocks;
  const body =
    sent.error === undefined
      ? sent.body
      : JSON.stringify((into ?? found).protocol.writeError(sent.error, { requestId }).body);
  return {
    status: statusOf(sent.error),
    headers: { 'x-request-id': requestId },
    protocol: wanted,
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

/** Lines of one kind that follow one another are together. */
function findDifferences(before: string, after: string): ReplayJson['differences'] {
  const found: ReplayJson['differences'] = [];
  for (const { kind, text } of compareLines(before.split('\n'), after.split('\n'))) {
    const last = found.at(-1);
    if (last?.kind === kind) last.text += `\n${text}`;
    else found.push({ kind, text });
  }
  return found;
}

interface ReplayContext extends CallContext {
  readonly stop: AbortController;
}

interface Sending {
  readonly recorded: RequestRecord;
  readonly route: GenerateRoute;
  readonly into: Answering | undefined;
  readonly asked: Omit<RouteInput, 'receipt'>;
  readonly context: ReplayContext;
}

/** A route whose answers a request of another one is to have. */
interface Answering {
  readonly name: string;
  readonly route: GenerateRoute;
  readonly protocol: ClientProtocol;
  /** The least that such a route takes as a request. */
  readonly body: (model: string) => JsonObject;
}

type Replayed = (typeof REPLAY_PROTOCOLS)[number];

const QUESTION = [{ role: 'user', content: '-' }];

const ANSWERINGS: Readonly<
  Record<Replayed, { readonly path: string; readonly body: Answering['body'] }>
> = {
  chat: { path: '/v1/chat/completions', body: (model) => ({ model, messages: QUESTION }) },
  responses: { path: '/v1/responses', body: (model) => ({ model, input: '-', store: false }) },
  messages: {
    path: '/v1/messages',
    body: (model) => ({ model, max_tokens: 1, messages: QUESTION }),
  },
  generate: {
    path: '/v1beta/models/{model}:generateContent',
    body: () => ({ contents: [{ role: 'user', parts: [{ text: '-' }] }] }),
  },
};

function findAnswering(
  protocols: ReplayOptions['protocols'],
  wanted: string,
  isStream: boolean,
): Answering {
  const name = REPLAY_PROTOCOLS.find((one) => one === wanted) ?? 'chat';
  const { path, body } = ANSWERINGS[name];
  const streams = name === 'generate' && isStream;
  const found = findRoute(protocols, streams ? path.replace(':generate', ':streamGenerate') : path);
  if (found === undefined) throw new Error(`There is no route ${path}.`);
  return {
    ...{ name, ...found },
    body: (model) => (name === 'generate' ? body(model) : { ...body(model), stream: isStream }),
  };
}

/** What was asked, with the answer written as `into` has it: both lanes but that of its own wire take it. */
function answerAs(call: GenerateCall, { route, body }: Answering): GenerateCall {
  const { model, request, fanOut, session, bodySession } = call;
  const answering = route.readCall({
    pathModel: model,
    query: new URLSearchParams('alt=sse'),
    headers: {},
    body: body(model),
    receipt: createReceipt(),
  });
  return { ...answering, model, request, fanOut, relay: undefined, session, bodySession };
}

/** The monitor hears of it like of any other request. */
async function send(
  { recorded: { row, details }, route, into, asked, context }: Sending,
  options: ReplayOptions,
): Promise<{ readonly body: string; readonly error?: GatewayError | undefined }> {
  const { monitor, clock, dispatcher } = options;
  const { record, receipt, requestId } = context;
  const startedAt = clock.monotonic();
  const { name: protocol = row.protocol } = into ?? {};
  const path = into?.route.path ?? details.route;
  let call: GenerateCall | undefined;
  let body = '';
  let error: GatewayError | undefined;
  const running = {
    ...{ requestId, protocol, route: path, clientKeyId: 'console' },
    ...{ clientAddress: 'console', startedAt, facts: record, listIndex: -1, listedAs: 0 },
    call: undefined as EndedRequest['call'],
    credentials: () => [],
    stop: () => context.stop.abort(stoppedError()),
  };
  monitor.observer.onBegin(running);
  try {
    call = await route.readCall({ ...asked, receipt });
    if (into !== undefined) call = answerAs(call, into);
    running.call = { model: call.model, stream: call.stream };
    body = await readAnswer(await dispatcher.generate(call, context));
  } catch (thrown) {
    error = explain(asGatewayError(thrown), context, options);
    record.error = error;
  }
  const endedAtMonotonic = clock.monotonic();
  const ended: EndedRequest = {
    requestId,
    isIdGiven: false,
    protocol,
    route: path,
    pathModel: asked.pathModel,
    method: row.method,
    path: into === undefined ? row.path : path.replace('{model}', call?.model ?? ''),
    call: call && { model: call.model, stream: call.stream },
    // In the words of another protocol it would be none that can be sent again.
    body: into === undefined ? asked.body : undefined,
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
  };
  monitor.observer.onEnd(ended, running);
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

function findAccount(label: string | undefined, { book }: Pick<ReplayOptions, 'book'>) {
  if (label === undefined) return undefined;
  const found = book.list().find(({ record }) => isSameLabel(record.label, label));
  if (found !== undefined) return found.record;
  const message = told`account: there is no account "${label}". Names are listed under Accounts.`;
  throw clientError('invalid-request', message, { field: 'account' });
}

async function readAnswer(answer: GenerateAnswer): Promise<string> {
  if (answer.kind === 'reply') return JSON.stringify(answer.body);
  const kept = new KeptText();
  for await (const chunk of answer.chunks) kept.add(chunk);
  return kept.text;
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
