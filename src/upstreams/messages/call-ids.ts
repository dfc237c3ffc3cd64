// The ids of tool calls as they are sent on this wire: of a form it takes, each once in the conversation.

import { createHash } from 'node:crypto';
import { createIds } from '../../canonical/tool-names.ts';

/** Messages API: `tool_use.id`. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

export class CallIds {
  readonly #free = createIds();
  /** Of the turn before, whose calls results belong to; several where calls share an id. */
  #sent = new Map<string, string[]>();

  beginTurn(): void {
    this.#sent = new Map();
  }

  send(id: string): string {
    const sent = this.#free(CALL_ID.test(id) ? id : spellId(id));
    const known = this.#sent.get(id);
    if (known === undefined) this.#sent.set(id, [sent]);
    else known.push(sent);
    return sent;
  }

  /** Results to calls of one id are in the order of these. */
  sentOf(callId: string): string {
    const [sent = callId, ...others] = this.#sent.get(callId) ?? [];
    if (others.length > 0) this.#sent.set(callId, others);
    return sent;
  }
}

/** The same for the same id, so that prompts stay equal from turn to turn. */
function spellId(id: string): string {
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}
