// Asks an account for one token where only that tells what it is worth, as after a refused key.

import type { Account, TokenSource } from '../accounts/account.ts';
import type { BookChange } from '../accounts/account-book.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { UpstreamModel } from '../canonical/model.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { Timer } from '../lib/clock.ts';
import { touchLru } from '../lib/collections.ts';
import { createId } from '../lib/ids.ts';
import type { AccountAccess, Upstream } from '../upstreams/upstream.ts';
import type { PoolOptions } from './pool.ts';
import type { SuccessShares } from './success-shares.ts';

/** So many 403 in a row on one model raise the question whether the account is served at all. */
const REFUSALS_BEFORE_PROBE = 3;
const PROBE_LIMIT_MS = 30_000;
const BETWEEN_DOUBTS_MS = 60_000;

/** Probes accounts until it is closed. */
export class Probes {
  readonly #options: PoolOptions;
  readonly #shares: SuccessShares;
  readonly #planned = new Map<string, { readonly at: number; readonly timer: Timer }>();
  readonly #underWay = new Set<string>();
  /** When each account was last doubted. */
  readonly #doubted = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(options: PoolOptions, shares: SuccessShares) {
    this.#options = options;
    this.#shares = shares;
    this.#unsubscribe = options.book.subscribe((change) => this.#take(change));
    for (const account of options.book.list()) this.#take({ kind: 'added', account });
  }

  #take({ kind, account }: BookChange): void {
    const { id } = account.record;
    const { status, models } = account.health;
    const at =
      kind !== 'removed' && status.kind === 'disabled' && status.reason === 'invalid-key'
        ? status.probeAt
        : undefined;
    this.#plan(id, at);
    if (kind === 'removed') this.#doubted.delete(id);
    if (kind !== 'health' || status.kind !== 'active') return;
    for (const [model, { forbiddenCount }] of models) {
      if (forbiddenCount !== REFUSALS_BEFORE_PROBE) continue;
      const served = this.#shares.servedModel(id, model);
      if (served !== undefined) void this.#probe(id, served);
    }
  }

  /** Asks the account for one token of another model than the refused one; once a minute at most. */
  doubt(accountId: string, model: string): void {
    const { clock } = this.#options;
    const last = this.#doubted.get(accountId) ?? Number.NEGATIVE_INFINITY;
    if (clock.monotonic() - last < BETWEEN_DOUBTS_MS) return;
    this.#doubted.set(accountId, clock.monotonic());
    void this.#probe(accountId, this.#shares.servedModel(accountId, model));
  }

  close(): void {
    this.#unsubscribe();
    this.#closing.abort();
    for (const { timer } of this.#planned.values()) timer.cancel();
  }

  #plan(accountId: string, at: number | undefined): void {
    const planned = this.#planned.get(accountId);
    if (planned?.at === at) return;
    planned?.timer.cancel();
    this.#planned.delete(accountId);
    if (at === undefined || this.#closing.signal.aborted) return;
    const { clock } = this.#options;
    const timer = clock.startTimer(Math.max(0, at - clock.now()), () => {
      this.#planned.delete(accountId);
      void this.#probe(accountId, undefined);
    });
    this.#planned.set(accountId, { at, timer });
  }

  async #probe(accountId: string, model: string | undefined): Promise<void> {
    const { book, upstreams, tokens, clock } = this.#options;
    const account = book.find(accountId);
    const upstream = account && upstreams.get(account.record.upstreamId);
    if (account === undefined || upstream === undefined || this.#underWay.has(accountId)) return;
    this.#underWay.add(accountId);
    const limit = new AbortController();
    const timer = clock.startTimer(PROBE_LIMIT_MS, () => limit.abort());
    const signal = AbortSignal.any([this.#closing.signal, limit.signal]);
    const failure = await askOneToken(account, {
      upstream,
      tokens,
      modelId: model ?? this.#shares.servedModel(accountId, '') ?? likelyModel(account, upstream),
      signal,
    });
    timer.cancel();
    this.#underWay.delete(accountId);
    if (!this.#closing.signal.aborted) book.apply(accountId, { kind: 'probed', failure });
  }
}

interface Probe {
  readonly upstream: Upstream;
  readonly tokens: TokenSource;
  /** Undefined where no model of the account is known: its list is read then. */
  readonly modelId: string | undefined;
  readonly signal: AbortSignal;
}

/** Undefined when it was answered. Never rejects. */
async function askOneToken(
  account: Account,
  { upstream, tokens, modelId, signal }: Probe,
): Promise<UpstreamFailure | undefined> {
  try {
    const access = await tokens.accessFor(account, { refresh: false, signal });
    if (modelId === undefined) {
      await upstream.listModels(access, signal);
      return undefined;
    }
    const listed = account.models?.get(modelId);
    await say('Hi', upstream, { modelId, listed, access, signal });
    return undefined;
  } catch (error) {
    return (error instanceof GatewayError ? error.failure : undefined) ?? { kind: 'path' };
  }
}

interface OneToken {
  readonly modelId: string;
  readonly listed: UpstreamModel | undefined;
  readonly access: AccountAccess;
  readonly signal: AbortSignal;
}

/** Asks for one token. @throws GatewayError, also for an error in a good answer */
async function say(
  text: string,
  upstream: Upstream,
  { modelId, listed, access, signal }: OneToken,
): Promise<void> {
  const capabilities = upstream.capabilities(modelId, listed);
  const body = upstream.encode(
    {
      ...{ system: [], tools: [], stopSequences: [], safety: [], choices: 1, sampling: {} },
      turns: [{ role: 'user', parts: [{ kind: 'text', text }] }],
      toolChoice: { kind: 'auto', names: [] },
      reasoning: { amount: { kind: 'unset' } },
      outputFormat: { kind: 'text' },
      maxOutputTokens: 1,
    },
    {
      ...{ modelId, capabilities, receipt: createReceipt() },
      ...{ signatures: 'carried', usesPlaceholders: false },
    },
  );
  const frames = await upstream.open({ modelId, body, stream: false, access, signal });
  const { signatureFamily } = capabilities;
  const decoder = upstream.createDecoder({ body, signatureFamily, access, createId });
  for await (const batch of frames) {
    for (const { value } of batch) {
      const failed = decoder.push(value).find((event) => event.kind === 'error');
      if (failed !== undefined) throw failed.error;
    }
  }
}

function likelyModel({ models }: Account, upstream: Upstream): string | undefined {
  return answeringModels([...(models?.values() ?? [])], upstream)[0]?.id;
}

/** Those that say something to a word. */
function answeringModels(
  models: readonly UpstreamModel[],
  upstream: Pick<Upstream, 'capabilities'>,
): readonly UpstreamModel[] {
  return models.filter(
    (model) =>
      (model.tasks?.includes('generate') ?? true) &&
      upstream.capabilities(model.id, model).hasOwnForm !== true,
  );
}

/** The keys and accounts that were let through last; of more, the oldest may pass a little early. */
const MAX_PASSES = 1_000;

/** Limits trials: where every account was refused before, a request is let through once in a while. */
export class TrialPasses {
  readonly #passes = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  /** Milliseconds until this one may pass; 0 when it may now. */
  waitMs(
    name: string,
    { now, everyMs }: { readonly now: number; readonly everyMs: number },
  ): number {
    const at = this.#passes.get(name);
    // One that passed in the future did so before the clock was set back.
    return at === undefined || at > now ? 0 : Math.max(0, at + everyMs - now);
  }

  /** True for one in five of them. */
  countTurn(name: string): boolean {
    const count = (this.#counts.get(name) ?? 0) + 1;
    touchLru(this.#counts, [name, count % 5], MAX_PASSES);
    return count === 5;
  }

  note(name: string, now: number): void {
    touchLru(this.#passes, [name, now], MAX_PASSES);
  }
}

/** Asks a small model, for a token or two. @returns its id; undefined when none answers. @throws GatewayError */
export async function answerOnce(
  upstream: Upstream,
  access: AccountAccess,
  { models, signal }: { readonly models: readonly UpstreamModel[]; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const listed = pickSmallModel(answeringModels(models, upstream));
  if (listed === undefined) return undefined;
  const { id: modelId } = listed;
  await say('Say OK.', upstream, { modelId, listed, access, signal });
  return modelId;
}

/** Pictures cost more than a token. */
function pickSmallModel(models: readonly UpstreamModel[]): UpstreamModel | undefined {
  const answering = models.filter(({ id }) => !/image|embed|imagen|veo|tts|audio|live/i.test(id));
  const sizes = [/flash-?lite|mini|nano|haiku/i, /flash|small/i, /./];
  return sizes
    .map((size) => answering.find(({ id }) => size.test(id)))
    .find((model) => model !== undefined);
}
