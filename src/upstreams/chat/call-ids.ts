// Names of functions and ids of calls in the form an upstream of this wire takes, everywhere they stand.

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, textOf } from '../read-values.ts';
import type { FitContext } from './models.ts';
import type { ChatQuirks } from './profiles.ts';

/** platform.openai.com, API reference of `tools.function.name`. */
const TAKEN_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const UNTAKEN = /[^A-Za-z0-9_-]/g;
const MAX_NAME_LENGTH = 64;

function takenName(name: string): string {
  return TAKEN_NAME.test(name) ? name : name.replace(UNTAKEN, '_').slice(0, MAX_NAME_LENGTH);
}

/** Dots and colons become low lines: answers find the way back by the words (`transforms/answer/calls.ts`). */
export function fitNames(body: JsonObject, { target }: FitContext): void {
  let isChanged = false;
  const fitHolder = (holder: JsonObject): JsonObject => {
    const name = textOf(holder.name);
    if (name === undefined || TAKEN_NAME.test(name)) return holder;
    isChanged = true;
    return { ...holder, name: takenName(name) };
  };
  const fitTool = (tool: JsonValue): JsonValue => {
    if (!isJsonObject(tool)) return tool;
    const key = tool.type === 'custom' ? 'custom' : 'function';
    const holder = objectOf(tool[key]);
    const fitted = holder === undefined ? undefined : fitHolder(holder);
    return fitted === undefined || fitted === holder ? tool : { ...tool, [key]: fitted };
  };
  if (body.tools !== undefined) body.tools = itemsOf(body.tools).map(fitTool);
  if (isJsonObject(body.tool_choice)) body.tool_choice = fitTool(body.tool_choice);
  body.messages = itemsOf(body.messages).map((message) => {
    if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return message;
    const calls = message.tool_calls.map(fitTool);
    const isSame = calls.every((call, at) => call === itemsOf(message.tool_calls)[at]);
    return isSame ? message : { ...message, tool_calls: calls };
  });
  if (!isChanged) return;
  const reason = told`Upstreams refuse such a name: another is sent in its place.`;
  target.receipt.add('repaired', 'tools', reason);
}

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
