// Requests of every protocol as bodies of the Messages wire, and answers of that wire as each client is sent them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { CanonicalEvent } from '../../src/canonical/event.ts';
import type { GenerateCall } from '../../src/protocols/protocol.ts';
import type { ReplyContext } from '../../src/protocols/writers.ts';
import { FrameReader } from '../../src/stream/sse.ts';
import type { Decoder } from '../../src/upstreams/upstream.ts';
import { readCallers, TRANSLATED_LANES } from './answer-case.ts';
import { caseNames, expectGolden, goldenJson, orphanGoldens } from './golden-file.ts';
import { describeTranslation, readCase } from './request-case.ts';
import { targets } from './targets.ts';

const FOLDER = join(import.meta.dirname, 'messages-wire');
const { upstream } = targets.anthropic;
afterAll(() => upstream.close());

/** Those in which the wires differ; the inputs are the ones of the generate-content wire. */
const REQUESTS = {
  chat: [
    ...(['minimal', 'tool-loop', 'parallel-off', 'json-object', 'json-schema-with-tools'] as const),
    ...([
      'hard-schema',
      'custom-tool-history',
      'effort-high',
      'effort-none',
      'sampling-all',
    ] as const),
    ...(['tool-result-image', 'file-pdf', 'prefill', 'refused-tool-names', 'audio-input'] as const),
    ...([
      'web-search-options',
      'system-parts-with-cache-marks',
      'reasoning-echo-remembered',
    ] as const),
    ...(['v084-tool-choice-allowed-required', 'v084-tool-choice-named', 'missing-result'] as const),
  ],
  messages: [
    ...([
      'client-claude-code-2',
      'server-tools',
      'server-tool-history',
      'other-family-thinking',
    ] as const),
    ...(['carried-thinking', 'tool-use-signature', 'assistant-image', 'image-options'] as const),
    ...(['v026-redacted-thinking', 'v031-adaptive', 'v032-effort-max', 'thinking-effort'] as const),
    ...(['stripped-signatures', 'system-in-the-middle', 'result-tool-reference'] as const),
    ...(['mcp-servers', 'computer-tool', 'image-file-id'] as const),
  ],
  generate: [
    ...(['minimal', 'tool-loop', 'lower-case-schema', 'both-schema-forms', 'enum-answer'] as const),
    ...(['code-execution-history', 'response-media', 'safety-settings', 'speech'] as const),
    ...(['tool-mode-auto-with-names', 'v110-level-high', 'budget-automatic', 'file-data'] as const),
  ],
  responses: [
    ...(['client-codex-2', 'tools-of-all-kinds', 'hosted-items', 'reasoning-history'] as const),
    ...(['structured-output', 'web-search-forced', 'limits-and-sampling'] as const),
  ],
};

const named = Object.entries(REQUESTS).flatMap(([protocol, names]) =>
  names.map((name) => ({ protocol, name, golden: `${protocol}-${name}` })),
);
const streams = caseNames(join(FOLDER, 'streams'), '.sse');
const LANES = [...TRANSLATED_LANES, 'relay'] as const;

test('there is no golden without an input', () => {
  const requests = { cases: named.map(({ golden }) => golden), targets: ['anthropic'] };
  expect(orphanGoldens(join(FOLDER, 'requests'), requests)).toEqual([]);
  expect(orphanGoldens(join(FOLDER, 'streams'), { cases: streams, targets: LANES })).toEqual([]);
  expect(streams.length).toBeGreaterThanOrEqual(8);
});

test.each(named)('the $protocol request $name', ({ protocol, name, golden }) => {
  const request = readCase(join(import.meta.dirname, 'requests', protocol, `${name}.json`));
  const described = goldenJson(describeTranslation(request, 'anthropic'));
  expectGolden(join(FOLDER, 'requests', `${golden}.anthropic.golden`), described);
});

for (const name of streams) {
  const bytes = readFileSync(join(FOLDER, 'streams', `${name}.sse`));
  const callers = readCallers(join(FOLDER, 'streams', `${name}.json`));

  test.each(LANES)(`the answer ${name} for %s`, (lane) => {
    const text =
      lane === 'relay' ? relay(callers.messages, bytes) : translate(callers[lane], bytes);
    expectGolden(join(FOLDER, 'streams', `${name}.${lane}.golden`), text);
  });
}

function translate(call: GenerateCall, bytes: Buffer): string {
  const writer = call.createStreamWriter(replyContext(call));
  const decoder = decoderOf(false);
  const texts: string[] = [];
  const write = (events: readonly CanonicalEvent[]): void => {
    for (const event of events) texts.push(writer.write(event));
  };
  for (const frame of framesOf(bytes)) write(decoder.repeat?.(frame) ?? decoder.push(frame.value));
  write(decoder.end());
  return texts.join('');
}

function relay(call: GenerateCall, bytes: Buffer): string {
  if (call.relay === undefined) throw new Error(`${call.protocol} has no relay lane`);
  const writer = call.relay.createStreamWriter(replyContext(call));
  const decoder = decoderOf(true);
  let text = '';
  for (const frame of framesOf(bytes)) {
    const failed = decoder.push(frame.value).find(({ kind }) => kind === 'error');
    if (failed?.kind === 'error') return text + writer.error(failed.error);
    text += writer.write(frame.value, frame.text);
  }
  const failed = decoder.end().find(({ kind }) => kind === 'error');
  return text + (failed?.kind === 'error' ? writer.error(failed.error) : writer.end());
}

function framesOf(bytes: Buffer) {
  const reader = new FrameReader({ maxFrameBytes: 1_048_576 });
  return [...reader.push(bytes), ...reader.end()];
}

function decoderOf(passesParts: boolean): Decoder {
  const createId = (prefix: string): string => `${prefix}up`;
  return upstream.createDecoder({ signatureFamily: 'anthropic', createId, passesParts });
}

/** Ids count up by prefix. */
function replyContext({ model }: GenerateCall): ReplyContext {
  const counts = new Map<string, number>();
  const createId = (prefix: string): string => {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return `${prefix}${count}`;
  };
  return { model, createId, createdAt: 1_767_225_600 };
}
