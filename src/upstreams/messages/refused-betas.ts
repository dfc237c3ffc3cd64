// Beta flags of clients that a service refuses, as nothing but the refusal tells: left out, at once and from then on.
// Services that pass Messages on to Bedrock or Vertex refuse what a newer client sends them.

import type { Clock } from '../../lib/clock.ts';
import { told } from '../../lib/localized-message.ts';
import { mergeBetas } from '../../wire/messages.ts';
import { HEADER_SPELLINGS } from '../../wire/vocabulary.ts';
import { complaintOf, ModelMemory } from '../refusals.ts';
import type { UpstreamCall } from '../upstream.ts';

type Call = Omit<UpstreamCall, 'stream'>;

/** "Unexpected value(s) `x` for the `anthropic-beta` header", "invalid beta flag". */
const REFUSAL = /\banthropic[-_]beta\b|\bbeta flag/i;

/** Some services name one at a time. */
const MAX_REFUSALS = 8;

export class RefusedBetas {
  readonly #known: ModelMemory<ReadonlySet<string>>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#known = new ModelMemory(clock);
  }

  /**
   * Sends the call without the flags that are known to be refused, and again without those refused now: all where none
   * is named. A call without a receipt, in which the client reads of that, is sent as it came.
   * @throws GatewayError as `send` does
   */
  async open<Given extends Call, Opened>(
    call: Given,
    send: (call: Given) => Promise<Opened>,
  ): Promise<Opened> {
    const refused = new Set(this.#known.find(call.modelId));
    let fitted = without(call, refused);
    for (let met = 0; ; met += 1) {
      try {
        const opened = await send(fitted);
        // Not before: a refusal may quote the words of a client.
        if (met > 0) this.#known.learn(call.modelId, refused);
        return opened;
      } catch (error) {
        const said = complaintOf(error);
        if (said === undefined || !REFUSAL.test(said) || met === MAX_REFUSALS) throw error;
        const flags = flagsOf(fitted);
        const named = flags.filter((flag) => said.includes(flag));
        const next = without(fitted, new Set(named.length === 0 ? flags : named));
        if (next === fitted) throw error;
        for (const flag of named) refused.add(flag);
        fitted = next;
      }
    }
  }
}

function flagsOf({ clientHeaders = {} }: Call): readonly string[] {
  const values = HEADER_SPELLINGS.messagesBeta.map((name) => clientHeaders[name]);
  return mergeBetas(values)
    .split(',')
    .filter((flag) => flag !== '');
}

/** The same call where it has none of them, or may not be changed. */
function without<Given extends Call>(call: Given, refused: ReadonlySet<string>): Given {
  const { receipt, clientHeaders } = call;
  const flags = flagsOf(call);
  const kept = flags.filter((flag) => !refused.has(flag));
  if (receipt === undefined || kept.length === flags.length) return call;
  for (const flag of flags) {
    if (!refused.has(flag)) continue;
    receipt.add('dropped', `anthropic-beta: ${flag}`, told`The upstream has no such setting.`);
  }
  const others = Object.entries(clientHeaders ?? {}).filter(
    ([name]) => !HEADER_SPELLINGS.messagesBeta.some((spelling) => spelling === name),
  );
  return {
    ...call,
    clientHeaders: { ...Object.fromEntries(others), 'anthropic-beta': kept.join(',') },
  };
}
