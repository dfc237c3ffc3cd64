// Every stream that is written, of recorded and of invented answers, keeps the grammar of its surface.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/canonical/error.ts';
import type { BlockOpening, CanonicalEvent, ChoiceEnd } from '../../src/canonical/event.ts';
import { createReceipt } from '../../src/canonical/receipt.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createProtocols } from '../../src/protocols/index.ts';
import type { GenerateCall } from '../../src/protocols/protocol.ts';
import { wavOf } from '../support/sounds.ts';
import {
  checkStreamText,
  type StreamSurface,
} from '../support/stream-grammar/check-stream-text.ts';
import { LANES, type LaneName, readAnswer, readCallers, writeStream } from './answer-case.ts';
import { caseNames } from './golden-file.ts';
import { isGenerateCall, readCall } from './request-case.ts';

const folder = join(import.meta.dirname, 'streams');

describe.each(LANES)('%s', (lane) => {
  test.each(caseNames(folder, '.sse'))('the recorded stream %s keeps the grammar', (name) => {
    const answer = readAnswer([readFileSync(join(folder, `${name}.sse`))]);
    const text = attempt(() =>
      writeStream(lane, readCallers(join(folder, `${name}.json`))[lane], answer),
    );
    if (text === undefined) return;
    expect(['success', 'error']).toContain(checkStreamText(surfaceOf(lane, text), text));
  });
});

function surfaceOf(lane: LaneName, text: string): StreamSurface {
  if (lane !== 'generate' && lane !== 'relay') return lane;
  return text.startsWith('[') ? 'generate-array' : 'generate';
}

interface Surface {
  readonly path: string;
  readonly query?: string;
  readonly body: JsonObject;
}

const MODEL = 'gemini-3-flash';
const TOOLS = [{ type: 'function', name: 'f' }];
const SEARCH = [...TOOLS, { type: 'web_search' }];
const CUSTOM = { type: 'custom', name: 'c' };
const CONTENTS = [{ role: 'user', parts: [{ text: 'x' }] }];
const STREAM = `/v1beta/models/${MODEL}:streamGenerateContent`;
const SURFACES: Readonly<Partial<Record<StreamSurface, Surface>>> = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      model: MODEL,
      messages: [{ role: 'user', content: 'x' }],
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', custom: { name: 'c' } },
      ],
      stream: true,
      stream_options: { include_usage: true },
      n: 2,
    },
  },
  completions: { path: '/v1/completions', body: { model: MODEL, prompt: 'x', stream: true } },
  responses: {
    path: '/v1/responses',
    body: {
      ...{ model: MODEL, input: 'x', stream: true, store: false },
      tools: [...TOOLS, CUSTOM, { type: 'shell' }, { type: 'apply_patch' }],
    },
  },
  messages: {
    path: '/v1/messages',
    body: {
      ...{ model: MODEL, max_tokens: 100, stream: true },
      messages: [{ role: 'user', content: 'x' }],
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
  },
  generate: { path: STREAM, query: 'alt=sse', body: { contents: CONTENTS } },
  'generate-array': { path: STREAM, body: { contents: CONTENTS } },
  images: {
    path: '/v1/images/generations',
    body: { model: 'alpha-3-pro-image', prompt: 'x', stream: true },
  },
};

const NAMES: readonly StreamSurface[] = [
  ...(['chat', 'completions', 'responses', 'messages', 'generate', 'generate-array'] as const),
  ...(['images', 'transcriptions'] as const),
];

function callOf(name: StreamSurface): GenerateCall {
  const surface = SURFACES[name];
  if (surface === undefined) return transcriptionCall();
  const call = readCall({ ...surface, query: surface.query ?? '' }, createReceipt());
  if (!isGenerateCall(call)) throw new Error('The surface answers nothing.');
  return call;
}

function transcriptionCall(): GenerateCall {
  const path = '/v1/audio/transcriptions';
  const route = createProtocols().byName.chat.routes.find((one) => one.path === path);
  if (route?.operation !== 'generate') throw new Error('There is no such surface.');
  const bytes = wavOf({ seconds: 0.1, peak: 0.5 });
  const file = { field: 'file', fileName: 'a.wav', mediaType: 'audio/wav', bytes };
  const body = { model: MODEL, stream: 'true' };
  const query = new URLSearchParams();
  const receipt = createReceipt();
  return route.readCall({ pathModel: '', query, headers: {}, body, files: [file], receipt });
}

test('any answer that may cite what a search found is a stream of the responses grammar', () => {
  const surface = { path: '/v1/responses', body: { ...SURFACES.responses?.body, tools: SEARCH } };
  const request = readCall({ ...surface, query: '' }, createReceipt());
  if (!isGenerateCall(request)) throw new Error('The surface answers nothing.');
  fc.assert(
    fc.property(answers(1), (events) => {
      const end = checkStreamText('responses', write(request, events));
      if (events.at(-1)?.kind === 'error') expect(end).toBe('error');
    }),
    { numRuns: 100 },
  );
});

test.each(NAMES)('any answer is a stream of the %s grammar', (name) => {
  const request = callOf(name);
  const choices = name === 'chat' || name === 'completions' ? 2 : 1;
  fc.assert(
    fc.property(answers(choices), (events) => {
      const text = write(request, events);
      const end = checkStreamText(name, text);
      const failed = events.at(-1)?.kind === 'error';
      // A surface may find that a whole answer holds nothing it can show.
      if (failed || (name === 'transcriptions' && isUnfinished(events))) expect(end).toBe('error');
      else if (name !== 'images' && name !== 'responses') expect(end).toBe('success');
    }),
    { numRuns: 150 },
  );
});

