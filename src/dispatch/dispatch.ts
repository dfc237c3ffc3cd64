// Dispatch: routes a call, runs its attempts, and hands the committed answer to the edge.

import type { ThinkingMode } from '../canonical/effort.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';
import type { Pool } from '../pool/pool.ts';
import type { GenerateCall, ReplyContext } from '../protocols/protocol.ts';
import type { SignatureKeeper } from '../signatures/keeper.ts';
import { askingApart, asksForSeveral } from './ask-apart.ts';
import { runAttempts } from './attempts.ts';
import { noteLease, routeCall, setUpCall } from './call-setup.ts';
import { countTokens } from './count-tokens.ts';
import type { CallContext, Dispatcher, GenerateAnswer } from './dispatcher.ts';
import { embed } from './embed.ts';
import { explainCall } from './explain.ts';
import { generateSeveral } from './fan-out.ts';
import { fingerprintOf } from './fingerprint.ts';
import { GenerateAttempt } from './generate-attempt.ts';
import { requireTask } from './model-task.ts';
import { tellsItself } from './relay.ts';
import { createRetryBudget } from './retry-budget.ts';
import type { ModelRouter } from './router.ts';
import { nameSession } from './session.ts';
import { createTokenEstimator } from './token-estimate.ts';

export interface DispatchOptions {
  readonly router: ModelRouter;
  readonly pool: Pool;
  readonly keeper: SignatureKeeper;
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
