// Dispatch: routes a call, runs its attempts, and hands the committed answer to the edge.

import { recordedSession } from '../canonical/call-record.ts';
import type { ThinkingMode } from '../canonical/effort.ts';
import { GatewayError } from '../canonical/error.ts';
import { needSet } from '../canonical/needs.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';
import type { CountTokensCall, EmbedCall, GenerateCall } from '../protocols/protocol.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import { type AnswerRoom, HeldMemory } from '../stream/held-memory.ts';
import { GenerateAttempt, type GenerateAttemptOptions } from './attempt.ts';
import { type AttemptDependencies, AttemptRun } from './attempts.ts';
import {
  choicesOf,
  headerSession,
  nameSession,
  noteLease,
  type Routing,
  routeCall,
  withAdvice,
  withMeantModel,
} from './call-setup.ts';
import type {
  CallContext,
  CallExplanation,
  Dispatcher,
  GenerateAnswer,
  WholeAnswer,
} from './dispatcher.ts';
import { explainCall } from './explain.ts';
import { askApart, generateSeveral } from './fan-out.ts';
import { isNativeErrorReply } from './lanes.ts';
import { CallBodies } from './prepare.ts';
import { countTokens, embed } from './queries.ts';
import { createRetryBudgets } from './retry-budget.ts';
import { TokenEstimator } from './stream-observer.ts';

interface DispatchOptions extends Routing {
  readonly keeper: SignatureCache;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  /** For media that requests name by address; without it they are refused. */
  readonly media?: MediaFetcher | undefined;
  /** The memory for what is held of large answers; without it there is enough. */
  readonly answerRoom?: AnswerRoom | undefined;
  /** What the operator does with the thinking clients ask for; asked on every request. */
  readonly thinkingMode: () => ThinkingMode;
}

export function createDispatcher(options: DispatchOptions): Dispatcher {
  return new Dispatch(options);
}

class Dispatch implements Dispatcher {
  readonly #options: DispatchOptions;
  readonly #dependencies: AttemptDependencies;
  readonly #attempts: GenerateAttemptOptions;

  constructor(options: DispatchOptions) {
    const { pool, keeper, clock, random, createId, answerRoom } = options;
    this.#options = options;
    this.#dependencies = { pool, clock, random, budgetOf: createRetryBudgets(clock) };
    this.#attempts = { keeper, clock, createId, estimator: new TokenEstimator(), answerRoom };
  }

  async generate(asked: GenerateCall, context: CallContext): Promise<GenerateAnswer> {
    try {
      const call = choicesOf(asked) > 1 ? await askApart(asked, context, this.#options) : asked;
      const { fanOut, model } = call;
      if (fanOut === undefined) return await this.#generateOne(call, context);
      const { createId, clock, answerRoom } = this.#options;
      const createdAt = Math.floor(clock.now() / 1000);
      return await generateSeveral({ ...call, fanOut }, context, {
        generateOne: (one, own) => this.#generateOne(one, own),
        replyContext: { model, createId, createdAt },
        memory: new HeldMemory(answerRoom),
        sending: new HeldMemory(answerRoom),
      });
    } catch (error) {
      throw withAdvice(error, asked, context, this.#options);
    }
  }

  async #generateOne(call: GenerateCall, context: CallContext): Promise<GenerateAnswer> {
    const { model } = call;
    const session = nameSession(call, context, this.#options.createId);
    if (session !== undefined) context.record.session = recordedSession(session);
    const routes = await routeCall(call, context, { ...this.#options, session });
    const bodies = new CallBodies(call, context, this.#options);
    /** The last one whose answer says itself what is wrong with it. */
    let refused: GenerateAttempt | undefined;
    try {
      return await new AttemptRun({ routes, context, bodies }, this.#dependencies).run(
        async (lease, { plan, route, ...others }) => {
          noteLease(lease, context, { task: 'generate', model, route });
          const prepared = await bodies.prepare(lease, plan, route);
          context.record.upstreamBody = prepared.body;
          const options = this.#attempts;
          const input = { options, call, context, lease, prepared, session, plan, ...others };
          const attempt = new GenerateAttempt(input);
          try {
            return await attempt.run();
          } finally {
            if (attempt.nativeReply !== undefined) refused = attempt;
          }
        },
      );
    } catch (error) {
      // No attempt gave better: what such an answer says of itself tells the client more than an error.
      const isNative = error instanceof GatewayError && isNativeErrorReply(error);
      if (!isNative || refused?.nativeReply === undefined) throw error;
      refused.noteNativeReply();
      return refused.nativeReply;
    }
  }

  explain(asked: GenerateCall, context: CallContext): Promise<CallExplanation> {
    return explainCall(asked, context, this.#options);
  }

  async countTokens(call: CountTokensCall, context: CallContext): Promise<JsonObject> {
    const session = headerSession(context);
    const { estimator } = this.#attempts;
    try {
      const routing = { ...this.#options, session, alsoNeeds: TOKEN_COUNT };
      const routes = await routeCall(call, context, routing);
      const bodies = new CallBodies(call, context, { ...this.#options, mayBePiece: true });
      const setup = { routes, bodies, estimator, dependencies: this.#dependencies };
      return await countTokens(call, context, setup);
    } catch (error) {
      throw withAdvice(error, call, context, this.#options);
    }
  }

  async embed(call: EmbedCall, context: CallContext): Promise<WholeAnswer> {
    const { estimator, answerRoom } = this.#attempts;
    const memory = new HeldMemory(answerRoom);
    try {
      const routes = await routeCall(call, context, this.#options);
      const setup = { routes, estimator, dependencies: this.#dependencies, memory };
      const body = await embed(call, context, setup);
      return { kind: 'reply', body, heldBytes: memory.heldBytes };
    } catch (error) {
      throw withMeantModel(error, call.model, context, this.#options);
    } finally {
      memory.release();
    }
  }
}

const TOKEN_COUNT = needSet('token-count');
