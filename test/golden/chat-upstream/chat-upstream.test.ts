// Recorded requests of every protocol as bodies of the Chat Completions wire, and streams of it as clients see them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { asGatewayError } from '../../../src/canonical/error.ts';
import type { CanonicalEvent } from '../../../src/canonical/event.ts';
import { fold } from '../../../src/canonical/fold.ts';
import { createReceipt } from '../../../src/canonical/receipt.ts';
import { translateRequest } from '../../../src/dispatch/translate.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { GenerateCall } from '../../../src/protocols/protocol.ts';
import type { ReplyContext } from '../../../src/protocols/writers.ts';
import { FrameReader } from '../../../src/stream/sse.ts';
import { createChatUpstream } from '../../../src/upstreams/chat/index.ts';
import {
  createCompatibleProfile,
  createOpenAiProfile,
} from '../../../src/upstreams/chat/profiles.ts';
import type { PatchTarget } from '../../../src/upstreams/upstream.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { caseNames, expectGolden, goldenJson } from '../golden-file.ts';
import { describeError, isGenerateCall, protocolOf, readCall, readCase } from '../request-case.ts';

const clock = createFakeClock();
const local = { baseUrl: 'http://127.0.0.1:1/v1', quirks: 'deepseek' } as const;
const TARGETS = {
  openai: {
    upstream: createChatUpstream({ profile: createOpenAiProfile(), clock }),
    modelId: 'gpt-5.1',
  },
  deepseek: {
    upstream: createChatUpstream({ profile: createCompatibleProfile(local), clock }),
    modelId: 'deepseek-reasoner',
  },
} as const;
type TargetName = keyof typeof TARGETS;
const TARGET_NAMES: readonly TargetName[] = ['openai', 'deepseek'];

afterAll(async () => {
  for (const { upstream } of Object.values(TARGETS)) await upstream.close();
});

/** What the wires differ in: roles, calls and results, choices, schemas, formats, media, thinking, search. */
const REQUESTS = [
  ...[
    'chat/tool-loop',
    'chat/parallel-calls-reversed',
    'chat/tools-all-forms',
    'chat/sampling-all',
  ],
  ...['chat/thinking-dialects', 'chat/json-schema', 'chat/custom-tool-grammar', 'chat/late-result'],
  ...['chat/web-search-options', 'chat/tool-result-image', 'chat/system-in-the-middle'],
  ...['messages/client-claude-code-parallel-2', 'messages/result-forms', 'messages/server-tools'],
  ...['messages/structured-output', 'messages/carried-thinking', 'messages/system-in-the-middle'],
  ...['messages/document-text-and-content', 'messages/sampling', 'messages/other-history-blocks'],
  ...['generate/client-gemini-cli-2', 'generate/media-all-kinds', 'generate/response-schema'],
  ...[
    'generate/enum-answer',
    'generate/tool-mode-any',
    'generate/function-role',
    'generate/speech',
  ],
  ...['responses/outputs-with-media', 'responses/client-codex-1'],
];

describe.each(REQUESTS)('%s', (name) => {
  const request = readCase(join(import.meta.dirname, `../requests/${name}.json`));

  test.each(TARGET_NAMES)('for %s', (targetName) => {
    const { upstream, modelId } = TARGETS[targetName];
    const receipt = createReceipt();
    const target: PatchTarget = {
      modelId,
      capabilities: upstream.capabilities(modelId, undefined),
      signatures: 'carried',
      usesPlaceholders: false,
      receipt,
      recall: { lookup: () => undefined },
      variant: { webSearch: false },
      thinkingMode: { kind: 'auto' },
    };
    const describeBody = (): JsonObject => {
      try {
        const call = readCall(request, receipt);
        const isRelayed = isGenerateCall(call) && call.relay?.wire === upstream.wire;
        const body = isRelayed
          ? upstream.patch(call.relay?.body ?? {}, target)
          : translateRequest(call.request, upstream, target);
        const entries = receipt.entries.map((entry) => ({ ...entry, reason: entry.reason.text }));
        return { lane: isRelayed ? 'relay' : 'translate', body, receipt: entries };
      } catch (error) {
        return describeError(asGatewayError(error), protocolOf(request));
      }
    };
    const file = `${name.replace('/', '-')}.${targetName}.golden`;
    expectGolden(join(import.meta.dirname, 'requests', file), goldenJson(describeBody()));
  });
});

const QUESTION = 'Hi';
const CALLERS: Readonly<Record<string, { path: string; body: JsonObject }>> = {
  messages: {
    path: '/v1/messages',
    body: {
      model: 'm',
      max_tokens: 1000,
      stream: true,
      thinking: { type: 'adaptive' },
      messages: [{ role: 'user', content: QUESTION }],
    },
  },
  chat: {
    path: '/v1/chat/completions',
    body: {
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: QUESTION }],
    },
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', stream: true, input: QUESTION, reasoning: { summary: 'auto' } },
  },
  generate: {
    path: '/v1beta/models/m:streamGenerateContent',
    body: { contents: [{ role: 'user', parts: [{ text: QUESTION }] }] },
  },
};

function callOf(lane: string): GenerateCall {
  const asked = CALLERS[lane] ?? { path: '', body: {} };
  const call = readCall({ ...asked, query: lane === 'generate' ? 'alt=sse' : '' }, createReceipt());
  if (!isGenerateCall(call)) throw new Error(`${lane} asks for no answer`);
  return call;
}

function contextOf(): ReplyContext {
  let ids = 0;
  return { model: 'm', createdAt: 1, createId: (prefix) => `${prefix}${++ids}` };
}

const STREAMS = join(import.meta.dirname, 'streams');

describe.each(caseNames(STREAMS, '.sse'))('the stream %s', (name) => {
  const reader = new FrameReader({ maxFrameBytes: 1_000_000 });
  const bytes = readFileSync(join(STREAMS, `${name}.sse`));
  const frames = [...reader.push(bytes), ...reader.end()];
  const decode = (): CanonicalEvent[] => {
    const { upstream, modelId } = TARGETS.deepseek;
    const { signatureFamily } = upstream.capabilities(modelId, undefined);
    const decoder = upstream.createDecoder({ signatureFamily, ...contextOf() });
    return [...frames.flatMap(({ value }) => decoder.push(value)), ...decoder.end()];
  };

  test.each(Object.keys(CALLERS))('as %s clients see it', (lane) => {
    const writer = callOf(lane).createStreamWriter(contextOf());
    const text = decode()
      .map((event) => writer.write(event))
      .join('');
    expectGolden(join(STREAMS, `${name}.${lane}.golden`), text);
  });

  test('as one answer of each protocol', () => {
    const events = decode();
    if (events.at(-1)?.kind === 'error') return;
    const replies = Object.fromEntries(
      Object.keys(CALLERS).map((lane) => [
        lane,
        callOf(lane).writeReply(fold(events), contextOf()),
      ]),
    );
    expectGolden(join(STREAMS, `${name}.reply.golden`), goldenJson(replies));
  });

  test('a chat client of the same wire is sent what came', () => {
    const writer = callOf('chat').relay?.createStreamWriter(contextOf());
    const sent = frames.map(({ value, text }) => writer?.write(value, text) ?? '');
    expect(sent.join('').split('\n\n').length).toBe(frames.length + 1);
  });
});
