// What surrounds a call: its headers, its deadline, its report, and what it takes of limits and budgets.

import type { BudgetUnit } from '../access/budgets.ts';
import type { CallCost, CallUse, MostUse } from '../access/usage-meter.ts';
import { gatewayError, invalidRequest, stoppedError } from '../canonical/error.ts';
import { UNTOLD_LIMITS } from '../canonical/model.ts';
import { promptSize } from '../canonical/prompt-size.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { KeptText } from '../canonical/transcript.ts';
import { outputTokens, totalTokens } from '../canonical/usage.ts';
import type { CallContext } from '../dispatch/dispatcher.ts';
import { STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import { type EndedRequest, wantedAnswers } from '../monitor/record.ts';
import type {
  CountTokensCall,
  EmbedCall,
  GenerateCall,
  ProtocolRoute,
  RouteInput,
} from '../protocols/protocol.ts';
import { understood } from '../protocols/relayed-request.ts';
import { HEADER_SPELLINGS } from '../wire/vocabulary.ts';
import type { Exchange, ObservedCall } from './edge.ts';
import type { BodyInput } from './gates/body.ts';
import { protocolOf, sendError } from './respond.ts';
import type { HeaderMap } from './settings.ts';

type Tier = NonNullable<CallContext['preferredTier']>;

const TIERS: readonly Tier[] = ['ultra', 'pro', 'free'];
const MAX_SESSION_CHARACTERS = 256;
/** The longest e-mail address there is (RFC 5321). */
const MAX_ACCOUNT_CHARACTERS = 320;
/** Official header first, then what clients send by themselves. */
const SESSION_HEADERS = ['x-session-id', 'session-id', 'x-session-affinity'] as const;

/** @throws GatewayError invalid-request naming the header. */
export function readCallContext(exchange: Exchange): CallContext {
  const { headers, clientKeyId } = exchange;
  const { keys } = exchange.edge.access;
  return {
    answerTokens: exchange.answerTokens,
    requestId: exchange.requestId,
    clientKeyId,
    mayUse: (model) => keys.allows(clientKeyId, model),
    signal: exchange.abort.signal,
    receipt: exchange.receipt,
    record: exchange.record,
    isLarge: exchange.heldBytes >= STEPWISE_FROM_BYTES,
    strict: headers['x-isthmus-strict'] === '1' || headers['x-isthmus-strict'] === 'true',
    isFallbackOff: headers['x-isthmus-fallback']?.trim().toLowerCase() === 'off',
    headerSession: readSession(headers),
    preferredAccount:
      headers['x-preferred-account'] === undefined
        ? undefined
        : readLimited(headers, 'x-preferred-account', MAX_ACCOUNT_CHARACTERS),
    preferredTier: headers['x-model-tier'] === undefined ? undefined : readTier(headers),
  };
}

function readSession(headers: HeaderMap): string | undefined {
  for (const name of SESSION_HEADERS) {
    if (headers[name] === undefined) continue;
    const session = readLimited(headers, name, MAX_SESSION_CHARACTERS);
    if (session !== undefined) return session;
  }
  for (const name of HEADER_SPELLINGS.codingCliSession) {
    const session = headers[name];
    if (session) return session.length > MAX_SESSION_CHARACTERS ? undefined : session;
  }
  return undefined;
}

function readLimited(headers: HeaderMap, name: string, maxLength: number): string | undefined {
  const value = headers[name]?.trim();
  if (value === undefined || value === '') return undefined;
  if (value.length <= maxLength) return value;
  throw invalidRequest(name, `The header ${name} is longer than ${maxLength} characters.`);
}

function readTier(headers: HeaderMap): Tier | undefined {
  const value = headers['x-model-tier']?.trim().toLowerCase();
  if (value === undefined || value === '') return undefined;
  const tier = TIERS.find((known) => known === value);
  if (tier !== undefined) return tier;
  throw invalidRequest('x-model-tier', 'The header x-model-tier must be ultra, pro or free.');
}

/** Aborts with a `timeout` error after `limitMs`. Cancel the timer when the answer is there. */
export function startDeadline(clock: Clock, abort: AbortController, limitMs: number): Timer {
  return clock.startTimer(limitMs, () => {
    const message = `No answer within ${Math.round(limitMs / 1000)} seconds. Try a shorter request, or stream the answer.`;
    abort.abort(gatewayError('timeout', message));
  });
}

/** Answers in the time of a request, or with the reason of its abort. `run` may cancel the deadline. */
export async function answerInTime(
  exchange: Exchange,
  run: (deadline: Timer) => Promise<void>,
): Promise<void> {
  const { edge, abort, settings } = exchange;
  const deadline = startDeadline(edge.clock, abort, settings.requestTimeoutMs);
  const onAbort = (): void => sendError(exchange, abort.signal.reason);
  abort.signal.addEventListener('abort', onAbort, { once: true });
  try {
    await run(deadline);
  } finally {
    deadline.cancel();
    abort.signal.removeEventListener('abort', onAbort);
  }
}

export function bodyInput(exchange: Exchange): BodyInput {
  const { edge, request, response, settings } = exchange;
  return {
    request,
    response,
    maxBytes: settings.maxBodyBytes,
    clock: edge.clock,
    bodies: edge.bodies,
    holder: exchange,
  };
}

/** Model lists and kept answers ask no model anything. */
const OPERATIONS: readonly ProtocolRoute['operation'][] = ['generate', 'count-tokens', 'embed'];

/** Call once the request has passed its gates. */
export function observeRoute(
  exchange: Exchange,
  { route, pathModel }: { readonly route: ProtocolRoute; readonly pathModel: string },
): void {
  const { observer } = exchange.edge;
  if (observer === undefined || !OPERATIONS.includes(route.operation)) return;
  const { path, operation } = route;
  const recordedAs = 'recordedAs' in route ? route.recordedAs : undefined;
  const { protocol: offered = protocolOf(exchange) } = exchange;
  const protocol = recordedAs ?? offered.name;
  const { requestId, clientKeyId, clientAddress, startedAt, record: facts, abort } = exchange;
  const observed: ObservedCall = {
    ...{ requestId, route: path, operation, protocol, pathModel },
    ...{ clientKeyId, clientAddress, startedAt, facts, listIndex: -1, listedAs: 0 },
    ...{ bodyModel: undefined, call: undefined, body: undefined },
    credentials: () => exchange.credentials,
    stop: () => abort.abort(stoppedError()),
  };
  exchange.observed = observed;
  if (observer.keepsBodies) {
    facts.keepsAnswers = true;
    facts.sentBody = new KeptText();
  }
  observer.onBegin(observed);
}

/** Call when the body is there, before it is understood. */
export function observeBody(
  { observed, record }: Exchange,
  { body, files }: Pick<RouteInput, 'body' | 'files'>,
): void {
  if (observed === undefined) return;
  const { model } = body;
  // What is refused next should be found by the model it was meant for.
  observed.bodyModel = typeof model === 'string' ? model : undefined;
  observed.isForm = files !== undefined;
  if (record.keepsAnswers === true) observed.body = body;
}

export function observeCall(
  { observed }: Exchange,
  {
    model,
    stream,
    asked,
  }: { readonly model: string; readonly stream?: boolean } & Pick<ObservedCall, 'asked'>,
): void {
  if (observed === undefined) return;
  observed.call = { model, stream: stream ?? false };
  observed.asked = asked;
}

/** For work that outlasts its response. Call the function it returns when that work has ended. */
export function observeDetached(exchange: Exchange): (status: number) => void {
  const { observed } = exchange;
  exchange.observed = undefined;
  return (status) => {
    if (observed !== undefined) observeEnd(exchange, observed, status);
  };
}

/** Call when the response is closed. Only notes what was seen; the monitor works on it later. */
export function observeEnd(exchange: Exchange, observed: ObservedCall, status: number): void {
  const { edge, record, request, headers, startedAt } = exchange;
  const endedAtMonotonic = edge.clock.monotonic();
  const ended: EndedRequest = {
    requestId: exchange.requestId,
    isIdGiven: headers['x-request-id'] === exchange.requestId,
    protocol: observed.protocol,
    route: observed.route,
    operation: observed.operation,
    pathModel: observed.pathModel,
    bodyModel: observed.bodyModel,
    method: request.method ?? 'POST',
    path: exchange.path,
    call: observed.call,
    asked: observed.asked,
    body: observed.body,
    isForm: observed.isForm,
    status,
    clientKeyId: exchange.clientKeyId,
    clientAddress: exchange.clientAddress,
    userAgent: headers['user-agent'],
    session: headers['x-session-id'] ?? headers['session-id'],
    traceparent: headers.traceparent,
    credentials: exchange.credentials,
    receipt: exchange.receipt.entries,
    facts: record,
    endedAt: edge.clock.now(),
    endedAtMonotonic,
    totalMs: endedAtMonotonic - startedAt,
    firstEventMs: record.committedAt === undefined ? undefined : record.committedAt - startedAt,
  };
  edge.observer?.onEnd(ended, observed);
}

type MeteredCall =
  | { readonly operation: 'generate'; readonly call: GenerateCall }
  | { readonly operation: 'embed'; readonly call: EmbedCall }
  /** Nothing is made. */
  | { readonly operation: 'count-tokens'; readonly call: Pick<CountTokensCall, 'model'> };

/** Text is about this many bytes a token; media in it would make a reservation absurd, so it has a cap. */
const BYTES_PER_TOKEN = 4;
const MAX_INPUT_TOKENS = 4_000;
/** What an answer is taken for until it is there, where the client sets no limit. */
const ANSWER_TOKENS = 500;
/** What budgets take a prompt for: more than the estimate, as some texts have more tokens than most. */
const PROMPT_MARGIN = 1.25;

/** @throws GatewayError forbidden, rate-limited or quota-exhausted; and whatever `run` throws */
export async function metered(
  exchange: Exchange,
  metering: MeteredCall,
  run: () => Promise<void>,
): Promise<void> {
  const { keys, budgets } = exchange.edge.access;
  const { clientKeyId, record } = exchange;
  if (keys.isEmpty && budgets.isEmpty) {
    await run();
    // A budget may have been made meanwhile.
    if (!budgets.isEmpty && record.error === undefined) {
      keys.countLate(clientKeyId, readUse(exchange, NO_COST, 'answered'));
    }
    return;
  }
  const cost = await estimateCost(exchange, metering);
  exchange.limits = () => keys.limitStates(clientKeyId);
  const admitted = keys.admit(clientKeyId, { model: metering.call.model, ...cost });
  const reservation = admitted instanceof Promise ? await admitted : admitted;
  exchange.answerTokens = reservation.answerTokens;
  noteShorter(exchange);
  const settle = (outcome: 'answered' | 'failed'): void =>
    reservation.settle(readUse(exchange, cost, outcome));
  try {
    await run();
  } catch (error) {
    settle('failed');
    throw error;
  }
  settle(record.error === undefined ? 'answered' : 'failed');
}

/** Where nothing is counted when a call begins. */
const NO_COST: CallCost = { tokens: 0, images: 0 };

async function estimateCost(exchange: Exchange, metering: MeteredCall): Promise<CallCost> {
  const { clientKeyId, edge } = exchange;
  const { model } = metering.call;
  const units = edge.access.keys.unitsFor(clientKeyId);
  const needsImages = units.has('images') || units.has('money');
  const asked = readAsked(metering);
  const images = needsImages ? await countImages(exchange, model, asked) : 0;
  return {
    tokens: estimateTokens(exchange, metering, asked),
    images,
    most: await estimateMost(exchange, metering, { ...asked, units, images }),
  };
}

function noteShorter({ receipt, answerTokens }: Exchange): void {
  if (answerTokens === undefined) return;
  receipt.add('capped', 'max_tokens', told`A budget leaves ${answerTokens} tokens for the answer.`);
}

interface Asked {
  readonly request: CanonicalRequest | undefined;
  readonly answers: number;
}

function readAsked({ operation, call }: MeteredCall): Asked {
  if (operation !== 'generate') return { request: undefined, answers: 0 };
  const request = understood(call);
  const { fanOut, relay } = call;
  const answers = wantedAnswers(request ?? { choices: relay?.choices ?? 1 }, fanOut);
  return { request, answers };
}

/** What it may use at most as far as is known: the input by its size, and the answer that the client allows. */
function estimateTokens(
  { headers }: Exchange,
  { operation }: MeteredCall,
  { request, answers }: Asked,
): number {
  if (operation === 'count-tokens') return 0;
  const bytes = Number(headers['content-length'] ?? 0);
  const input = Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), MAX_INPUT_TOKENS);
  return input + (request?.maxOutputTokens ?? ANSWER_TOKENS) * answers;
}

