// Puts every function response of native contents behind its call: in its content, none missing, none twice.

import { createIds } from '../../canonical/distinct-ids.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';
import { editFields } from './edits.ts';
import { mergeContents } from './merge-contents.ts';
import { type NativeCall, type NativeResponse, pairResponses, partsOf } from './pair-responses.ts';

type ResponseTarget = Pick<PatchTarget, 'receipt' | 'mayBePiece'>;

/**
 * Upstreams want as many responses as calls, in the content right behind them and, on newer models,
 * with the ids of the calls (ai.google.dev, "Function calling"). Late responses are moved, repeated
 * ones dropped, missing ones made up, as for every other client. Expects merged contents; the same
 * list when nothing is amiss, and for a piece of a conversation: order does not matter to a count.
 * @throws GatewayError (invalid-request) for a response without any call.
 */
export function patchResponses(contents: JsonValue[], target: ResponseTarget): JsonValue[] {
  const { receipt, mayBePiece = false } = target;
  const { calls, repeated, orphans } = pairResponses(contents);
  const [orphan] = orphans;
  if (orphan !== undefined) {
    if (mayBePiece) return contents;
    throw orphanError(orphan);
  }
  for (const { name } of repeated) {
    receipt.add(
      'dropped',
      'contents',
      told`A second response to the function ${name} was dropped.`,
    );
  }
  const patched: JsonValue[] = [];
  let step: Step = { calls: [], receipt };
  for (const [index, content] of contents.entries()) {
    if (isModel(content)) {
      step = { calls: distinguish(calls.get(index) ?? []), receipt };
      patched.push(withCallIds(content, step.calls));
      if (step.calls.length === 0 || isUser(contents[index + 1])) continue;
      patched.push({ role: 'user', parts: step.calls.map((call) => answerOf(call, step)) });
    } else {
      const answered = answerStep(content, index, step);
      if (answered !== undefined) patched.push(answered);
    }
    step = { calls: [], receipt };
  }
  const isSame =
    patched.length === contents.length && patched.every((content, i) => content === contents[i]);
  return isSame ? contents : endWithUser(mergeContents(patched), contents, receipt);
}

interface SentCall {
  readonly call: NativeCall;
  /** Other than the call's own when several calls of the step share it. */
  readonly id: string | undefined;
}

interface Step {
  readonly calls: readonly SentCall[];
  readonly receipt: Receipt;
}

/** The user content behind a step; undefined when all it held stands elsewhere now. */
function answerStep(content: JsonValue, index: number, step: Step): JsonValue | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
  const { parts } = content;
  const given = parts.filter(isResponse);
  if (given.length === 0 && step.calls.length === 0) return content;
  const answers = step.calls.map((sent) => answerOf(sent, step, index));
  const isComplete =
    given.length === answers.length && step.calls.every(({ call }) => call.answer?.place === index);
  const hasIds = step.calls.every(({ id }) => id !== undefined);
  if (isComplete && (hasIds || isInOrder(given, step.calls))) {
    const sent = new Map(step.calls.map(({ call }, i) => [call.answer?.part, answers[i]]));
    const kept = parts.map((part) => (isJsonObject(part) && sent.get(part)) || part);
    const isSame = kept.every((part, i) => part === parts[i]);
    return isSame ? content : { ...content, parts: kept };
  }
  const arranged = [...answers, ...parts.filter((part) => !isResponse(part))];
  return arranged.length === 0 ? undefined : { ...content, parts: arranged };
}

/** Without ids the upstream pairs by position. */
function isInOrder(given: readonly JsonValue[], calls: readonly SentCall[]): boolean {
  return given.every((part, index) => part === calls[index]?.call.answer?.part);
}

/** Clients may give all calls of a step one id; upstreams want each its own. */
function distinguish(calls: readonly NativeCall[]): SentCall[] {
  const freeId = createIds();
  return calls.map((call) => ({ call, id: call.id === undefined ? undefined : freeId(call.id) }));
}

function withCallIds(content: JsonObject, calls: readonly SentCall[]): JsonObject {
  if (calls.every(({ call, id }) => call.id === id)) return content;
  let position = 0;
  const parts = partsOf(content).map((part) => {
    const call = isJsonObject(part) ? part.functionCall : undefined;
    if (!isJsonObject(part) || !isJsonObject(call) || typeof call.name !== 'string') return part;
    const id = calls[position++]?.id;
    return editFields(part, { functionCall: editFields(call, { id }) });
  });
  return { ...content, parts };
}

/** `index` is where a response needs no move; absent when no content follows the step. */
function answerOf({ call, id }: SentCall, { receipt }: Step, index?: number): JsonObject {
  const { answer, name } = call;
  if (answer === undefined) {
    const reason = told`Function call ${id ?? name} has no response; "no result" was sent.`;
    receipt.add('repaired', 'contents', reason);
    const response = { name, response: { error: 'no result' } };
    return { functionResponse: id === undefined ? response : { id, ...response } };
  }
  if (answer.place !== index) {
    const reason = told`The response to ${id ?? name} was moved behind its call.`;
    receipt.add('repaired', 'contents', reason);
  }
  if (answer.name !== name || (answer.id !== undefined && answer.id !== id)) {
    const reason = told`A response to the function ${name} was given the id and name of its call.`;
    receipt.add('repaired', 'contents', reason);
  }
  const { id: _id, ...response } = answer.response;
  if (answer.id === id && answer.name === name) return answer.part;
  const named = id === undefined ? { ...response, name } : { id, ...response, name };
  return editFields(answer.part, { functionResponse: named });
}

/** A last content that held nothing but one response to an earlier call is gone now. */
function endWithUser(
  patched: JsonValue[],
  asked: readonly JsonValue[],
  receipt: Receipt,
): JsonValue[] {
  if (isModel(asked.at(-1)) || !isModel(patched.at(-1))) return patched;
  receipt.add('approximated', 'contents', told`A user turn "…" stands for the empty last one.`);
  return [...patched, { role: 'user', parts: [{ text: '…' }] }];
}

function isModel(content: JsonValue | undefined): content is JsonObject {
  return isJsonObject(content) && content.role === 'model';
}

function isUser(content: JsonValue | undefined): boolean {
  return isJsonObject(content) && content.role !== 'model' && Array.isArray(content.parts);
}

function isResponse(part: JsonValue): boolean {
  return isJsonObject(part) && part.functionResponse !== undefined;
}

function orphanError({ id, name }: NativeResponse): Error {
  return invalidRequest(
    'contents',
    `contents: the response ${id === undefined ? '' : `"${id}" `}of the function "${name}" answers ` +
      'no call before it. Send the content with the function call before its response.',
  );
}
