// Shared by the tests of the Messages protocol: reads bodies, runs writers, takes streams apart.

import type { CanonicalEvent } from '../../src/canonical/event.ts';
import type { GroundingEvent } from '../../src/canonical/grounding.ts';
import { createReceipt } from '../../src/canonical/receipt.ts';
import type { CanonicalRequest, Signature } from '../../src/canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { createMessagesProtocol } from '../../src/protocols/messages/index.ts';
import { MessagesWriter } from '../../src/protocols/messages/write-events.ts';
import type { GenerateCall, ProtocolRoute, RouteInput } from '../../src/protocols/protocol.ts';
import type { ReplyContext } from '../../src/protocols/writers.ts';

const protocol = createMessagesProtocol();

export function routeAt<Operation extends ProtocolRoute['operation']>(
  operation: Operation,
  path: string,
): Extract<ProtocolRoute, { operation: Operation }> {
  const isWanted = (
    route: ProtocolRoute,
  ): route is Extract<ProtocolRoute, { operation: Operation }> =>
    route.operation === operation && route.path === path;
  const route = protocol.routes.find(isWanted);
  if (route === undefined) throw new Error(`no route ${operation} ${path}`);
  return route;
}

export function routeInput(body: JsonObject): RouteInput {
  const receipt = createReceipt();
  return { pathModel: '', query: new URLSearchParams(), headers: {}, body, receipt };
}

export function readCall(body: JsonObject): GenerateCall {
  return routeAt('generate', '/v1/messages').readCall(routeInput(body));
}

export const MINIMAL = {
  model: 'beta-sonnet-4-6',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi' }],
};

interface ReadResult {
  readonly request: CanonicalRequest;
  /** As `action path`. */
  readonly receipt: readonly string[];
}

/** Reads a minimal body with `fields` put over it. */
export function read(fields: JsonObject): ReadResult {
  const { request, relay } = readCall({ ...MINIMAL, ...fields });
  const losses = relay?.reading?.().losses ?? [];
  return { request, receipt: losses.map(({ action, path }) => `${action} ${path}`) };
}

/** Reads one user or assistant message of these blocks and gives the parts of its turn. */
export function readParts(
  blocks: JsonValue[],
  role = 'user',
): CanonicalRequest['turns'][0]['parts'] {
  const { request } = read({ messages: [{ role, content: blocks }] });
  const turn = request.turns[0];
  if (turn === undefined) throw new Error('no turn');
  return turn.parts;
}

export function replyContext(): ReplyContext {
  let count = 0;
  return {
    model: 'beta-sonnet-4-6',
    createId: (prefix) => `${prefix}${++count}`,
    createdAt: 1_700_000_000,
  };
}

/** The stream text for the events. */
export function writeStream(
  events: readonly CanonicalEvent[],
  omitsThinking = false,
  fetchesPages = false,
): string {
  const writer = new MessagesWriter(replyContext(), { omitsThinking, fetchesPages });
  return events.map((event) => writer.write(event)).join('');
}

/** The frames of a stream; fails on anything but `event:` + one-line `data:` + an empty line. */
export function parseFrames(text: string): JsonObject[] {
  if (text !== '' && !text.endsWith('\n\n')) throw new Error('the last frame is not closed');
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const match = /^event: ([a-z_]+)\ndata: ([^\r\n]+)$/.exec(frame);
      const body: unknown = JSON.parse(match?.[2] ?? 'null');
      if (!isJsonObject(body)) throw new Error(`not a frame: ${frame}`);
      if (body.type !== match?.[1]) throw new Error(`event name differs from type: ${frame}`);
      return body;
    });
}

/** The events of an answer of one text, around `middle`. */
export function answer(
  middle: readonly CanonicalEvent[],
  end: Partial<Extract<CanonicalEvent, { kind: 'finish' }>['choices'][0]> = {},
): CanonicalEvent[] {
  return [
    { kind: 'start' },
    ...middle,
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop', ...end }] },
  ];
}

export function textBlock(index: number, ...texts: readonly string[]): CanonicalEvent[] {
  return [
    { kind: 'block-start', index, choice: 0, block: { kind: 'text' } },
    ...texts.map(
      (text): CanonicalEvent => ({ kind: 'block-delta', index, delta: { kind: 'text', text } }),
    ),
    { kind: 'block-end', index },
  ];
}

export const SIGNATURE: Signature = { value: 'S', family: 'g3', on: 'thinking' };
export const USAGE = {
  promptTokens: 100,
  cachedTokens: 60,
  toolPromptTokens: 0,
  answerTokens: 5,
  thoughtTokens: 7,
};

export function thinkingBlock(
  index: number,
  text: string,
  signature?: Signature,
): CanonicalEvent[] {
  return [
    { kind: 'block-start', index, choice: 0, block: { kind: 'thinking' } },
    { kind: 'block-delta', index, delta: { kind: 'thinking', text } },
    { kind: 'block-end', index, signature },
  ];
}

export function callBlock(index: number, json: string, signature?: Signature): CanonicalEvent[] {
  return [
    {
      kind: 'block-start',
      index,
      choice: 0,
      block: { kind: 'tool-call', id: `c${index}`, name: 'w', signature },
    },
    { kind: 'block-delta', index, delta: { kind: 'arguments', json } },
    { kind: 'block-end', index },
  ];
}

/** Pages that were opened, with a search or without. */
export function pagesOf(grounding: Partial<GroundingEvent> = {}): GroundingEvent {
  return {
    ...{ kind: 'grounding', choice: 0, queries: [], sources: [], citations: [] },
    pages: [
      { url: 'https://a.test/', outcome: 'read' },
      { url: 'https://b.test/', outcome: 'refused' },
    ],
    ...grounding,
  };
}

export const GROUNDING: GroundingEvent = {
  kind: 'grounding',
  choice: 0,
  queries: ['q'],
  sources: [{ url: 'u', title: 'T' }],
  citations: [{ startIndex: 0, endIndex: 2, text: 'Hi', sources: [0, 7] }],
};
