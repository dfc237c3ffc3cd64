// Asks what a client's request becomes upstream, in either vocabulary.

import { createReceipt } from '../../src/canonical/receipt.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { GenerateCall } from '../../src/protocols/protocol.ts';
import { isGenerateCall, type RequestCase, readCall, translate } from '../golden/request-case.ts';
import type { InWords, Protocol } from './row.ts';
import type { Words } from './words.ts';

export interface Asked {
  readonly protocol: Protocol;
  readonly words: Words;
  readonly ask: InWords;
  readonly model?: string | undefined;
  readonly stream?: boolean;
}

export interface Written {
  readonly body: JsonObject;
  /** `action path`, in order. */
  readonly noted: readonly string[];
}

const HI = [{ role: 'user', content: 'Hi' }];

/** The body upstream, and its receipt. @throws GatewayError when the request is refused. */
export function askUpstream(asked: Asked): Written {
  const { body, receipt } = translate(requestOf(asked), asked.words.target);
  const noted = receipt.entries.map(({ action, path }) => `${action} ${path}`);
  return { body: JSON.parse(JSON.stringify(body)), noted };
}

/** The call as the dispatcher gets it, for writing its answer. */
export function callOf(asked: Asked): GenerateCall {
  const call = readCall(requestOf(asked), createReceipt());
  if (!isGenerateCall(call)) throw new Error(`${asked.protocol} gives no answer`);
  return call;
}

/** The smallest request of the protocol with the fields asked for. */
export function requestOf({ protocol, words, ask, model, stream }: Asked): RequestCase {
  const fields = inWords(ask, words);
  const named = model ?? words.model;
  const streams = stream === true ? { stream } : {};
  switch (protocol) {
    case 'chat':
      return {
        path: '/v1/chat/completions',
        body: { model: named, messages: HI, ...streams, ...fields },
      };
    case 'responses':
      return {
        path: '/v1/responses',
        body: { model: named, input: 'Hi', store: false, ...streams, ...fields },
      };
    case 'messages':
      return {
        path: '/v1/messages',
        body: { model: named, max_tokens: 4000, messages: HI, ...streams, ...fields },
      };
    case 'generate': {
      const method = stream === true ? 'streamGenerateContent' : 'generateContent';
      return {
        path: `/v1beta/models/${named}:${method}`,
        ...(stream === true ? { query: 'alt=sse' } : {}),
        body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...fields },
      };
    }
    default:
      return protocol satisfies never;
  }
}

export function inWords(value: InWords, words: Words): JsonObject {
  return typeof value === 'function' ? value(words) : value;
}
