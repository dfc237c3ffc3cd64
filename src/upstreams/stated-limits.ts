// Limits of answers that no model list has: services state them when they refuse a larger one.

import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { textOf, told } from '../lib/localized-message.ts';
import type { Upstream, UpstreamCall } from './upstream.ts';

interface ReportedLimit {
  readonly tokens: number;
  /** False for what the length of this prompt leaves. */
  readonly isOfModel: boolean;
}

/** Less room for an answer than this is a prompt that is too long. */
const MIN_ROOM = 1024;

/**
 * "max_tokens is too large: 32000. This model supports at most 16384 completion tokens" (OpenAI, Azure), "the valid
 * range of max_tokens is [1, 8192]" (DeepSeek), "Range of max_tokens should be [1, 8192]" (Qwen), "`max_tokens` must be
 * less than or equal to `32768`" (Groq), "max_tokens: 32000 > 4096, which is the maximum allowed number of output
 * tokens" (Anthropic).
 */
const OF_MODEL = [
  /supports at most (\d+) (?:completion|output) tokens/i,
  /range of max_(?:completion_)?tokens (?:is|should be) \[\d+, ?(\d+)\]/i,
  /max_(?:completion_)?tokens[`'"]? must be less than or equal to [`'"]?(\d+)/i,
  /max_tokens: \d+ > (\d+), which is the maximum allowed/i,
];
/**
 * "(32000 > 16384 - 12)" (vLLM), "maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in
 * the messages, 8000 in the completion)" (OpenAI), "exceed context limit: 188240 + 21333 > 200000" (Anthropic).
 */
const OF_PROMPT = [
  /\(\d+ > (?<whole>\d+) - (?<prompt>\d+)\)/,
  /maximum context length is (?<whole>\d+) tokens\b[^(]*\((?<prompt>\d+) in the messages, \d+ in the completion\)/i,
  /exceed context limit: (?<prompt>\d+) \+ \d+ > (?<whole>\d+)/i,
];

/** Undefined for a refusal of something else, and where too little is left for an answer. */
function readReportedLimit(said: string): ReportedLimit | undefined {
  for (const pattern of OF_MODEL) {
    const tokens = Number(pattern.exec(said)?.[1] ?? 0);
    if (tokens > 0) return { tokens, isOfModel: true };
  }
  for (const pattern of OF_PROMPT) {
    const { whole, prompt } = pattern.exec(said)?.groups ?? {};
    const tokens = Number(whole ?? 0) - Number(prompt ?? 0);
    if (tokens >= MIN_ROOM) return { tokens, isOfModel: false };
  }
  return undefined;
}

const MAX_MODELS = 1000;
/**
 * Services raise their limits, and routers have several behind one name. To learn one again costs a refused call, which
 * its client does not see: it is neither stored nor told to other processes.
 */
const LIFETIME_MS = 3_600_000;

/** The limits that the service of one upstream stated. */
export class OutputLimits {
  readonly #wire: Pick<Upstream, 'outputLimit' | 'limitOutput'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #known = new Map<string, { readonly limit: ReportedLimit; readonly until: number }>();

  constructor(wire: Pick<Upstream, 'outputLimit' | 'limitOutput'>, clock: Pick<Clock, 'now'>) {
    this.#wire = wire;
    this.#clock = clock;
  }

  /**
   * Sends the call, and once more with a lower limit where the service states one. A call without a receipt, in which the
   * client reads of that, is sent as it came.
   * @throws GatewayError as `send` does
   */
  async open<Opened>(
    call: UpstreamCall,
    send: (call: UpstreamCall) => Promise<Opened>,
  ): Promise<Opened> {
    const known = this.#known.get(call.modelId);
    const isFresh = known !== undefined && this.#clock.now() < known.until;
    const first = isFresh ? this.#within(known.limit, call) : call;
    try {
      return await send(first);
    } catch (error) {
      const limit = limitIn(error);
      const next = limit && this.#within(limit, first);
      if (next === undefined || next === first) throw error;
      if (limit?.isOfModel === true) this.#learn(call.modelId, limit);
      return await send(next);
    }
  }

  /** The same call where it asks for no more, or may not be changed. */
  #within({ tokens, isOfModel }: ReportedLimit, call: UpstreamCall): UpstreamCall {
    const { modelId, body, receipt } = call;
    const asked = this.#wire.outputLimit(body);
    if (asked === undefined || asked <= tokens || receipt === undefined) return call;
    const reason = isOfModel
      ? told`This model writes at most ${tokens} tokens.`
      : told`The prompt leaves ${tokens} tokens for the answer.`;
    receipt.add('capped', 'max_tokens', reason);
    const limited = this.#wire.limitOutput(body, tokens, { modelId });
    if (limited.thinking !== body.thinking) {
      receipt.add('approximated', 'thinking', told`Lowered to leave room for the answer.`);
    }
    return { ...call, body: limited };
  }

  #learn(modelId: string, limit: ReportedLimit): void {
    if (this.#known.size >= MAX_MODELS) this.#known.clear();
    this.#known.set(modelId, { limit, until: this.#clock.now() + LIFETIME_MS });
  }
}

function limitIn(error: unknown): ReportedLimit | undefined {
  if (!(error instanceof GatewayError) || error.failure?.kind !== 'rejected') return undefined;
  const { detail } = error.failure;
  return detail === undefined ? undefined : readReportedLimit(textOf(detail));
}