/** Half a transcription would pass for the whole. */
function isUnfinished(events: readonly CanonicalEvent[]): boolean {
  const last = events.at(-1);
  const isCut = ({ reason }: ChoiceEnd): boolean => reason === 'max-tokens' || reason === 'safety';
  return last?.kind === 'finish' && last.choices.some(isCut);
}

function write(call: GenerateCall, events: readonly CanonicalEvent[]): string {
  const counts = new Map<string, number>();
  const writer = call.createStreamWriter({
    model: call.model,
    createdAt: 1,
    createId(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, count);
      return `${prefix}${count}`;
    },
  });
  return events.map((event) => writer.write(event)).join('');
}

const signature = fc.option(
  fc.constant({ value: 'U0lH', family: 'alpha', on: 'tool-call' as const }),
  { nil: undefined },
);
const word = fc.oneof(fc.string(), fc.constantFrom('é😀\n', '"', '\r\n', 'data: x\n\n', ''));

interface DraftBlock {
  readonly block: BlockOpening;
  readonly pieces: readonly string[];
}

const block: fc.Arbitrary<DraftBlock> = fc.oneof(
  fc.record({ block: fc.constant({ kind: 'text' as const }), pieces: fc.array(word) }),
  fc.record({ block: fc.constant({ kind: 'thinking' as const }), pieces: fc.array(word) }),
  fc.record({
    block: fc.record({
      kind: fc.constant('tool-call' as const),
      id: fc.constant('id'),
      name: fc.constantFrom('f', 'c', 'shell', 'apply_patch', 'undeclared'),
      signature,
    }),
    pieces: fc.constantFrom([], ['{}'], ['{"input":', '"a"}'], ['{"input":"a","b":[1]}']),
  }),
  fc.constant({
    block: { kind: 'media' as const, mediaType: 'image/png', base64: 'AA==' },
    pieces: [],
  }),
  fc.constant({
    block: { kind: 'code' as const, language: 'PYTHON', code: 'print(1)' },
    pieces: [],
  }),
  fc.constant({
    block: { kind: 'code-result' as const, outcome: 'ok' as const, output: '1' },
    pieces: [],
  }),
);

const reason = fc.constantFrom<ChoiceEnd['reason']>(
  'stop',
  'max-tokens',
  'safety',
  'stop-sequence',
);

const failure = fc.constant<CanonicalEvent>({
  kind: 'error',
  error: new GatewayError({
    kind: 'rate-limited',
    source: 'upstream',
    message: 'Too fast.',
    retryAfterMs: 1500,
  }),
});

const grounding = fc.constant<CanonicalEvent>({
  kind: 'grounding',
  choice: 0,
  queries: ['q'],
  sources: [{ url: 'https://a.example/', title: 'A' }],
  citations: [{ startIndex: 0, endIndex: 1, text: 'x', sources: [0] }],
});

const USAGE: CanonicalEvent = {
  kind: 'usage',
  usage: {
    promptTokens: 4,
    cachedTokens: 2,
    toolPromptTokens: 1,
    answerTokens: 3,
    thoughtTokens: 2,
  },
};

/** Whole answers, and ones that break off at any event after the first. */
function answers(choices: number): fc.Arbitrary<readonly CanonicalEvent[]> {
  return fc
    .record({
      blocks: fc.array(fc.tuple(block, fc.nat({ max: choices - 1 })), { maxLength: 6 }),
      ends: fc.array(reason, { minLength: choices, maxLength: choices }),
      search: fc.option(grounding, { nil: undefined }),
      broken: fc.option(fc.tuple(fc.nat(), failure), { nil: undefined }),
    })
    .map(({ blocks, ends, search, broken }) => {
      const events: CanonicalEvent[] = [{ kind: 'start' }];
      for (const [index, [draft, choice]] of blocks.entries()) {
        events.push(...blockEvents(draft, index, choice));
      }
      if (search !== undefined) events.push(search);
      events.push(USAGE, { kind: 'finish', choices: endsOf(blocks, ends) });
      if (broken === undefined) return events;
      const [at, error] = broken;
      return [...events.slice(0, 1 + (at % (events.length - 1))), error];
    });
}

function endsOf(
  blocks: readonly (readonly [DraftBlock, number])[],
  reasons: readonly ChoiceEnd['reason'][],
): ChoiceEnd[] {
  return reasons.map((given, choice) => {
    const calls = blocks.some(([draft, of]) => of === choice && draft.block.kind === 'tool-call');
    return { choice, reason: calls && given === 'stop' ? 'tool-calls' : given };
  });
}

function* blockEvents(draft: DraftBlock, index: number, choice: number): Generator<CanonicalEvent> {
  const { pieces } = draft;
  const opening: BlockOpening =
    draft.block.kind === 'tool-call' ? { ...draft.block, id: `call_${index}` } : draft.block;
  yield { kind: 'block-start', index, choice, block: opening };
  for (const piece of pieces) yield { kind: 'block-delta', index, delta: deltaOf(opening, piece) };
  yield { kind: 'block-end', index };
}

function deltaOf(
  { kind }: BlockOpening,
  piece: string,
): Extract<CanonicalEvent, { kind: 'block-delta' }>['delta'] {
  if (kind === 'text' || kind === 'thinking') return { kind, text: piece };
  return { kind: 'arguments', json: piece };
}

/** Undefined for an answer that failed before anything was sent. */
function attempt(run: () => string): string | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
