// An upstream that plays scripted outcomes, for tests of dispatch without a socket.

import { GatewayError } from '../../src/canonical/error.ts';
import type { CanonicalEvent } from '../../src/canonical/event.ts';
import type { UpstreamFailure } from '../../src/canonical/failure.ts';
import { NOTHING_TYPED } from '../../src/canonical/typed-values.ts';
import { NO_USAGE, type Usage } from '../../src/canonical/usage.ts';
import { type JsonObject, readNumber } from '../../src/lib/json.ts';
import type { Decoder, Upstream, UpstreamCall } from '../../src/upstreams/upstream.ts';
import { capabilitiesOf } from './canonical.ts';

/** What one attempt meets: a failure before the answer, or frames (each a word of text, or a control). */
export type Script =
  | { readonly fail: UpstreamFailure }
  /** `uncounted`: what it leaves out when it is to count. */
  | { readonly frames: readonly string[]; readonly uncounted?: string };

export interface FakeUpstream extends Upstream {
  readonly calls: UpstreamCall[];
}

/**
 * Frames: `end` finishes, `malformed` finishes with a useless answer, `cut` breaks the connection off,
 * `error` is an in-band error, `used <tokens>` tells what the answer has used so far (its prompt 3),
 * others are text.
 */
export function createFakeUpstream(script: (call: UpstreamCall) => Script): FakeUpstream {
  const calls: UpstreamCall[] = [];
  return {
    id: 'fake',
    wire: 'fake-wire',
    calls,
    modelIds: (name) => [name],
    capabilities: () => capabilitiesOf(),
    readsUri: () => false,
    encode: (request, target) => ({
      turns: request.turns.length,
      signatures: target.signatures,
      usesPlaceholders: target.usesPlaceholders,
    }),
    typedValues: () => NOTHING_TYPED,
    outputLimit: ({ limit }) => readNumber(limit),
    limitOutput: (body, limit) => ({ ...body, limit }),
    patch: (body) => body,
    async open(call) {
      calls.push(call);
      const outcome = script(call);
      if ('fail' in outcome) throw failed(outcome.fail);
      return frames(outcome.frames);
    },
    createDecoder,
    countTokens: async (call) => {
      calls.push({ ...call, stream: false });
      const outcome = script({ ...call, stream: false });
      if ('fail' in outcome) throw failed(outcome.fail);
      return { total: 42, answer: {}, uncounted: outcome.uncounted };
    },
    encodeEmbedInput: ({ text }) => ({ text }),
    async *embed({ bodies, ...call }) {
      for (const body of bodies) {
        const asked = { ...call, body, stream: false };
        calls.push(asked);
        const outcome = script(asked);
        if ('fail' in outcome) throw failed(outcome.fail);
        const values = outcome.frames.map(Number);
        yield { embeddings: [{ values, native: { values } }], nativeUsages: [] };
      }
    },
    listModels: async () => [{ id: 'm' }],
    readQuota: async () => undefined,
    close: async () => {},
  };
}

function failed(failure: UpstreamFailure): GatewayError {
  const forOthers = failure.status === 504 ? 'timeout' : 'upstream-unavailable';
  return new GatewayError({
    kind: failure.kind === 'rejected' ? 'invalid-request' : forOthers,
    source: 'upstream',
    message: `scripted ${failure.kind}`,
    failure,
  });
}

async function* frames(words: readonly string[]) {
  for (const word of words) {
    if (word === 'cut') throw failed({ kind: 'path' });
    const value: JsonObject = { word };
    yield [{ text: JSON.stringify(value), value }];
  }
}

function createDecoder(): Decoder {
  let isOpen = false;
  let isFinished = false;
  let isMalformed = false;
  let usage: Usage | undefined;
  return {
    get usage() {
      return usage;
    },
    push(frame) {
      const word = String(frame.word);
      if (word.startsWith('used ')) {
        usage = { ...NO_USAGE, promptTokens: 3, answerTokens: Number(word.slice(5)) };
        return [];
      }
      if (word === 'error') return [{ kind: 'error', error: failed({ kind: 'overloaded' }) }];
      if (word === 'silence') return [];
      if (word === 'malformed') {
        isMalformed = true;
        return [];
      }
      if (word === 'end') {
        isFinished = true;
        return [];
      }
      const delta: CanonicalEvent = {
        kind: 'block-delta',
        index: 0,
        delta: { kind: 'text', text: word },
      };
      if (isOpen) return [delta];
      isOpen = true;
      return [
        { kind: 'start' },
        { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
        delta,
      ];
    },
    end() {
      if (isMalformed) {
        const failure = { kind: 'unusable-answer', finishReason: 'MALFORMED' } as const;
        return [{ kind: 'error', error: failed(failure) }];
      }
      if (!isFinished) return [{ kind: 'error', error: failed({ kind: 'path' }) }];
      return [
        { kind: 'block-end', index: 0 },
        { kind: 'usage', usage: usage ?? NO_USAGE },
        { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] },
      ];
    },
  };
}
