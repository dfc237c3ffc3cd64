// Signatures over two turns: what the upstream signed stands on the same part of the next request, even
// for clients that bring nothing back but the words, the pictures and the ids of calls.

import { describe, expect, test } from 'vitest';
import { fold } from '../../src/canonical/fold.ts';
import { createReceipt } from '../../src/canonical/receipt.ts';
import { SIGNATURE_SENTINEL, type SignatureRecall } from '../../src/canonical/signatures.ts';
import { StreamObserver, TokenEstimator } from '../../src/dispatch/stream-observer.ts';
import { translateRequest } from '../../src/dispatch/translate.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';
import { readCall } from '../golden/request-case.ts';
import { targets } from '../golden/targets.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { end, parts } from './answer.ts';
import { callOf, requestOf } from './ask.ts';
import { PROTOCOLS, type Protocol } from './row.ts';
import { VOCABULARIES, type Words } from './words.ts';

type Client = Exclude<Protocol, 'generate'>;
const CLIENTS = PROTOCOLS.filter((protocol) => protocol !== 'generate');
const PNG = 'iVBORw0KGgo=';
const S = 'EoYBCoMBAdHtim9Q';
const T = 'EpQBCpEBAUyWqh3Q';

const TEXT = { text: 'Sunny.' };
const CALL = { functionCall: { id: 'c1', name: 'w', args: { city: 'Oslo' } } };
const PICTURE = { inlineData: { mimeType: 'image/png', data: PNG } };

interface Case {
  readonly name: string;
  readonly frames: readonly JsonObject[];
  /** The model's parts in the next request. */
  readonly next: readonly JsonObject[];
}

const CASES: readonly Case[] = [
  {
    name: 'on a text',
    frames: [parts({ ...TEXT, thoughtSignature: S }), end('STOP')],
    next: [{ ...TEXT, thoughtSignature: S }],
  },
  {
    name: 'on an empty text behind the text',
    frames: [parts(TEXT), parts({ text: '', thoughtSignature: S }), end('STOP')],
    next: [{ ...TEXT, thoughtSignature: S }],
  },
  {
    name: 'on the last piece of a text',
    frames: [parts({ text: 'Sun' }), parts({ text: 'ny.', thoughtSignature: S }), end('STOP')],
    next: [{ ...TEXT, thoughtSignature: S }],
  },
  {
    name: 'on a call',
    frames: [parts({ ...CALL, thoughtSignature: S }), end('STOP')],
    next: [{ ...CALL, thoughtSignature: S }],
  },
  {
    name: 'on a text and on the call behind it',
    frames: [
      parts({ ...TEXT, thoughtSignature: S }, { ...CALL, thoughtSignature: T }),
      end('STOP'),
    ],
    next: [
      { ...TEXT, thoughtSignature: S },
      { ...CALL, thoughtSignature: T },
    ],
  },
  {
    name: 'on a picture',
    frames: [parts({ ...PICTURE, thoughtSignature: S }), end('STOP')],
    next: [{ ...PICTURE, thoughtSignature: S }],
  },
];

