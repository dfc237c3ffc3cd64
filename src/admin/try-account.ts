// Tests an account step by step: credential, model list, quota, a one-token answer.

import type { Account } from '../accounts/account.ts';
import { sayListed, type Trial } from '../accounts/health.ts';
import { asGatewayError, gatewayError, upstreamError } from '../canonical/error.ts';
import type { UpstreamFailureKind } from '../canonical/failure.ts';
import { withinLimit } from '../lib/clock.ts';
import { MESSAGE_SCHEMA, type Sentence, textOf, told } from '../lib/localized-message.ts';
import { list, named, object, partial, type ValueOf } from '../lib/object-schema.ts';
import type { Access, AdminOptions, ListedByAccount } from './options.ts';

const STEP_SCHEMA = object({
  name: { enum: ['credential', 'models', 'quota', 'answer'] },
  isGood: { type: 'boolean' },
  durationMs: { type: 'integer' },
  message: MESSAGE_SCHEMA,
});

export const TEST_SCHEMA = named('AccountTest', {
  isUsable: { type: 'boolean' },
  steps: list(STEP_SCHEMA),
});

/** The cost of an answer is agreed to first. */
export const TRY_SCHEMA = partial(
  {
    generate: {
      type: 'boolean',
      description: 'Also requests a one-token response of a small model, which uses quota.',
    },
  },
  { title: 'TryAccount' },
);

const TEST_LIMIT_MS = 20_000;

export interface TestStep extends ValueOf<typeof STEP_SCHEMA> {
  /** How the upstream failed, where it did. */
  readonly failure?: UpstreamFailureKind | undefined;
}

/** Each step is tried only when those before it worked; the quota may fail without harm. */
export async function testAccount(
  account: Account,
  options: AdminOptions & { readonly generate: boolean },
  parentSignal: AbortSignal,
): Promise<{ readonly isUsable: boolean; readonly steps: readonly TestStep[] }> {
  const { clock, tokens, book, quota, trials, generate } = options;
  const { id, upstreamId } = account.record;
  const accessOf = (signal: AbortSignal) => tokens.accessFor(account, { refresh: false, signal });
  const credential = await tryStep('credential', options, parentSignal, async (signal) => {
    await accessOf(signal);
    return told`There is a credential to use.`;
  });
  if (!credential.isGood) return { isUsable: false, steps: [credential] };
  const tried = await tryAccess(
    { upstreamId, accessOf, generate, onModels: (models) => book.setModels(id, models) },
    options,
    parentSignal,
  );
  const last = tried.at(-1);
  if (last !== undefined) trials.note(id, toTrial(last, clock.now()));
  const isUsable = last?.isGood === true;
  const steps = [credential, ...tried];
  if (isUsable) {
    const work = async () => sayQuota(await quota.refreshNow(id));
    steps.push(await tryStep('quota', options, parentSignal, work));
  }
  return { isUsable, steps };
}

export interface TriedAccess {
  readonly upstreamId: string;
  readonly accessOf: (signal: AbortSignal) => Promise<Access>;
  /** True where the cost of a one-token answer is agreed to. */
  readonly generate: boolean;
  readonly onModels: (models: NonNullable<Account['models']>) => void;
}

/** Its model list, which costs nothing, and then an answer where that is agreed to; ends at the first failure. */
export async function tryAccess(
  { upstreamId, accessOf, generate, onModels }: TriedAccess,
  options: AdminOptions,
  parentSignal: AbortSignal,
): Promise<readonly TestStep[]> {
  const upstream = options.upstreams.get(upstreamId);
  let models: readonly ListedByAccount[] = [];
  const listed = await tryStep('models', options, parentSignal, async (signal) => {
    if (upstream === undefined) {
      throw gatewayError(
        'upstream-unavailable',
        told`The upstream "${upstreamId}" of this account is no longer configured. Add it under "upstreams" of the config file.`,
      );
    }
    models = await upstream.listModels(await accessOf(signal), signal);
    if (models.length > 0) onModels(new Map(models.map((model) => [model.id, model])));
    return sayListed(models.length);
  });
  const isAsked = generate && models.length > 0;
  if (upstream === undefined || !listed.isGood || !isAsked) return [listed];
  const answered = await tryStep('answer', options, parentSignal, async (signal) => {
    const model = await upstream.answerOnce(await accessOf(signal), { models, signal });
    if (model !== undefined) return told`The model ${model} answered.`;
    throw gatewayError(
      'not-found',
      told`The list of the upstream has no model to ask for an answer.`,
    );
  });
  return [listed, answered];
}

export function toTrial({ name, isGood, durationMs, message }: TestStep, at: number): Trial {
  return { what: name === 'answer' ? 'answer' : 'models', isGood, durationMs, message, at };
}

async function tryStep(
  name: TestStep['name'],
  { clock }: AdminOptions,
  parentSignal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Sentence>,
): Promise<TestStep> {
  const limit = {
    ...{ clock, limitMs: TEST_LIMIT_MS, signal: parentSignal },
    tooSlow: () =>
      gatewayError('timeout', told`There was no answer within ${TEST_LIMIT_MS / 1000} seconds.`),
    faultOf: (error: unknown) => error,
  };
  const startedAt = clock.monotonic();
  const durationMs = (): number => Math.round(clock.monotonic() - startedAt);
  try {
    const message = await withinLimit(limit, work);
    return { name, isGood: true, durationMs: durationMs(), message };
  } catch (error) {
    parentSignal.throwIfAborted();
    const failure = asGatewayError(error).failure?.kind;
    return { name, isGood: false, durationMs: durationMs(), message: sayFailure(error), failure };
  }
}

/** The upstream's own words are for the operator, who reads this. */
function sayFailure(error: unknown): Sentence {
  const { sentence, failure } = asGatewayError(error);
  const { detail } = failure ?? {};
  return detail === undefined || sentence.text.includes(textOf(detail))
    ? sentence
    : told`${sentence} It said: ${detail}`;
}

function sayQuota(outcome: Awaited<ReturnType<AdminOptions['quota']['refreshNow']>>): Sentence {
  switch (outcome.kind) {
    case 'read':
      return told`The upstream reported the quota of ${outcome.models} models.`;
    case 'not-reported':
      return told`The upstream reports no quota; figures are estimated from use.`;
    case 'failed':
      throw upstreamError('upstream-unavailable', outcome.message);
    case 'gone':
      return told`The account was removed meanwhile.`;
    default:
      return outcome satisfies never;
  }
}
