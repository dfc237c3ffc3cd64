// Fields that a service refuses for one of its models, as nothing but the refusal tells where the name says nothing (Azure).

import type { Clock } from '../../lib/clock.ts';
import { told } from '../../lib/localized-message.ts';
import { complaintOf, ModelMemory } from '../stated-limits.ts';
import type { UpstreamCall } from '../upstream.ts';

/**
 * "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
 * "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
 * "Unknown parameter: 'reasoning_effort'.", "Unrecognized request argument supplied: reasoning_effort" (OpenAI, Azure),
 * "invalid temperature: only 1 is allowed for this model" (Moonshot).
 */
const REFUSALS = [
  /Unsupported parameter: '(\w+)' is not supported/,
  /Unsupported value: '(\w+)' does not support .*Only the default/,
  /Unknown parameter: '(\w+)'/,
  /Unrecognized request argument supplied: (\w+)/,
  /^invalid (\w+): only [\d.]+ is allowed/,
];

/** Two names of one field. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
]);

/** What an answer can do without. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'seed'],
  ...['logprobs', 'top_logprobs', 'reasoning_effort', 'verbosity', 'parallel_tool_calls'],
  ...['service_tier', 'prompt_cache_key', 'thinking', 'enable_thinking', 'chat_template_kwargs'],
]);

/** What the service of one upstream refused, by model. */
export class RefusedFields {
  readonly #known: ModelMemory<ReadonlySet<string>>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#known = new ModelMemory(clock);
  }

  /**
   * Sends the call without what is known to be refused, and again without each field that is refused now. A call without
   * a receipt, in which the client reads of that, is sent as it came.
   * @throws GatewayError as `send` does
   */
  async open<Opened>(
    call: UpstreamCall,
    send: (call: UpstreamCall) => Promise<Opened>,
  ): Promise<Opened> {
    const refused = new Set<string>();
    let fitted = call;
    for (const field of this.#known.find(call.modelId) ?? []) fitted = without(fitted, field);
    for (;;) {
      try {
        return await send(fitted);
      } catch (error) {
        const field = fieldIn(error);
        if (field === undefined || refused.has(field)) throw error;
        refused.add(field);
        const next = without(fitted, field);
        if (next === fitted) throw error;
        this.#learn(call.modelId, field);
        fitted = next;
      }
    }
  }

  #learn(modelId: string, field: string): void {
    const fields = new Set(this.#known.find(modelId)).add(field);
    // Of two names of one field the last one that was refused counts.
    fields.delete(OTHER_NAMES.get(field) ?? '');
    this.#known.learn(modelId, fields);
  }
}

function fieldIn(error: unknown): string | undefined {
  const said = complaintOf(error) ?? '';
  return REFUSALS.map((pattern) => pattern.exec(said)?.[1]).find((field) => field !== undefined);
}

/** The same call where it has no such field, or may not be changed. */
function without(call: UpstreamCall, field: string): UpstreamCall {
  const { body, receipt } = call;
  const { [field]: value, ...rest } = body;
  const otherName = OTHER_NAMES.get(field);
  if (value === undefined || receipt === undefined) return call;
  if (otherName !== undefined) return { ...call, body: { [otherName]: value, ...rest } };
  if (!OPTIONAL.has(field)) return call;
  const path = field === 'reasoning_effort' ? 'thinking' : field;
  receipt.add('dropped', path, told`The upstream has no such field.`);
  return { ...call, body: rest };
}
