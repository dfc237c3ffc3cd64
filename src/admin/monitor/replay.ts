// `POST /api/requests/{id}/replay`: sends a recorded request again, to another account or model.

import type { XStatic } from 'typebox/schema';
import { isSameLabel } from '../../accounts/account.ts';
import { asGatewayError, errorStatus, GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { TranscriptBlock } from '../../canonical/transcript.ts';
import type { CallContext, CallRecord, GenerateAnswer } from '../../dispatch/dispatcher.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import type { RequestRecord } from '../../monitor/record.ts';
import type { GenerateCall, RouteInput } from '../../protocols/protocol.ts';
import { type ApiInput, type ApiRoute, answerJson, defineRoute } from '../route.ts';
import type { MonitorRouteOptions } from './options.ts';
import { findRequest } from './requests.ts';
import {
  cannotReplay,
  type GenerateRoute,
  judgeReplay,
  REPLAY_REQUEST_SCHEMA,
  REPLAY_SCHEMA,
  type ReplayJson,
} from './schemas.ts';

export type ReplayOptions = Pick<
  MonitorRouteOptions,
  'book' | 'monitor' | 'clock' | 'protocols' | 'dispatcher' | 'createId'
>;

type ReplayInput = ApiInput<XStatic<typeof REPLAY_REQUEST_SCHEMA>, unknown>;

const MAX_BODY_CHARACTERS = 262_144;

export function createReplayRoute(options: ReplayOptions): ApiRoute {
  return defineRoute({
    method: 'POST',
    path: '/api/requests/{id}/replay',
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
  const { route, protocol } = found;
  const asked = readAsked(recorded, input.body.model);
  const requestId = options.createId('req_');
  const record: CallRecord = { attempts: [], timings: {}, keepsAnswers: true };
  const context: CallContext = {
    requestId,
    clientKeyId: 'console',
    signal: input.signal,
    receipt: createReceipt(),
    strict: false,
    headerSession: undefined,
    preferredAccount: undefined,
    onlyAccount: findAccount(input.body.account, options)?.label,
    preferredTier: undefined,
    record,
  };
  const run = new ReplayRun(recorded, { route, context, options });
  const outcome = await run.send({ ...asked, receipt: context.receipt });
  const error = outcome.error ?? record.error;
  const status = outcome.error === undefined ? 200 : errorStatus(outcome.error);
  const body =
    outcome.error === undefined
      ? outcome.body
      : JSON.stringify(protocol.writeError(outcome.error, { requestId }).body);
  const blocks = record.answers?.flatMap(({ transcript }) => transcript?.blocks ?? []) ?? [];
  const text = blocks.length === 0 ? (error?.message ?? '') : writeBlocks(blocks);
  const before = recorded.bodies?.response?.blocks;
  return {
    status,
    headers: { 'x-request-id': requestId },
    body: body.slice(0, MAX_BODY_CHARACTERS),
    text,
    requestId,
    ...(record.accountLabel === undefined ? {} : { account: record.accountLabel }),
    ...(record.upstreamModel === undefined ? {} : { upstreamModel: record.upstreamModel }),
    differences: [
      ...findDifferences(before ? writeBlocks(before) : (recorded.row.error ?? ''), text),
    ],
  };
}

interface ReplayOutcome {
  readonly body: string;
  readonly error: GatewayError | undefined;
}

/** One replay, which the monitor hears of like any other request. */
class ReplayRun {
  readonly #recorded: RequestRecord;
  readonly #route: GenerateRoute;
  readonly #context: CallContext;
  readonly #options: ReplayOptions;

  constructor(
    recorded: RequestRecord,
    parts: {
      readonly route: GenerateRoute;
      readonly context: CallContext;
      readonly options: ReplayOptions;
    },
  ) {
    this.#recorded = recorded;
    this.#route = parts.route;
    this.#context = parts.context;
    this.#options = parts.options;
  }

  async send(input: RouteInput): Promise<ReplayOutcome> {
    const { monitor, clock } = this.#options;
    const startedAt = clock.monotonic();
    let call: GenerateCall | undefined;
    let outcome: ReplayOutcome = { body: '', error: undefined };
    monitor.observer.onBegin();
    try {
      call = await this.#route.readCall(input);
      const answer = await this.#options.dispatcher.generate(call, this.#context);
      outcome = { body: await readAnswer(answer), error: undefined };
    } catch (error) {
      outcome = { body: '', error: this.#explain(asGatewayError(error)) };
      this.#context.record.error = outcome.error;
    } finally {
      this.#report(input, { call, outcome, startedAt });
    }
    return outcome;
  }

  /** The words of the pool are of all accounts; here one alone was asked for. */
  #explain(error: GatewayError): GatewayError {
    const { onlyAccount, record } = this.#context;
    const asked = findAccount(onlyAccount, this.#options);
    const found = record.passedOver?.[0];
    if (asked === undefined || found === undefined || record.attempts.length > 0) return error;
    return new GatewayError({
      kind: error.kind,
      source: error.source,
      message: told`${asked.label} cannot serve this request now: ${found.verdict}.`,
      retryAfterMs: error.retryAfterMs,
    });
  }

  #report(
    { body, pathModel }: RouteInput,
    ended: {
      readonly call: GenerateCall | undefined;
      readonly outcome: ReplayOutcome;
      readonly startedAt: number;
    },
  ): void {
    const { monitor, clock } = this.#options;
    const { call, startedAt, outcome } = ended;
    const { record, receipt, requestId } = this.#context;
    const { row, details } = this.#recorded;
    const endedAtMonotonic = clock.monotonic();
    monitor.observer.onEnd({
      requestId,
      isIdGiven: false,
      protocol: row.protocol,
      route: details.route,
      pathModel,
      method: row.method,
      path: row.path,
      call: call && { model: call.model, stream: call.stream },
      body,
      status: outcome.error === undefined ? 200 : errorStatus(outcome.error),
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
  }
}

/** @throws GatewayError invalid-request for a label no account has */
function findAccount(label: string | undefined, { book }: Pick<ReplayOptions, 'book'>) {
  if (label === undefined) return undefined;
  const found = book.list().find(({ record }) => isSameLabel(record.label, label));
  if (found !== undefined) return found.record;
  throw new GatewayError({
    kind: 'invalid-request',
    source: 'client',
    field: 'account',
    message: told`account: there is no account "${label}". Names are listed under Accounts.`,
  });
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
    body: isInPath || model === undefined ? body : withModel(body, model),
  };
}

function withModel(body: JsonObject, model: string): JsonObject {
  return { ...body, model };
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

/** The lines in which two texts differ. */
export interface TextDifference {
  readonly kind: 'same' | 'removed' | 'added';
  /** Lines of one kind that follow one another. */
  readonly text: string;
}

/** Comparing takes the product of both: beyond so many lines a side, all of the middle counts as changed. */
const MAX_LINES = 1000;

/** In the order of the texts; put together, `same` and `removed` are the first and `same` and `added` the second. */
export function findDifferences(before: string, after: string): readonly TextDifference[] {
  const left = before.split('\n');
  const right = after.split('\n');
  const start = countSame(left, right);
  const end = countSame(left.slice(start).reverse(), right.slice(start).reverse());
  const lines = [
    ...left.slice(0, start).map((text): TextDifference => ({ kind: 'same', text })),
    ...compare(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map((text): TextDifference => ({ kind: 'same', text })),
  ];
  return join(lines);
}

function countSame(left: readonly string[], right: readonly string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count += 1;
  return count;
}

function compare(left: readonly string[], right: readonly string[]): TextDifference[] {
  const removed = (text: string): TextDifference => ({ kind: 'removed', text });
  const added = (text: string): TextDifference => ({ kind: 'added', text });
  if (left.length > MAX_LINES || right.length > MAX_LINES) {
    return [...left.map(removed), ...right.map(added)];
  }
  const common = measureCommon(left, right);
  const lines: TextDifference[] = [];
  let [row, column] = [0, 0];
  while (row < left.length && column < right.length) {
    const text = left[row] ?? '';
    if (text === right[column]) {
      lines.push({ kind: 'same', text });
      row += 1;
      column += 1;
    } else if (common(row + 1, column) >= common(row, column + 1)) {
      lines.push(removed(text));
      row += 1;
    } else {
      lines.push(added(right[column] ?? ''));
      column += 1;
    }
  }
  return [...lines, ...left.slice(row).map(removed), ...right.slice(column).map(added)];
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

function join(lines: readonly TextDifference[]): readonly TextDifference[] {
  const joined: TextDifference[] = [];
  for (const line of lines) {
    const last = joined.at(-1);
    if (last?.kind !== line.kind) joined.push(line);
    else joined[joined.length - 1] = { kind: line.kind, text: `${last.text}\n${line.text}` };
  }
  return joined;
}
