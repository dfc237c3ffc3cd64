// Builds answers as events and writes them both ways: what the writer tests share.

import OpenAI from 'openai';
import type { CanonicalEvent, ChoiceEnd } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { Signature } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ChatCompletion } from '../../wire/chat.ts';
import type { RouteInput, UploadedFile } from '../protocol.ts';
import type { ReplyContext } from '../writers.ts';
import type { AnswerOptions } from './answer-parts.ts';
import { ChatWriter } from './write-events.ts';
import { writeReply } from './write-reply.ts';

export const CONTEXT: ReplyContext = {
  model: 'alpha-3-flash',
  createId: (prefix) => `${prefix}1`,
  createdAt: 1_763_600_000,
};

/** What a route of these bodies and files is given to read. */
export function inputOf(body: JsonObject, files: readonly UploadedFile[] = []): RouteInput {
  return {
    pathModel: '',
    query: new URLSearchParams(),
    headers: {},
    body,
    files,
    receipt: createReceipt(),
  };
}

export const OPTIONS: AnswerOptions = {
  includeUsage: true,
  extensionKey: 'google',
  freeformTools: new Set(['patch']),
  callForm: 'tool_calls',
};

const USAGE = {
  promptTokens: 40,
  cachedTokens: 30,
  toolPromptTokens: 1,
  answerTokens: 7,
  thoughtTokens: 12,
};

export type Block =
  | { kind: 'text' | 'thinking'; pieces: string[] }
  | {
      kind: 'call';
      id: string;
      name: string;
      json: string[];
      /** Known when the call begins. */
      signature?: string | undefined;
      /** Known when it ends. */
      lateSignature?: string | undefined;
    }
  | { kind: 'image' | 'draft'; base64: string }
  | { kind: 'code'; code: string };

/** The events of an answer made of these blocks, each choice in turn. */
export function eventsOf(choices: Block[][], ends: ChoiceEnd['reason'][] = []): CanonicalEvent[] {
  const events: CanonicalEvent[] = [{ kind: 'start', usage: USAGE }];
  let index = 0;
  for (const [choice, blocks] of choices.entries()) {
    for (const block of blocks) events.push(...blockEvents(block, choice, index++));
  }
  const reasons = choices.map(
    (_blocks, choice): ChoiceEnd => ({
      choice,
      reason: ends[choice] ?? 'stop',
    }),
  );
  return [...events, { kind: 'usage', usage: USAGE }, { kind: 'finish', choices: reasons }];
}

function blockEvents(block: Block, choice: number, index: number): CanonicalEvent[] {
  const end = { kind: 'block-end', index } as const;
  const start = { kind: 'block-start', index, choice } as const;
  switch (block.kind) {
    case 'text':
    case 'thinking': {
      const kind = block.kind;
      const deltas = block.pieces.map((text): CanonicalEvent => {
        return { kind: 'block-delta', index, delta: { kind, text } };
      });
      return [{ ...start, block: { kind } }, ...deltas, end];
    }
    case 'call': {
      const { id, name } = block;
      const signature = signatureOf(block.signature);
      const deltas = block.json.map((json): CanonicalEvent => {
        return { kind: 'block-delta', index, delta: { kind: 'arguments', json } };
      });
      return [
        { ...start, block: { kind: 'tool-call', id, name, signature } },
        ...deltas,
        { ...end, signature: signatureOf(block.lateSignature) },
      ];
    }
    case 'image':
      return [
        { ...start, block: { kind: 'media', mediaType: 'image/png', base64: block.base64 } },
        end,
      ];
    case 'draft': {
      const media = { kind: 'media', mediaType: 'image/png', base64: block.base64 } as const;
      return [{ ...start, block: { ...media, isDraft: true } }, end];
    }
    case 'code':
      return [{ ...start, block: { kind: 'code', language: 'PYTHON', code: block.code } }, end];
    default:
      return block satisfies never;
  }
}

function signatureOf(value: string | undefined): Signature | undefined {
  return value === undefined ? undefined : { value, family: 'fam', on: 'tool-call' };
}

export function stream(events: CanonicalEvent[], options: AnswerOptions = OPTIONS): string {
  const writer = new ChatWriter(CONTEXT, options);
  return events.map((event) => writer.write(event)).join('');
}

export function unary(events: CanonicalEvent[], options: AnswerOptions = OPTIONS): ChatCompletion {
  return writeReply(fold(events), CONTEXT, options);
}

export type Chunk = OpenAI.ChatCompletionChunk;

export function chunksOf(text: string): Chunk[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame): Chunk => JSON.parse(frame.slice(6)));
}

/** The official client, answered by this text. */
export function officialClient(body: string, contentType: string): OpenAI {
  const respond = async (): Promise<Response> =>
    new Response(body, { headers: { 'content-type': contentType } });
  return new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: respond });
}

export const ASK = { model: 'm', messages: [{ role: 'user', content: 'hi' }] } satisfies Parameters<
  OpenAI['chat']['completions']['stream']
>[0];

export const TOOL_ANSWER = eventsOf(
  [
    [
      { kind: 'thinking', pieces: ['Let me ', 'see.'] },
      { kind: 'text', pieces: ['Look', 'ing: "é😀"\n'] },
      { kind: 'call', id: 'call_1', name: 'w', json: ['{"c":', '"P"}'], signature: 'SIG' },
      { kind: 'call', id: 'call_2', name: 'w', json: [] },
    ],
  ],
  ['tool-calls'],
);
