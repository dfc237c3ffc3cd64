// The results of tool calls in a relayed history, by the call that each answers, until they are placed behind it.

import type { Receipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';

export class OpenResults {
  readonly #byId = new Map<string, JsonObject[]>();

  add(callId: string, result: JsonObject): void {
    const known = this.#byId.get(callId);
    if (known === undefined) this.#byId.set(callId, [result]);
    else known.push(result);
  }

  /** The first that is left; undefined, and noted, where the call has none. */
  take(callId: string, receipt: Receipt): JsonObject | undefined {
    const found = this.#byId.get(callId)?.shift();
    if (found === undefined) {
      const reason = told`Tool call ${callId} has no result; "no result" was sent.`;
      receipt.add('repaired', 'messages', reason);
    }
    return found;
  }

  /** Notes what is left of these calls: each has one result. */
  noteLeft(called: ReadonlySet<string>, receipt: Receipt): void {
    for (const [id, left] of this.#byId) {
      if (!called.has(id) || left.length === 0) continue;
      receipt.add('dropped', 'messages', told`A second result of tool call ${id} was dropped.`);
    }
  }
}
