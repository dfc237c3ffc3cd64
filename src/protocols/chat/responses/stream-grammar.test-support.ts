// An independent check of a Responses stream: order, numbers, ids, and the sum of its parts.

import { expect } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';

interface OpenItem {
  readonly index: number;
  readonly texts: Map<string, string>;
}

/** What each kind of delta adds up to in the finished item. */
const SUMS: Readonly<Record<string, (item: JsonObject) => unknown>> = {
  'response.output_text.delta': (item) => partOf(item, 'content')?.text,
  'response.reasoning_summary_text.delta': (item) => partOf(item, 'summary')?.text,
  'response.function_call_arguments.delta': (item) => item.arguments,
  'response.custom_tool_call_input.delta': (item) => item.input,
};

/** @throws an assertion error for the first rule that is broken. */
export function checkStream(frames: readonly JsonObject[]): void {
  expect(frames.map((frame) => frame.sequence_number)).toEqual([...frames.keys()]);
  expect(frames[0]?.type).toBe('response.created');
  expect(frames[1]?.type).toBe('response.in_progress');
  const open = new Map<unknown, OpenItem>();
  const done: JsonObject[] = [];
  for (const frame of frames.slice(2, -1)) checkFrame(frame, open, done);
  expect(open.size).toBe(0);
  checkEnd(frames, done);
}

function checkFrame(frame: JsonObject, open: Map<unknown, OpenItem>, done: JsonObject[]): void {
  const type = String(frame.type);
  if (type === 'response.output_item.added') {
    const item = objectIn(frame, 'item');
    expect(open.size).toBe(0);
    expect(frame.output_index).toBe(done.length);
    expect(done.map(({ id }) => id)).not.toContain(item.id);
    open.set(item.id, { index: done.length, texts: new Map() });
    return;
  }
  if (type === 'response.output_item.done') {
    const item = objectIn(frame, 'item');
    const opened = open.get(item.id);
    expect(opened?.index).toBe(frame.output_index);
    for (const [kind, text] of opened?.texts ?? []) expect(SUMS[kind]?.(item)).toBe(text);
    open.delete(item.id);
    done.push(item);
    return;
  }
  const holder = open.get(frame.item_id);
  expect(holder?.index, `${type} outside its item`).toBe(frame.output_index);
  if (typeof frame.delta !== 'string' || holder === undefined) return;
  holder.texts.set(type, (holder.texts.get(type) ?? '') + frame.delta);
}

function checkEnd(frames: readonly JsonObject[], done: readonly JsonObject[]): void {
  const last = frames.at(-1) ?? {};
  const response = objectIn(last, 'response');
  expect(last.type).toBe(`response.${response.status}`);
  expect(response.output).toEqual(done);
  expect(response.id).toBe(objectIn(frames[0] ?? {}, 'response').id);
  const ids = done.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
}

function objectIn(frame: JsonObject, key: string): JsonObject {
  const value = frame[key];
  if (!isJsonObject(value)) throw new Error(`${String(frame.type)} has no ${key}.`);
  return value;
}

function partOf(item: JsonObject, key: string): JsonObject | undefined {
  const parts = item[key];
  const part = Array.isArray(parts) ? parts[0] : undefined;
  return isJsonObject(part) ? part : undefined;
}
