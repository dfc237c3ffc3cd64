// What the sandbox's tests share: request builders, a fake clock, and a running sandbox.

import { once } from 'node:events';
import { SandboxError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { findModel } from './models.ts';
import { readMessage } from './proto.ts';
import { checkRequest } from './rules.ts';
import { createSandbox, type SandboxOptions } from './server.ts';
import { type Answer, readDirectives, readLastTurn, simulate } from './simulate.ts';
import { createSignatures, type SandboxAccount, type SandboxClock } from './state.ts';

export const ADA: SandboxAccount = {
  email: 'ada@sandbox.example',
  tier: 'ultra',
  key: 'key-of-ada',
  project: 'sandbox-ada',
};
export const GRACE: SandboxAccount = {
  ...ADA,
  email: 'grace@sandbox.example',
  key: 'key-of-grace',
  project: 'sandbox-grace',
};
export const NOON = Date.UTC(2026, 0, 1, 12);
export const testSignatures = createSignatures('test');

export const user = (...parts: JsonValue[]): JsonObject => ({ role: 'user', parts });
export const model = (...parts: JsonValue[]): JsonObject => ({ role: 'model', parts });
export const text = (words: string): JsonObject => ({ text: words });
export const ask = (words: string, more: JsonObject = {}): JsonObject => ({
  contents: [user(text(words))],
  ...more,
});
export const declare = (...names: string[]): JsonObject => ({
  tools: [
    {
      functionDeclarations: names.map((name) => ({
        name,
        parameters: { type: 'OBJECT', properties: { path: { type: 'STRING' } } },
      })),
    },
  ],
});

/** The violations' text; '' when the request is accepted. */
export function refusal(body: JsonValue, modelId = 'alpha-3-flash'): string {
  try {
    const request = readMessage('GenerateContentRequest', body);
    checkRequest({ request, model: requireTestModel(modelId), signatures: testSignatures });
    return '';
  } catch (error) {
    if (error instanceof SandboxError && error.status === 400) return error.message;
    throw error;
  }
}

/** Plays a valid request. */
export function simulateBody(body: JsonValue, modelId = 'alpha-3-flash'): Answer {
  const request = readMessage('GenerateContentRequest', body);
  const chosen = requireTestModel(modelId);
  checkRequest({ request, model: chosen, signatures: testSignatures });
  const turn = readLastTurn(request.contents ?? []);
  const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9].values();
  return simulate({
    request,
    model: chosen,
    turn,
    directives: readDirectives(turn.text),
    cachedTokens: 0,
    createId: (prefix) => `${prefix}${ids.next().value}`,
  });
}

/** Sleeps as long as this never end by themselves. */
export const FOREVER_MS = 600_000;

/** A clock whose time moves only by `advance`; sleeps are noted and end at once. */
export function createTestClock(): SandboxClock & {
  advance(ms: number): void;
  readonly sleeps: readonly number[];
} {
  let now = NOON;
  const sleeps: number[] = [];
  return {
    sleeps,
    advance: (ms) => {
      now += ms;
    },
    now: () => now,
    sleep: async (delayMs, signal) => {
      signal.throwIfAborted();
      sleeps.push(delayMs);
      if (delayMs === FOREVER_MS) await once(signal, 'abort');
      signal.throwIfAborted();
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly json: JsonObject;
}

/** A listening sandbox of two accounts; `send` uses Ada's key unless told otherwise. */
export async function startTestSandbox(
  accounts: readonly SandboxAccount[] = [ADA, GRACE],
  options: Partial<SandboxOptions> = {},
) {
  const clock = createTestClock();
  const sandbox = createSandbox({ accounts, clock, ...options });
  const { url, oauth } = await sandbox.start();
  const send = async (
    path: string,
    { body, method = body === undefined ? 'GET' : 'POST', headers = {} }: SendOptions = {},
  ): Promise<Reply> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${ADA.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const received = await response.text();
    return { status: response.status, text: received, json: readObject(received) };
  };
  return { clock, url, oauth, send, close: () => sandbox.close() };
}

export interface SendOptions {
  readonly body?: JsonValue;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function readObject(received: string): JsonObject {
  try {
    const value: JsonValue = JSON.parse(received);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function requireTestModel(id: string) {
  const found = findModel(id);
  if (found === undefined) throw new Error(`no model ${id}`);
  return found;
}
