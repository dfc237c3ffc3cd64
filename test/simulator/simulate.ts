// Plays faults of an upstream against the real pool and dispatcher, in simulated time.

import type { CallRecord } from '../../src/canonical/call-record.ts';
import { GatewayError } from '../../src/canonical/error.ts';
import { createReceipt } from '../../src/canonical/receipt.ts';
import { createDispatcher } from '../../src/dispatch/dispatch.ts';
import type { CallContext, Dispatcher } from '../../src/dispatch/dispatcher.ts';
import type { GenerateCall } from '../../src/protocols/protocol.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';
import { classifyErrorFrame, classifyFailure } from '../../src/upstreams/generate/errors.ts';
import type { Upstream, UpstreamCall } from '../../src/upstreams/upstream.ts';
import { createRandom } from '../fuzz/random.ts';
import { requestOf, user } from '../support/canonical.ts';
import { createFakeUpstream, type Script } from '../support/fake-upstream.ts';
import { createSeedPool } from '../support/seed-pool.ts';
import { createEventClock, type EventClock } from './event-clock.ts';

export type FaultKind = `${keyof typeof FAULTS}`;

export interface Scenario {
  readonly fault: FaultKind;
  /** Of the attempts on the model, 0 to 1. */
  readonly share: number;
  readonly accounts: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** From when to when there are faults, in milliseconds; all the time when absent. */
  readonly outage?: readonly [number, number] | undefined;
  /** The longest an answer takes; faults take 5 to 50 ms. */
  readonly answerMs?: number | undefined;
  /** True where every request has the same body. */
  readonly isRepeated?: boolean | undefined;
  readonly seed?: number | undefined;
}

export interface Sample {
  /** Milliseconds since the scenario began. */
  readonly at: number;
  readonly endedAt: number;
  readonly isSuccess: boolean;
  readonly attempts: number;
  readonly error?: GatewayError | undefined;
}

export interface Outcome {
  readonly samples: readonly Sample[];
  /** Of another key, on the same model. */
  readonly others: readonly Sample[];
  /** Of another key, on another model that has no faults. */
  readonly neighbours: readonly Sample[];
}

/** What one attempt meets, as the real upstream's client would say it. */
const FAULTS = {
  500: () => refused(500),
  502: () => refused(502),
  503: () => refused(503),
  '503 with Retry-After': () => refused(503, { 'retry-after': '3600' }),
  504: () => refused(504),
  529: () => refused(529),
  cut: () => ({ frames: ['silence', 'cut'] }),
  reset: () => broken('connection-lost'),
  empty: () => ({ frames: [] }),
  garbage: () => broken('path'),
  'error in a 200': () => framed({ code: 500, message: 'Internal', status: 'INTERNAL' }),
  401: () => refused(401, {}, 'Request had invalid authentication credentials.'),
  403: () => refused(403, {}, 'The caller does not have permission'),
  '403 in a 200': () =>
    framed({ code: 403, message: 'blocked by policy', status: 'PERMISSION_DENIED' }),
  404: () => refused(404, {}, 'Requested entity was not found.'),
  429: () => refused(429),
  '429 with Retry-After': () => refused(429, { 'retry-after': '2' }),
} as const satisfies Readonly<Record<string, () => Fault>>;

type Fault = GatewayError | { readonly frames: readonly string[] };

function refused(
  status: number,
  headers: Record<string, string> = {},
  message = 'scripted',
): Fault {
  const body = JSON.stringify({ error: { code: status, message } });
  return classifyFailure({ status, headers, body, now: 0 });
}

function framed(error: { code: number; message: string; status: string }): Fault {
  return classifyErrorFrame(error, 0);
}

function broken(kind: 'connection-lost' | 'path'): Fault {
  const message = `scripted ${kind}`;
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message,
    failure: { kind },
  });
}

