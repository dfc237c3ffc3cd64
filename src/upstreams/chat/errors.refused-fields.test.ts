import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamCall } from '../upstream.ts';
import { RefusedFields } from './errors.ts';

const HOUR_MS = 3_600_000;

const isUnsupported = (field: string): string =>
  `Unsupported parameter: '${field}' is not supported with this model.`;

/** A service that refuses these fields, each in its words. */
function service(refused: Readonly<Record<string, string>>) {
  let time = 0;
  const sent: JsonObject[] = [];
  const fields = new RefusedFields({ monotonic: () => time });
  const send = async ({ body }: UpstreamCall): Promise<JsonObject> => {
    sent.push(body);
    const detail = Object.entries(refused).find(([field]) => body[field] !== undefined)?.[1];
    if (detail === undefined) return body;
    const failure = { kind: 'rejected', detail } as const;
    throw new GatewayError({ kind: 'internal', source: 'upstream', message: detail, failure });
  };
  const ask = async (body: JsonObject, receipt = createReceipt()) => {
    const answer = fields.open(callOf(body, receipt), send);
    return { body: await answer, notes: receipt.entries.map((one) => `${one.action} ${one.path}`) };
  };
  const pass = (ms: number): void => {
    time += ms;
  };
  return { fields, send, sent, ask, pass };
}

function callOf(body: JsonObject, receipt?: UpstreamCall['receipt']): UpstreamCall {
  return {
    ...{ modelId: 'm', body, stream: false, receipt },
    access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' },
    signal: new AbortController().signal,
  };
}

test('a limit goes under its other name, from then on for an hour', async () => {
  const limit = `${isUnsupported('max_tokens')} Use 'max_completion_tokens' instead.`;
  const { ask, sent, pass } = service({ max_tokens: limit });
  const named = { body: { max_completion_tokens: 9 }, notes: [] };
  expect(await ask({ max_tokens: 9 })).toEqual(named);
  expect(await ask({ max_tokens: 9 })).toEqual(named);
  expect(sent).toHaveLength(3);
  pass(HOUR_MS);
  expect(await ask({ max_tokens: 9 })).toEqual(named);
  expect(sent).toHaveLength(5);
});

test.each([
  [
    'temperature',
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    'temperature',
  ],
  ['top_p', isUnsupported('top_p'), 'top_p'],
  ['reasoning_effort', 'Unrecognized request argument supplied: reasoning_effort', 'thinking'],
  ['temperature', 'invalid temperature: only 1 is allowed for this model', 'temperature'],
  ['reasoning_effort', "Unknown parameter: 'reasoning_effort'.", 'thinking'],
])('%s is left out where it is refused: %s', async (field, words, path) => {
  const { ask, sent } = service({ [field]: words });
  const left = { body: { n: 1 }, notes: [`dropped ${path}`] };
  expect(await ask({ [field]: 'x', n: 1 })).toEqual(left);
  expect(await ask({ [field]: 'x', n: 1 })).toEqual(left);
  expect(sent).toHaveLength(3);
});

test('several are left out one after the other', async () => {
  const refused = ['temperature', 'top_p', 'max_tokens'];
  const { ask } = service(
    Object.fromEntries(refused.map((field) => [field, isUnsupported(field)])),
  );
  expect((await ask({ temperature: 1, top_p: 1, max_tokens: 9 })).body).toEqual({
    max_completion_tokens: 9,
  });
});

test.each([
  ['what the answer depends on', 'tools', isUnsupported('tools')],
  [
    'one value of several',
    'reasoning_effort',
    "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low'.",
  ],
  ['what nobody sent', 'n', isUnsupported('temperature')],
  ['something else', 'n', 'No.'],
])('a refusal of %s stays one', async (_what, field, words) => {
  const { ask, sent } = service({ [field]: words });
  await expect(ask({ [field]: 'x' })).rejects.toThrow(words);
  expect(sent).toHaveLength(1);
});

test('a service that takes neither name says so, and a call without a receipt is sent as it came', async () => {
  const names = ['max_tokens', 'max_completion_tokens'];
  const { ask, fields, send, sent } = service(
    Object.fromEntries(names.map((field) => [field, isUnsupported(field)])),
  );
  await expect(ask({ max_tokens: 9 })).rejects.toThrow('max_tokens');
  const before = sent.length;
  await expect(fields.open(callOf({ max_tokens: 9 }), send)).rejects.toThrow('max_tokens');
  expect(sent.slice(before)).toEqual([{ max_tokens: 9 }]);
});
