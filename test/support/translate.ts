// Asks the running gateway what a request would become, through `POST /api/translate`.

import { expect } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { readAnswer } from './protocol-calls.ts';

/** One request as its client would write it; `model` is the path's model of the generate protocol. */
export interface Asked {
  readonly protocol: 'chat' | 'messages' | 'generate';
  readonly model?: string;
  readonly body: JsonObject;
}

interface Translated {
  /** The model the upstream is asked for. */
  readonly model: JsonValue | undefined;
  /** What would be sent to the upstream. */
  readonly body: JsonObject;
  readonly receipt: JsonValue | undefined;
}

/** The translation; fails the test when the gateway refuses the request. */
export async function translate(url: string, asked: Asked): Promise<Translated> {
  const answer = await askToTranslate(url, asked);
  expect(answer.status, answer.text).toBe(200);
  const { body, receipt, upstream } = readObject(answer.body);
  return { model: readObject(upstream).model, body: readObject(body), receipt };
}

/** The field the gateway names when it refuses the request with a 400. */
export async function refusedField(url: string, asked: Asked): Promise<JsonValue | undefined> {
  const answer = await askToTranslate(url, asked);
  expect(answer.status, answer.text).toBe(400);
  return readObject(readObject(answer.body).error).field;
}

async function askToTranslate(url: string, asked: Asked) {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(asked);
  return readAnswer(await fetch(`${url}/api/translate`, { method: 'POST', headers, body }));
}

function readObject(value: unknown): JsonObject {
  // The one narrowing of this file: `isJsonObject` takes JSON, and this came from `parseJson`.
  const json = value as JsonValue | undefined;
  if (!isJsonObject(json)) throw new Error(`No object: ${JSON.stringify(value)}`);
  return json;
}