describe.each(VOCABULARIES)('$vocabulary words', (words) => {
  describe.each(CLIENTS)('%s', (client) => {
    test.each(CASES)('$name', ({ frames, next }) => {
      const gateway = createGateway(client, words);
      const answer = gateway.answer(frames);
      expect(gateway.modelParts(bare(client, answer))).toEqual(next);
    });

    test('words that were signed twice are sent unsigned', () => {
      const gateway = createGateway(client, words);
      const answer = gateway.answer([parts({ ...TEXT, thoughtSignature: S }), end('STOP')]);
      gateway.answer([parts({ ...TEXT, thoughtSignature: T }), end('STOP')]);
      expect(gateway.modelParts(bare(client, answer))).toEqual([TEXT]);
    });

    test('the same words in another conversation are sent unsigned', () => {
      const gateway = createGateway(client, words);
      const frames = [parts({ ...TEXT, thoughtSignature: S }), end('STOP')];
      const answer = gateway.answer(frames, 'What else?');
      expect(gateway.modelParts(bare(client, answer))).toEqual([TEXT]);
    });

    test('words the client changed are sent unsigned', () => {
      const gateway = createGateway(client, words);
      gateway.answer([parts({ ...TEXT, thoughtSignature: S }), end('STOP')]);
      const edited = gateway.answer([parts({ text: 'Rainy.' }), end('STOP')]);
      expect(gateway.modelParts(bare(client, edited))).toEqual([{ text: 'Rainy.' }]);
    });

    describe('a call that its client gave an id of its own', () => {
      const signed = [parts({ ...CALL, thoughtSignature: S }), end('STOP')];
      const own = { functionCall: { ...CALL.functionCall, id: 'call_0' } };

      test('goes back with its signature', () => {
        const gateway = createGateway(client, words);
        const answer = renamed(gateway.answer(signed));
        expect(gateway.modelParts(bare(client, answer))).toEqual([{ ...own, thoughtSignature: S }]);
      });

      test('leaves the unsigned calls behind it unsigned', () => {
        const gateway = createGateway(client, words);
        const second = { functionCall: { id: 'c2', name: 'w', args: { city: 'Oslo' } } };
        const frames = [parts({ ...CALL, thoughtSignature: S }, second), end('STOP')];
        const answer = renamed(gateway.answer(frames));
        expect(gateway.modelParts(bare(client, answer))).toEqual([
          { ...own, thoughtSignature: S },
          second,
        ]);
      });

      test.each([
        ['other arguments', { answered: 'And now?', city: 'Bergen' }],
        ['another question', { answered: 'What else?', city: 'Oslo' }],
      ])('of %s gets the stand-in', (_name, { answered, city }) => {
        const gateway = createGateway(client, words);
        gateway.answer(signed, answered);
        const functionCall = { id: 'call_0', name: 'w', args: { city } };
        const answer = gateway.answer([parts({ functionCall }), end('STOP')]);
        expect(gateway.modelParts(bare(client, answer))).toEqual([
          { functionCall, thoughtSignature: SIGNATURE_SENTINEL },
        ]);
      });

      test('gets the later signature where the same call was signed twice', () => {
        const gateway = createGateway(client, words);
        const answer = renamed(gateway.answer(signed));
        gateway.answer([parts({ ...CALL, thoughtSignature: T }), end('STOP')]);
        expect(gateway.modelParts(bare(client, answer))).toEqual([{ ...own, thoughtSignature: T }]);
      });
    });
  });
});

const FUNCTION = { name: 'w', parameters: { type: 'object', properties: { city: {} } } };
/** A search beside a function. */
const SEARCHING: Readonly<Record<Client, JsonObject>> = {
  chat: { web_search_options: {}, tools: [{ type: 'function', function: FUNCTION }] },
  responses: { tools: [{ type: 'web_search' }, { type: 'function', ...FUNCTION }] },
  messages: {
    tools: [
      { type: 'web_search_20250305', name: 'web_search' },
      { name: 'w', input_schema: FUNCTION.parameters },
    ],
  },
};

describe.each(CLIENTS)('what the upstream did by itself before a call: %s', (client) => {
  const [words] = VOCABULARIES;
  if (words === undefined) throw new Error('There are no words.');
  const search = (kind: 'toolCall' | 'toolResponse', rest: JsonObject) => ({
    [kind]: { toolType: 'GOOGLE_SEARCH_WEB', id: 's1', ...rest },
    thoughtSignature: T,
  });
  const trace = [
    search('toolCall', { args: { queries: ['q'] } }),
    search('toolResponse', { response: { search_suggestions: '<div/>' } }),
  ];
  const frames = [parts(...trace), parts({ ...CALL, thoughtSignature: S }), end('STOP')];
  const called = { ...CALL, thoughtSignature: S };

  test('goes back before the call', () => {
    const gateway = createGateway(client, words, SEARCHING[client]);
    const sent = gateway.modelParts(bare(client, gateway.answer(frames)));
    expect(partsBut(sent, 'text')).toEqual([...trace, called]);
    expect(JSON.stringify(sent)).not.toContain('[web_search was called');
  });

  test('stays out where the upstream runs no tools any more', () => {
    const gateway = createGateway(client, words);
    const sent = gateway.modelParts(bare(client, gateway.answer(frames)));
    expect(partsBut(sent, 'text')).toEqual([called]);
  });

  test('a call that came unsigned behind it goes back unsigned', () => {
    const gateway = createGateway(client, words, SEARCHING[client]);
    const unsigned = [parts(...trace), parts(CALL), end('STOP')];
    const sent = gateway.modelParts(bare(client, gateway.answer(unsigned)));
    expect(partsBut(sent, 'text')).toEqual([...trace, CALL]);
  });
});

