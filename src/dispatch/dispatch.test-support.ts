// A dispatcher over accounts of one scripted upstream and a fake clock, and short ways to call it.

import { requestOf, user } from '../../test/support/canonical.ts';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import {
  createFakeUpstream,
  type FakeUpstream,
  type Script,
} from '../../test/support/fake-upstream.ts';
import { createSeedPool, type SeedPool } from '../../test/support/seed-pool.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import type { LeaseOutcome, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import type { CountTokensCall, GenerateCall } from '../protocols/protocol.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { createDispatcher } from './dispatch.ts';
import type { CallContext, CallExplanation, GenerateAnswer } from './dispatcher.ts';

export interface DispatchBench extends SeedPool {
  readonly clock: FakeClock;
  readonly upstream: FakeUpstream;
  generate(change?: Partial<GenerateCall>, context?: Partial<CallContext>): Promise<GenerateAnswer>;
  countTokens(call?: Partial<CountTokensCall>): Promise<JsonObject>;
  explain(): Promise<CallExplanation>;
  readonly context: CallContext;
  /** Accounts that were lent and not given back, by how often. */
  readonly lent: ReadonlyMap<string, number>;
  /** How each attempt ended for its account, as `<account> <outcome>`. */
  readonly ends: readonly string[];
}

/** Over three accounts a, b, c; `script` sees the account; `change` replaces parts of the upstream. */
export function benchOf(
  script: (account: string, call: number) => Script,
  accounts = ['a', 'b', 'c'],
  change: Partial<FakeUpstream> = {},
): DispatchBench {
  const clock = createFakeClock();
  let calls = 0;
  const played = createFakeUpstream((call) => script(call.access.accountId, calls++));
  const upstream = { ...played, ...change };
  const seeded = createSeedPool({
    accounts: accounts.map((id, index) => ({ id, priority: -index })),
    upstream,
    clock,
  });
  const watched = watchLeases(seeded.pool);
  const dispatcher = createDispatcher({
    router: { route: (name) => ({ target: name, webSearch: false }) },
    pool: { ...seeded.pool, lease: watched.lease },
    keeper: new SignatureCache({ clock }),
    clock,
    random: () => 0,
    createId: (prefix) => `${prefix}1`,
    thinkingMode: () => ({ kind: 'auto' }),
  });
  const context = contextOf();
  return {
    ...seeded,
    clock,
    upstream,
    context,
    lent: watched.lent,
    ends: watched.ends,
    countTokens: (change) => dispatcher.countTokens(countOf(change), context),
    explain: () => dispatcher.explain(callOf(), context),
    generate: (change, contextChange) =>
      dispatcher.generate(callOf(change), { ...context, ...contextChange }),
  };
}

function watchLeases(pool: SeedPool['pool']) {
  const lent = new Map<string, number>();
  const ends: string[] = [];
  const lease = (request: LeaseRequest): LeaseResult => {
    const result = pool.lease(request);
    if (result.kind !== 'lease') return result;
    const { account, release } = result.lease;
    lent.set(account.id, (lent.get(account.id) ?? 0) + 1);
    const watched = (outcome: LeaseOutcome): void => {
      ends.push(`${account.id} ${outcome.kind}`);
      const left = (lent.get(account.id) ?? 0) - 1;
      if (left === 0) lent.delete(account.id);
      else lent.set(account.id, left);
      release(outcome);
    };
    return { ...result, lease: { ...result.lease, release: watched } };
  };
  return { lent, ends, lease };
}

/** Of a request that asks for nothing special. */
export function contextOf(signal = new AbortController().signal): CallContext {
  return {
    requestId: 'r',
    clientKeyId: 'k',
    signal,
    receipt: createReceipt(),
    strict: false,
    headerSession: undefined,
    preferredAccount: undefined,
    preferredTier: undefined,
    record: { attempts: [], timings: {} },
  };
}

export function callOf(change: Partial<GenerateCall> = {}): GenerateCall {
  return {
    protocol: 'chat',
    model: 'm',
    stream: false,
    bodySession: undefined,
    request: requestOf({ turns: [user('hello there')] }),
    createStreamWriter: () => ({
      contentType: 'text/event-stream',
      keepAlive: () => ':',
      write: (event) => {
        if (event.kind === 'block-delta' && event.delta.kind === 'text') return event.delta.text;
        if (event.kind === 'error') return '<error>';
        return event.kind === 'finish' ? '<end>' : '';
      },
    }),
    writeReply: (reply) => ({
      text:
        reply.choices[0]?.blocks.map((block) => ('text' in block ? block.text : '')).join('') ?? '',
    }),
    ...change,
  };
}

export async function collect(answer: GenerateAnswer): Promise<string> {
  if (answer.kind !== 'stream') throw new Error('not a stream');
  let text = '';
  for await (const chunk of answer.chunks) text += chunk;
  return text;
}

export const good: Script = { frames: ['Hel', 'lo', 'end'] };

function countOf(change: Partial<CountTokensCall> = {}): CountTokensCall {
  return {
    protocol: 'messages',
    model: 'm',
    request: requestOf({ turns: [user('x'.repeat(400))] }),
    writeCount: (totalTokens) => ({ input_tokens: totalTokens }),
    ...change,
  };
}
