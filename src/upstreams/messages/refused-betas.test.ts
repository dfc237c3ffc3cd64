import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { mergeBetas } from '../../wire/messages.ts';
import type { UpstreamCall } from '../upstream.ts';
import { RefusedBetas } from './refused-betas.ts';

const HOUR_MS = 3_600_000;

/** A service that says `words` to requests with any of these flags. */
function service(refused: readonly string[], words: (met: readonly string[]) => string) {
  let time = 0;
  const sent: string[] = [];
  const betas = new RefusedBetas({ monotonic: () => time });
  const send = async ({ clientHeaders = {} }: UpstreamCall): Promise<string> => {
    const flags = mergeBetas([clientHeaders['anthropic-beta'], clientHeaders['vendorb-beta']]);
    sent.push(flags);
    const met = flags.split(',').filter((flag) => refused.includes(flag));
    if (met.length === 0) return flags;
    const failure = { kind: 'rejected', detail: words(met) } as const;
    throw new GatewayError({ kind: 'internal', source: 'upstream', message: 'no', failure });
  };
  const ask = async (clientHeaders?: UpstreamCall['clientHeaders'], isStrict = false) => {
    const receipt = createReceipt();
    const flags = await betas.open(callOf(clientHeaders, isStrict ? undefined : receipt), send);
    return { flags, notes: receipt.entries.map((one) => `${one.action} ${one.path}`) };
  };
  const pass = (ms: number): void => {
    time += ms;
  };
  return { ask, sent, pass };
}

function callOf(
  clientHeaders: UpstreamCall['clientHeaders'],
  receipt: UpstreamCall['receipt'],
): UpstreamCall {
  return {
    ...{ modelId: 'm', body: {}, stream: false, receipt, clientHeaders },
    access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' },
    signal: new AbortController().signal,
  };
}

const named = (met: readonly string[]): string =>
  `Unexpected value(s) ${met.map((flag) => `\`${flag}\``).join(', ')} for the \`anthropic-beta\` header. Please consult our documentation or try again without the header.`;

test('flags that a service names as refused are left out, from then on for an hour', async () => {
  const { ask, sent, pass } = service(['b-2', 'c-3'], named);
  const headers = { 'anthropic-beta': 'a-1,b-2', 'vendorb-beta': 'c-3' };
  const answer = {
    flags: 'a-1',
    notes: ['dropped anthropic-beta: b-2', 'dropped anthropic-beta: c-3'],
  };
  expect(await ask(headers)).toEqual(answer);
  expect(await ask(headers)).toEqual(answer);
  expect(sent).toEqual(['a-1,b-2,c-3', 'a-1', 'a-1']);
  pass(HOUR_MS);
  expect(await ask({ 'anthropic-beta': 'b-2' })).toMatchObject({ flags: '' });
  expect(sent).toHaveLength(5);
});

test('a service that names one at a time is asked again for each', async () => {
  const { ask, sent } = service(['b-2', 'c-3'], ([first = '']) => named([first]));
  const headers = { 'anthropic-beta': 'a-1,b-2,c-3' };
  expect(await ask(headers)).toMatchObject({ flags: 'a-1' });
  expect(await ask(headers)).toMatchObject({ flags: 'a-1' });
  expect(sent).toEqual(['a-1,b-2,c-3', 'a-1,c-3', 'a-1', 'a-1']);
});

test('where it names none, all flags of the client are left out', async () => {
  const { ask, sent } = service(['b-2'], () => 'invalid beta flag');
  expect(await ask({ 'anthropic-beta': 'a-1,b-2' })).toEqual({
    flags: '',
    notes: ['dropped anthropic-beta: a-1', 'dropped anthropic-beta: b-2'],
  });
  // Which of them it was nobody knows: another request is asked with its own.
  expect(await ask({ 'anthropic-beta': 'a-1' })).toEqual({ flags: 'a-1', notes: [] });
  expect(sent).toHaveLength(3);
});

test.each([
  ['another refusal', { 'anthropic-beta': 'b-2' }, false, 'max_tokens: too large'],
  ['a refusal of what the profile sends', {}, false, 'invalid beta flag'],
  ['a strict request', { 'anthropic-beta': 'b-2' }, true, named(['b-2'])],
])('%s stays as it is', async (_what, headers, isStrict, words) => {
  const { ask, sent } = service(['b-2', ''], () => words);
  await expect(ask(headers, isStrict)).rejects.toThrow('no');
  expect(sent).toHaveLength(1);
});
