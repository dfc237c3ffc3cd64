// Ids of calls in the form an upstream of this wire takes, everywhere they stand.

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { itemsOf, textOf } from '../read-values.ts';
import type { ChatQuirks } from './profiles.ts';

const MAX_ID_LENGTH = 40;
const NINE = /^[A-Za-z0-9]{9}$/;

/**
 * Ids are the client's business and mean nothing upstream: one that is too long, or used before, is another one there,
 * the same in every request.
 */
export function fitCallIds(body: JsonObject, form: ChatQuirks['callIds']): void {
  const used = new Set<string>();
  const sent = new Map<string, string>();
  body.messages = itemsOf(body.messages).map((message) => {
    if (!isJsonObject(message)) return message;
    if (message.role === 'tool') {
      const id = textOf(message.tool_call_id) ?? '';
      const own = sent.get(id) ?? takenId(id, form);
      return own === id ? message : { ...message, tool_call_id: own };
    }
    if (!Array.isArray(message.tool_calls)) return message;
    let isChanged = false;
    const calls = message.tool_calls.map((call) => {
      const id = isJsonObject(call) ? textOf(call.id) : undefined;
      if (!isJsonObject(call) || id === undefined) return call;
      const own = freeId(id, form, used);
      used.add(own);
      sent.set(id, own);
      isChanged ||= own !== id;
      return own === id ? call : { ...call, id: own };
    });
    return isChanged ? { ...message, tool_calls: calls } : message;
  });
}

function freeId(id: string, form: ChatQuirks['callIds'], used: ReadonlySet<string>): string {
  let free = takenId(id, form);
  for (let count = 1; used.has(free); count += 1) free = digestId(`${id}#${count}`, form);
  return free;
}

function takenId(id: string, form: ChatQuirks['callIds']): string {
  const isTaken = form === 'nine' ? NINE.test(id) : id.length <= MAX_ID_LENGTH;
  return isTaken ? id : digestId(id, form);
}

function digestId(id: string, form: ChatQuirks['callIds']): string {
  const digest = createHash('sha256').update(id).digest('hex');
  return form === 'nine' ? digest.slice(0, 9) : `call_${digest.slice(0, 24)}`;
}
