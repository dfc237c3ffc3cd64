import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import { textOf } from '../lib/localized-message.ts';
import { OutputLimits } from './refusals.ts';

const HOUR_MS = 3_600_000;

function asked(body: JsonObject = { max_tokens: 32_000 }) {
  const receipt = createReceipt();
  const call = {
    ...{ modelId: 'm', body, stream: false, receipt },
    access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' as const },
    signal: new AbortController().signal,
  };
  return { call, reasons: () => receipt.entries.map(({ reason }) => textOf(reason)) };
}

function refusal(detail: string): GatewayError {
  const failure = { kind: 'rejected', detail } as const;
  return new GatewayError({ kind: 'internal', source: 'upstream', message: '', failure });
}

/** A service that writes 20,000 tokens at most, and the limits it is sent. */
function service() {
  let time = 0;
  const sent: unknown[] = [];
  const limits = new OutputLimits(
    {
      outputLimit: ({ max_tokens: most }) => (most === undefined ? undefined : Number(most)),
      limitOutput: ({ thinking: _thinking, ...body }, most) => ({ ...body, max_tokens: most }),
    },
    { monotonic: () => time },
  );
  const refuses = (detail: string) => (call: { body: { max_tokens?: unknown } }) => {
    const { max_tokens: most } = call.body;
    sent.push(most);
    if (Number(most) > 20_000) throw refusal(detail);
    return Promise.resolve(most);
  };
  const pass = (ms: number): void => {
    time += ms;
  };
  return { limits, refuses, sent, pass };
}

test.each([
  [
    'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
    [16_384, 'This model writes at most 16384 tokens.'],
  ],
  [
    'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
    [8192, 'This model writes at most 8192 tokens.'],
  ],
  ['Range of max_tokens should be [1, 8192]', [8192, 'This model writes at most 8192 tokens.']],
  [
    '`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    [32_768, 'This model writes at most 32768 tokens.'],
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 16384 tokens and your request has 12 input tokens (32000 > 16384 - 12).",
    [16_372, 'The prompt leaves 16372 tokens for the answer.'],
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
    [7192, 'The prompt leaves 7192 tokens for the answer.'],
  ],
  [
    'max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307',
    [4096, 'This model writes at most 4096 tokens.'],
  ],
  [
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    [11_760, 'The prompt leaves 11760 tokens for the answer.'],
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
    undefined,
  ],
  ['temperature must be less than or equal to 2', undefined],
])('%s', async (said, limit) => {
  const sent: unknown[] = [];
  const { call, reasons } = asked({ max_tokens: 40_000 });
  const opened = service().limits.open(call, ({ body: { max_tokens: most } }) => {
    sent.push(most);
    return sent.length === 1 ? Promise.reject(refusal(said)) : Promise.resolve(most);
  });
  if (limit === undefined) return expect(opened).rejects.toThrow(GatewayError);
  expect([await opened, ...reasons()]).toEqual(limit);
});

const OF_MODEL = 'This model supports at most 16384 completion tokens';

test('the receipt tells what the prompt leaves apart from what the model writes', async () => {
  const { limits, refuses } = service();
  const { call, reasons } = asked();
  expect(await limits.open(call, refuses('(32000 > 16384 - 12)'))).toBe(16_372);
  expect(await limits.open(call, refuses(OF_MODEL))).toBe(16_384);
  expect(reasons()).toEqual([
    'The prompt leaves 16372 tokens for the answer.',
    'This model writes at most 16384 tokens.',
  ]);
});

/** A 402 of OpenRouter. */
function unpaid(tokens: number): GatewayError {
  const detail = `This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford ${tokens}. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account`;
  const failure = { kind: 'quota-exhausted', status: 402, detail } as const;
  return new GatewayError({ kind: 'quota-exhausted', source: 'upstream', message: '', failure });
}

test('an account without a sibling writes as much as it can pay for', async () => {
  const { limits } = service();
  const ask = (tokens: number, body: JsonObject, hasSibling = false) => {
    const { call, reasons } = asked(body);
    const opened = limits.open({ ...call, hasSibling: () => hasSibling }, (sent) =>
      Number(sent.body.max_tokens ?? 65_536) > tokens
        ? Promise.reject(unpaid(tokens))
        : Promise.resolve(sent.body.max_tokens),
    );
    return opened.then(
      (most) => [most, ...reasons()],
      ({ failure }: GatewayError) => failure?.kind,
    );
  };
  const told = [27_342, 'The account can pay for 27342 tokens of the answer.'];
  expect(await ask(27_342, { max_tokens: 32_000 })).toEqual(told);
  expect(await ask(27_342, {})).toEqual(told);
  expect(await ask(27_342, { max_tokens: 1000 })).toEqual([1000]);
  expect(await ask(27_342, { max_tokens: 32_000 }, true)).toBe('quota-exhausted');
  expect(await ask(300, { max_tokens: 32_000 })).toBe('quota-exhausted');
});

test('a limit of the model is known for an hour', async () => {
  const { limits, refuses, sent, pass } = service();
  await limits.open(asked().call, refuses(OF_MODEL));
  pass(HOUR_MS - 1);
  await limits.open(asked().call, refuses(OF_MODEL));
  pass(1);
  await limits.open(asked().call, refuses(OF_MODEL));
  expect(sent).toEqual([32_000, 16_384, 16_384, 32_000, 16_384]);
});

test('thinking that has no room in the limit is told as well', async () => {
  const { limits, refuses } = service();
  const { call, reasons } = asked({ max_tokens: 32_000, thinking: { budget_tokens: 24_000 } });
  await limits.open(call, refuses(OF_MODEL));
  expect(reasons()).toContain('Lowered to leave room for the answer.');
});
