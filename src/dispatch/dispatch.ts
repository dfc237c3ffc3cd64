// Dispatch: routes a call, runs its attempts, and hands the committed answer to the edge.

import type { ThinkingMode } from '../canonical/effort.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { mendText } from '../canonical/text-forms.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { GenerateCall, ReplyContext } from '../protocols/protocol.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import { GenerateAttempt } from './attempt.ts';
import { createRetryBudget, runAttempts } from './attempts.ts';
import {
  type CallSetup,
  fingerprintOf,
  nameSession,
  noteLease,
  requireTask,
  routeCall,
  setUpCall,
} from './call-setup.ts';
import { countTokens } from './count-tokens.ts';
import type {
  CallContext,
  CallExplanation,
  Dispatcher,
  GenerateAnswer,
  ModelRouter,
} from './dispatcher.ts';
import { embed } from './embed.ts';
import { exhaustedError } from './exhausted.ts';
import { askingApart, asksForSeveral, generateSeveral } from './fan-out.ts';
import { tellsItself } from './lanes.ts';
import { createTokenEstimator } from './stream-observer.ts';

export interface DispatchOptions {
  readonly router: ModelRouter;
  readonly pool: Pool;
  readonly keeper: SignatureCache;
  readonly clock: Clock;
  readonly random: () => number;
  readonly createId: (prefix: string) => string;
  /** For media that requests name by address; without it they are refused. */
  readonly media?: MediaFetcher | undefined;
  /** What the operator does with the thinking clients ask for; asked on every request. */
  readonly thinkingMode: () => ThinkingMode;
}

export function createDispatcher(options: DispatchOptions): Dispatcher {
  const { router, pool, keeper, clock, random, createId, media, thinkingMode } = options;
  const routing = { router, pool };
  const dependencies = { pool, clock, random, budget: createRetryBudget(clock) };
  const estimator = createTokenEstimator();
  const setupOptions = { router, pool, keeper, estimator, media, dependencies, thinkingMode };
  const attemptOptions = { keeper, clock, createId, estimator };
  const generateOne = async (call: GenerateCall, context: CallContext): Promise<GenerateAnswer> => {
    const setup = await setUpCall(call, context, setupOptions);
    const { leaseRequest, loadMedia, prepare, repeats, route } = setup;
    const session = nameSession(call, context);
    const { signal, record, upstreamCall } = context;
    const attempts: GenerateAttempt[] = [];
    const fingerprint = (): string => fingerprintOf(record.upstreamBody ?? {});
    return runAttempts(
      {
        leaseRequest: { ...leaseRequest, session },
        signal,
        record,
        upstreamCall,
        fingerprint,
        repeats,
      },
      async (lease, plan, hasOther) => {
        noteLease(lease, context);
        requireTask('generate', { model: call.model, target: route.target }, lease);
        await loadMedia(lease);
        const prepared = prepare(lease, plan);
        record.upstreamBody = prepared.body;
        const input = { options: attemptOptions, call, context, lease, prepared, plan, hasOther };
        const attempt = new GenerateAttempt(input);
        attempts.push(attempt);
        return attempt.run();
      },
      dependencies,
    ).catch((error: unknown) => {
      // No attempt gave better: what such an answer says of itself tells the client more than an error.
      const isTold = error instanceof GatewayError && tellsItself(error);
      const told = isTold ? attempts.findLast(({ isTold }) => isTold)?.tell() : undefined;
      if (told === undefined) throw error;
      return told;
    });
  };
  const replyContext = ({ model }: GenerateCall): ReplyContext => {
    return { model, createId, createdAt: Math.floor(clock.now() / 1000) };
  };
  return {
    async generate(asked, context) {
      const call = asksForSeveral(asked) ? await askingApart(asked, context, routing) : asked;
      const { fanOut } = call;
      if (fanOut === undefined) return generateOne(call, context);
      return generateSeveral({ ...call, fanOut }, context, { generateOne, replyContext });
    },
    async explain(asked, context) {
      const call = asksForSeveral(asked) ? await askingApart(asked, context, routing) : asked;
      const setup = await setUpCall(call, context, setupOptions);
      return explainCall(call, context, { setup, pool });
    },
    async countTokens(call, context) {
      const options = { ...setupOptions, mayBePiece: true };
      return countTokens(call, context, await setUpCall(call, context, options));
    },
    async embed(call, context) {
      const routed = await routeCall(call.model, context, routing);
      return embed(call, context, { ...routed, dependencies, estimator });
    },
  };
}

/** Leases, prepares and gives back: nothing is sent and nothing held against the account. */
async function explainCall(
  call: GenerateCall,
  context: CallContext,
  { setup, pool }: { readonly setup: CallSetup; readonly pool: Pool },
): Promise<CallExplanation> {
  // A dry run has no patience: a busy account is passed over as if it had been waited for.
  const waitedMs = Number.POSITIVE_INFINITY;
  const leased = pool.lease({
    ...setup.leaseRequest,
    exclude: new Set(),
    waitedMs,
    isDryRun: true,
  });
  if (leased.kind === 'wait') throw new Error('The pool asked for more time than there is.');
  if (leased.kind === 'none') throw exhaustedError(leased, undefined);
  const { lease } = leased;
  try {
    noteLease(lease, context);
    requireTask('generate', { model: call.model, target: setup.route.target }, lease);
    await setup.loadMedia(lease);
    const { lane, body } = setup.prepare(lease, { signatures: 'carried', usesPlaceholders: false });
    const upstreamBody = asSent(body, context.receipt);
    return {
      route: setup.route,
      accountId: lease.account.id,
      considered: lease.selectionLog,
      upstreamId: lease.upstream.id,
      upstreamModel: lease.modelId,
      lane,
      canonical: call.request,
      upstreamBody,
      receipt: context.receipt.entries,
    };
  } finally {
    lease.release({ kind: 'neutral' });
  }
}

/** The body with what is mended in its text when it is sent. */
function asSent(body: JsonObject, receipt: Receipt): JsonObject {
  const text = JSON.stringify(body);
  const mended = mendText(text, receipt);
  const value = mended === text ? body : parseJson(mended);
  return isJsonObject(value) ? value : body;
}