interface Counted extends Asked {
  readonly units: ReadonlySet<BudgetUnit>;
  readonly images: number;
}

/** The prompt with a margin, and the longest possible answer; undefined where no budget counts either. */
async function estimateMost(
  { edge, headers }: Exchange,
  { operation, call: { model } }: MeteredCall,
  { request, answers, units, images }: Counted,
): Promise<MostUse | undefined> {
  if (operation === 'count-tokens' || !(units.has('tokens') || units.has('money')))
    return undefined;
  const bytes = Number(headers['content-length'] ?? 0);
  const size = request === undefined ? bytes / BYTES_PER_TOKEN : promptSize(request);
  const listed = await edge.models.get(model);
  const limit =
    listed === undefined ? 0 : (listed.outputTokenLimit ?? UNTOLD_LIMITS.outputTokenLimit);
  const inputTokens = Math.ceil(size * PROMPT_MARGIN * Math.max(1, answers)) + 1;
  const prices = units.has('money')
    ? edge.prices?.reserve(model, { inputTokens, images })
    : undefined;
  return {
    inputTokens,
    answers,
    answerTokens: answers === 0 ? 0 : longestAnswer(request, limit),
    baseNanos: prices?.baseNanos ?? 0,
    tokenNanos: prices?.tokenNanos ?? 0,
  };
}

