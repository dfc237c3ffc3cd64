// Tries an account step by step, and says what worked and what did not.

import type { Account } from '../accounts/account.ts';
import { asGatewayError, GatewayError } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { AdminOptions } from './options.ts';

export type TryOptions = Pick<AdminOptions, 'book' | 'clock' | 'quota' | 'tokens' | 'upstreams'>;

export const TEST_SCHEMA = {
  title: 'AccountTest',
  type: 'object',
  required: ['isUsable', 'steps'],
  additionalProperties: false,
  properties: {
    isUsable: { type: 'boolean' },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'isGood', 'durationMs', 'message'],
        additionalProperties: false,
        properties: {
          name: { enum: ['credential', 'models', 'quota'] },
          isGood: { type: 'boolean' },
          durationMs: { type: 'integer' },
          message: { type: 'string' },
        },
      },
    },
  },
} as const;

const TEST_LIMIT_MS = 20_000;

interface TestStep {
  readonly name: 'credential' | 'models' | 'quota';
  readonly isGood: boolean;
  readonly durationMs: number;
  readonly message: string;
}

/** Each step is tried only when those before it worked; the quota may fail without harm. */
export async function testAccount(
  account: Account,
  options: TryOptions,
  parentSignal: AbortSignal,
): Promise<{ readonly isUsable: boolean; readonly steps: readonly TestStep[] }> {
  const { clock, tokens, upstreams, book, quota } = options;
  const { id, upstreamId } = account.record;
  const limit = new AbortController();
  const timer = clock.startTimer(TEST_LIMIT_MS, () =>
    limit.abort(
      new GatewayError({
        kind: 'timeout',
        source: 'gateway',
        message: told`There was no answer within ${TEST_LIMIT_MS / 1000} seconds.`,
      }),
    ),
  );
  const signal = AbortSignal.any([parentSignal, limit.signal]);
  const steps: TestStep[] = [];
  const attempt = async (name: TestStep['name'], work: () => Promise<string>): Promise<boolean> => {
    const step = await tryStep(name, { work, clock });
    parentSignal.throwIfAborted();
    steps.push(step);
    return step.isGood;
  };
  try {
    const isUsable =
      (await attempt('credential', async () => {
        await tokens.accessFor(account, { refresh: false, signal });
        return told`There is a credential to use.`;
      })) &&
      (await attempt('models', async () => {
        const upstream = upstreams.get(upstreamId);
        if (upstream === undefined) throw noUpstream(upstreamId);
        const access = await tokens.accessFor(account, { refresh: false, signal });
        const models = await upstream.listModels(access, signal);
        book.setModels(id, new Map(models.map((model) => [model.id, model])));
        return told`The upstream offers ${models.length} models.`;
      }));
    if (isUsable) await attempt('quota', async () => sayQuota(await quota.refreshNow(id)));
    return { isUsable, steps };
  } finally {
    timer.cancel();
  }
}

async function tryStep(
  name: TestStep['name'],
  { work, clock }: { work(): Promise<string>; readonly clock: TryOptions['clock'] },
): Promise<TestStep> {
  const startedAt = clock.monotonic();
  const durationMs = (): number => Math.round(clock.monotonic() - startedAt);
  try {
    const message = await work();
    return { name, isGood: true, durationMs: durationMs(), message };
  } catch (error) {
    return {
      name,
      isGood: false,
      durationMs: durationMs(),
      message: sayFailure(error),
    };
  }
}

/** What the upstream itself said is for whoever runs the gateway, and here they are. */
function sayFailure(error: unknown): string {
  const { message, failure } = asGatewayError(error);
  const { detail } = failure ?? {};
  return detail === undefined || message.includes(detail)
    ? message
    : told`${message} It said: ${detail}`;
}

function sayQuota(outcome: Awaited<ReturnType<TryOptions['quota']['refreshNow']>>): string {
  switch (outcome.kind) {
    case 'read':
      return told`The upstream reported the quota of ${outcome.models} models.`;
    case 'not-reported':
      return told`The upstream reports no quota; figures are estimated from use.`;
    case 'failed':
      throw new GatewayError({
        kind: 'upstream-unavailable',
        source: 'upstream',
        message: outcome.message,
      });
    case 'gone':
      return told`The account was removed meanwhile.`;
    default:
      return outcome satisfies never;
  }
}

function noUpstream(id: string): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'gateway',
    message: told`The upstream "${id}" of this account is no longer configured. Add it under "upstreams" of the config file.`,
  });
}
