// What a session needs of a protocol: how to ask, and what an answer says after its grammar was checked.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import type { Call, Entry, Tampering } from './entries.ts';

/** `undeclared`: the request has no tools, whatever its history holds. */
export type ToolWish = 'auto' | 'none' | 'required' | 'undeclared';
export type ThinkingWish = 'unset' | 'off' | 'on' | 'adaptive';

export interface Question {
  readonly model: string;
  readonly entries: readonly Entry[];
  readonly stream: boolean;
  /** A native stream as one JSON array instead of events. */
  readonly asArray: boolean;
  readonly thinking: ThinkingWish;
  readonly tools: ToolWish;
  readonly maxTokens: number;
}

export interface Answer {
  readonly messages: readonly JsonObject[];
  readonly calls: readonly Call[];
  readonly text: string;
  readonly finish: 'stop' | 'tool-calls' | 'max-tokens' | 'other';
}

export interface SessionClient {
  readonly name: 'chat' | 'messages' | 'generate';
  readonly models: readonly string[];
  /** The ones between which a careful client may switch without a word of the upstream. */
  readonly carefulModels: readonly string[];
  readonly tampering: Tampering;
  path(question: Question): string;
  body(question: Question): JsonObject;
  /** @throws Error at the first break of the protocol's grammar. */
  readReply(body: JsonObject): Answer;
  /** @throws Error at the first break of the protocol's grammar. */
  readStream(text: string): Answer;
}

export const TOOL_NAMES = ['read_file', 'search', 'run'] as const;

export const TOOL_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'What to look at' },
    limit: { type: ['integer', 'null'] },
    mode: { enum: ['fast', 'whole'] },
  },
  required: ['path'],
  additionalProperties: false,
};

export function check(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`grammar: ${rule}`);
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A count of tokens. */
export function countOf(value: JsonValue | undefined): number {
  if (value === undefined) return 0;
  check(typeof value === 'number' && Number.isInteger(value) && value >= 0, `a count: ${value}`);
  return value;
}

/** The payloads of a stream's `data:` lines, `[DONE]` left out. */
export function payloadsOf(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => objectOf(parseJson(line.slice('data: '.length))));
}

/** The object without some of its members. */
export function without(holder: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(holder).filter(([key]) => !keys.includes(key)));
}