export async function simulate(scenario: Scenario): Promise<Outcome> {
  const { accounts, perSecond, seconds, seed = 1 } = scenario;
  const clock = createEventClock();
  const random = createRandom(seed).next;
  const { pool } = createSeedPool({
    accounts: Array.from({ length: accounts }, (_, index) => ({ id: `a${index}` })),
    upstream: createFaultyUpstream(scenario, clock, random),
    clock,
    random,
  });
  let ids = 0;
  const dispatcher = createDispatcher({
    router: { route: (name) => ({ target: name, webSearch: false }) },
    pool,
    keeper: new SignatureCache({ clock }),
    clock,
    random,
    createId: (prefix) => `${prefix}${ids++}`,
    thinkingMode: () => ({ kind: 'auto' }),
  });
  const startedAt = clock.now();
  const ask = async (client: string, model: string, into: Sample[]): Promise<void> => {
    const at = clock.now() - startedAt;
    const prompt = scenario.isRepeated ? 'the same prompt' : `prompt ${ids++} of ${client}`;
    const { record, error } = await askOnce(dispatcher, { client, model, prompt, nth: ids });
    const isSuccess = error === undefined;
    const endedAt = clock.now() - startedAt;
    into.push({ at, endedAt, isSuccess, attempts: record.attempts.length, error });
  };
  const streams = { samples: [] as Sample[], others: [] as Sample[], neighbours: [] as Sample[] };
  const arrive = (everyMs: number, client: string, model: string, into: Sample[]): void => {
    const next = (): void => {
      if (clock.now() - startedAt >= seconds * 1000) return;
      void ask(client, model, into);
      clock.startTimer(everyMs * (0.5 + random()), next);
    };
    clock.startTimer(everyMs * random(), next);
  };
  arrive(1000 / perSecond, 'someone', 'm', streams.samples);
  arrive(1000, 'other', 'm', streams.others);
  arrive(1000, 'neighbour', 'n', streams.neighbours);
  await clock.run(seconds * 1000 + 120_000);
  await pool.close();
  return streams;
}

/** An upstream that fails on model `m` as the scenario says, and is well on every other. */
function createFaultyUpstream(
  { fault, share, outage, answerMs = 1500 }: Scenario,
  clock: EventClock,
  random: () => number,
): Upstream {
  const startedAt = clock.now();
  const well: Script = { frames: ['Hel', 'lo', 'end'] };
  let met: Fault | undefined;
  const upstream = createFakeUpstream(() =>
    met === undefined || met instanceof GatewayError ? well : met,
  );
  const isFaulty = ({ modelId }: UpstreamCall): boolean => {
    const at = clock.now() - startedAt;
    const isTime = outage === undefined || (at >= outage[0] && at < outage[1]);
    return modelId === 'm' && isTime && random() < share;
  };
  return {
    ...upstream,
    listModels: async () => [{ id: 'm' }, { id: 'n' }],
    encode: (request) => ({ prompt: JSON.stringify(request.turns) }),
    async open(call) {
      upstream.calls.length = 0;
      const fails = isFaulty(call);
      const waitMs = fails ? 5 + random() * 45 : answerMs * (0.1 + 0.9 * random());
      await clock.sleep(waitMs, call.signal);
      met = fails ? FAULTS[fault]() : undefined;
      if (met instanceof GatewayError) throw met;
      return upstream.open(call);
    },
  };
}

interface Ask {
  readonly client: string;
  readonly model: string;
  readonly prompt: string;
  readonly nth: number;
}

async function askOnce(
  dispatcher: Dispatcher,
  { client, model, prompt, nth }: Ask,
): Promise<{ readonly record: CallRecord; readonly error?: GatewayError }> {
  const record: CallRecord = { attempts: [], timings: {} };
  const context: CallContext = {
    requestId: `r${nth}`,
    clientKeyId: client,
    signal: new AbortController().signal,
    receipt: createReceipt(),
    strict: false,
    headerSession: `s${nth % 7}`,
    preferredAccount: undefined,
    preferredTier: undefined,
    record,
  };
  const stream = nth % 2 === 0;
  try {
    const answer = await dispatcher.generate(callOf(model, prompt, stream), context);
    if (answer.kind === 'stream') for await (const _ of answer.chunks);
    return { record };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { record, error };
  }
}

function callOf(model: string, prompt: string, stream: boolean): GenerateCall {
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: undefined,
    request: requestOf({ turns: [user(prompt)] }),
    createStreamWriter: () => ({
      contentType: 'text/event-stream',
      keepAlive: () => ':',
      write: (event) => event.kind,
    }),
    writeReply: () => ({}),
  };
}

export interface Figures {
  readonly requests: number;
  readonly success: number;
  readonly attemptsPerRequest: number;
  /** The longest time in which another key on the same model was refused again and again. */
  readonly longestRefusedMs: number;
}

export function figuresOf({ samples, others }: Outcome): Figures {
  const attempts = samples.reduce((sum, sample) => sum + sample.attempts, 0);
  return {
    requests: samples.length,
    success: successShare(samples),
    attemptsPerRequest: attempts / Math.max(1, samples.length),
    longestRefusedMs: longestRefused(others),
  };
}

export function successShare(samples: readonly Sample[]): number {
  return samples.filter(({ isSuccess }) => isSuccess).length / Math.max(1, samples.length);
}

function longestRefused(samples: readonly Sample[]): number {
  let longest = 0;
  let since: number | undefined;
  for (const { at, endedAt, isSuccess } of samples.toSorted((a, b) => a.at - b.at)) {
    if (isSuccess) since = undefined;
    else {
      since ??= at;
      longest = Math.max(longest, endedAt - since);
    }
  }
  return longest;
}
