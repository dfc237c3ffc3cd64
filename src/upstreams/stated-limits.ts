// What services tell when they refuse a request, remembered by model for a while: above all limits of answers, which no
// model list has.

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
 * Services change what they take, and routers have several behind one name. To learn one again costs a refused call, which
 * its client does not see: it is neither stored nor told to other processes.
 */
const LIFETIME_MS = 3_600_000;

/** What the service of one upstream was found to be like, by model. Clients name models, so there are not many kept. */
export class ModelMemory<Fact> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, { readonly fact: Fact; readonly until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  find(modelId: string): Fact | undefined {
    const known = this.#known.get(modelId);
    return known !== undefined && this.#clock.monotonic() < known.until ? known.fact : undefined;
  }

  learn(modelId: string, fact: Fact): void {
    if (this.#known.size >= MAX_MODELS) this.#known.clear();
    this.#known.set(modelId, { fact, until: this.#clock.monotonic() + LIFETIME_MS });
  }
}

/** What a service says that refused a request for what it asked; undefined of any other error. */
export function complaintOf(error: unknown): string | undefined {
  if (!(error instanceof GatewayError) || error.failure?.kind !== 'rejected') return undefined;
  const { detail } = error.failure;
  return detail === undefined ? undefined : textOf(detail);
}

/** The limits that the service of one upstream stated. */
export class OutputLimits {
  readonly #wire: Pick<Upstream, 'outputLimit' | 'limitOutput'>;
  readonly #known: ModelMemory<ReportedLimit>;

  constructor(
    wire: Pick<Upstream, 'outputLimit' | 'limitOutput'>,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#wire = wire;
    this.#known = new ModelMemory(clock);
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
    const known = this.#known.find(call.modelId);
    const first = known === undefined ? call : this.#within(known, call);
    try {
      return await send(first);
    } catch (error) {
      const limit = readReportedLimit(complaintOf(error) ?? '');
      const next = limit && this.#within(limit, first);
      if (next === undefined || next === first) throw error;
      if (limit?.isOfModel === true) this.#known.learn(call.modelId, limit);
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
}