/** Some upstreams are given room for thinking beside the answer. */
function longestAnswer(request: CanonicalRequest | undefined, limit: number): number {
  const { maxOutputTokens } = request ?? {};
  if (request === undefined || maxOutputTokens === undefined) return limit;
  const { amount } = request.reasoning;
  const thinking = amount.kind === 'budget' && amount.tokens >= maxOutputTokens ? amount.tokens : 0;
  return Math.min(maxOutputTokens + thinking, Math.max(limit, maxOutputTokens));
}

/** Pictures that the call asks for, or that its model draws whatever it is asked. */
async function countImages(
  { edge }: Exchange,
  model: string,
  { request, answers }: Asked,
): Promise<number> {
  if (answers === 0) return 0;
  const { image, outputModalities } = request ?? {};
  const draws =
    image?.aspectRatio !== undefined ||
    image?.size !== undefined ||
    outputModalities?.includes('image') === true ||
    (await edge.models.get(model))?.drawsImages === true;
  return draws ? answers : 0;
}

/** What is absent counts as reserved. Of an answer that broke off these are the last figures told. */
function readUse(
  { edge, record }: Exchange,
  reserved: CallCost,
  outcome: 'answered' | 'failed',
): Partial<CallUse> {
  const { answers = [], committedAt } = record;
  const usages = answers.map(({ usage }) => usage).filter((usage) => usage !== undefined);
  const tokens = usages.reduce((sum, usage) => sum + totalTokens(usage), 0);
  const images = answers.reduce((sum, { imageCount }) => sum + imageCount, 0);
  if (tokens === 0 && images === 0) {
    return outcome === 'failed' && committedAt === undefined ? { tokens, images, nanos: 0 } : {};
  }
  // Some tell the prompt at once and the rest at the end, which never came.
  const isPromptAlone = outcome === 'failed' && usages.every((usage) => outputTokens(usage) === 0);
  return {
    ...(usages.length > 0 && {
      tokens: isPromptAlone ? Math.max(tokens, reserved.tokens) : tokens,
    }),
    // A picture may have been drawn though it never came.
    ...((outcome === 'answered' || images > 0) && { images }),
    ...(!isPromptAlone && { nanos: edge.prices?.charge(answers) ?? 0 }),
  };
}
