// Reads Responses requests and writes their answers: what the tests of this surface share.

import OpenAI from 'openai';
import type { CanonicalEvent } from '../../../canonical/event.ts';
import { createReceipt, type ReceiptEntry } from '../../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../lib/json.ts';
import type { EarlierItems } from '../../protocol.ts';
import type { ReplyContext } from '../../writers.ts';
import { type ResponseSettings, readResponsesRequest } from './read-request.ts';

import { ResponsesWriter } from './write-events.ts';

export interface ReadResult {
  readonly canonical: CanonicalRequest;
  readonly settings: ResponseSettings;
  readonly notes: readonly ReceiptEntry[];
}

export function read(body: JsonObject, earlier?: EarlierItems): ReadResult {
  const receipt = createReceipt();
  const { canonical, settings } = readResponsesRequest({ model: 'm', ...body }, receipt, earlier);
  return { canonical, settings, notes: receipt.entries };
}

export function createContext(): ReplyContext {
  let count = 0;
  return {
    model: 'm',
    createId(prefix) {
      count += 1;
      return `${prefix}${count}`;
    },
    createdAt: 1_763_600_000,
  };
}

export function stream(events: readonly CanonicalEvent[], settings: ResponseSettings): string {
  const writer = new ResponsesWriter(createContext(), settings);
  return events.map((event) => writer.write(event)).join('');
}

/** The events of a stream's text, in order. */
export function framesOf(text: string): readonly JsonObject[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .map((frame) => {
      const [name = '', data = ''] = frame.split('\n');
      const value = parseJson(data.slice('data: '.length));
      if (!isJsonObject(value) || name !== `event: ${value.type}`) {
        throw new Error(`An event whose name is not its type: ${frame}`);
      }
      return value;
    });
}

/** An official client that gets this answer to whatever it asks. */
export function officialClient(text: string, type: string): OpenAI {
  return new OpenAI({
    apiKey: 'k',
    baseURL: 'http://127.0.0.1/v1',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(text, { headers: { 'content-type': type } })),
  });
}
