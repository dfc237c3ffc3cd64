import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import { textOf } from '../lib/localized-message.ts';
import { OutputLimits, readReportedLimit } from './output-limit.ts';

test.each([
  [
    'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
    { tokens: 16_384, isOfModel: true },
  ],
  [
    'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
    { tokens: 8192, isOfModel: true },
  ],
  ['Range of max_tokens should be [1, 8192]', { tokens: 8192, isOfModel: true }],
  [
    '`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    { tokens: 32_768, isOfModel: true },
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 16384 tokens and your request has 12 input tokens (32000 > 16384 - 12).",
    { tokens: 16_372, isOfModel: false },
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
    { tokens: 7192, isOfModel: false },
  ],
  [
    'max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307',
    { tokens: 4096, isOfModel: true },
  ],
  [
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    { tokens: 11_760, isOfModel: false },
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
    undefined,
  ],
  ['temperature must be less than or equal to 2', undefined],
])('%s', (said, limit) => {
  expect(readReportedLimit(said)).toEqual(limit);
});

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

/** A service that writes 20,000 tokens at most, and the limits it is sent. */
function service() {
  let time = 0;
  const sent: unknown[] = [];
  const limits = new OutputLimits(
    {
      outputLimit: ({ max_tokens: most }) => Number(most),
      limitOutput: ({ thinking: _thinking, ...body }, most) => ({ ...body, max_tokens: most }),
    },
    { now: () => time },
  );
  const refuses = (detail: string) => (call: { body: { max_tokens?: unknown } }) => {
    const { max_tokens: most } = call.body;
    sent.push(most);
    const failure = { kind: 'rejected', detail } as const;
    if (Number(most) > 20_000)
      throw new GatewayError({ kind: 'internal', source: 'upstream', message: '', failure });
    return Promise.resolve(most);
  };
  const pass = (ms: number): void => {
    time += ms;
  };
  return { limits, refuses, sent, pass };
}

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