function partsBut(sent: JsonValue, kind: string): JsonObject[] {
  return objectsIn(sent).filter((part) => part[kind] === undefined);
}

/** One client key's gateway: what it answers, and what it sends upstream for a history. */
function createGateway(client: Client, words: Words, offered: JsonObject = {}) {
  const keeper = new SignatureCache({ clock: createFakeClock(0) });
  const recall: SignatureRecall = {
    lookup(key) {
      const entry = keeper.lookup('k', key);
      return entry && { ...entry, input: undefined };
    },
  };
  const { upstream, router, modelIdOf } = targets[words.target];
  const modelId = modelIdOf(router.route(words.model));
  const capabilities = upstream.capabilities(modelId, undefined);
  let count = 0;
  const createId = (prefix: string): string => {
    count += 1;
    return `${prefix}${count}`;
  };
  return {
    answer(frames: readonly JsonObject[], asked = 'And now?'): JsonObject {
      const { signatureFamily } = capabilities;
      const decoder = upstream.createDecoder({ signatureFamily, createId });
      const watch = new StreamObserver({
        keeper,
        scope: 'k',
        asked: () => asked,
        estimator: new TokenEstimator(),
        estimatePrompt: () => 0,
      });
      const events = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
      for (const event of events) watch.onEvent(event);
      const call = callOf({ protocol: client, words, ask: offered });
      return call.writeReply(fold(events), { model: words.model, createId, createdAt: 0 });
    },
    modelParts(history: JsonObject): JsonValue {
      const request = requestOf({ protocol: client, words, ask: { ...offered, ...history } });
      const receipt = createReceipt();
      const call = readCall(request, receipt);
      const body = translateRequest(call.request, upstream, {
        modelId,
        capabilities,
        signatures: 'carried',
        usesPlaceholders: false,
        receipt,
        recall,
        variant: router.route(words.model),
        thinkingMode: { kind: 'auto' },
      });
      const contents = Array.isArray(body.contents) ? body.contents : [];
      const turn = contents.find((content) => isJsonObject(content) && content.role === 'model');
      return isJsonObject(turn) && Array.isArray(turn.parts) ? [...turn.parts] : null;
    },
  };
}

/** As frameworks do that know the prefixes of the vendors' ids (agno, `reformat_tool_call_ids`). */
function renamed(answer: JsonObject): JsonObject {
  return Object(JSON.parse(JSON.stringify(answer).replaceAll('"c1"', '"call_0"')));
}

/** The next request of a client that keeps only what its protocol documents. */
function bare(client: Client, answer: JsonObject): JsonObject {
  const user = { role: 'user', content: 'And now?' };
  switch (client) {
    case 'chat': {
      const [choice] = objectsIn(answer.choices);
      const { content = null, tool_calls } = Object(choice?.message);
      const calls = objectsIn(tool_calls).map(({ extra_content: _extra, ...call }) => call);
      const message = {
        role: 'assistant',
        content,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
      const results = calls.map(({ id = '' }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'r',
      }));
      return { messages: [user, message, ...results, user] };
    }
    case 'responses': {
      const items = objectsIn(answer.output).filter(({ type }) => type !== 'reasoning');
      const results = items.flatMap(({ call_id }) =>
        call_id === undefined ? [] : [{ type: 'function_call_output', call_id, output: 'r' }],
      );
      return { input: [user, ...items, ...results, user] };
    }
    case 'messages': {
      const content = objectsIn(answer.content).map(({ signature: _signature, ...block }) => block);
      const results = content.flatMap(({ type, id = '' }) =>
        type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'r' }] : [],
      );
      const next = [...results, { type: 'text', text: 'And now?' }];
      return { messages: [user, { role: 'assistant', content }, { role: 'user', content: next }] };
    }
    default:
      return client satisfies never;
  }
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
