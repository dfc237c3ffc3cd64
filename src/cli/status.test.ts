import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { createHttpClient } from './admin-client.ts';
import { runCommand } from './run-command.test-support.ts';

const OVERVIEW = {
  ...{ status: 'ok', version: '1.2.3', startedAt: 0, isSandbox: false },
  address: 'http://127.0.0.1:8045',
  live: { requestsPerMinute: 12, tokensPerMinute: 3400, errorsPerMinute: 1, inFlight: 2 },
  accounts: { total: 3, usable: 2, untried: 0, failing: 0, cooling: 0, disabled: 1 },
  attention: [],
};

function statusOf(line: string, overview: JsonObject) {
  const clock = createFakeClock(93_784_000);
  const connect = async () => ({ call: async () => overview, close: async () => undefined });
  return runCommand(line, { connect, clock });
}

test('the state of a gateway is said in a few lines, with its uptime and accounts by state', async () => {
  const { printed, hasFailed, needsAttention } = await statusOf('status', OVERVIEW);
  expect(printed.join('\n')).toBe(
    [
      'isthmus 1.2.3 runs at http://127.0.0.1:8045, for 1 d 2 h',
      '  Accounts  3: 2 usable, 1 disabled',
      '  Requests  2 in flight; in the last minute 12, 1 of them failed',
      '  Tokens    3400 in the last minute',
    ].join('\n'),
  );
  expect([hasFailed(), needsAttention()]).toEqual([false, false]);
});

test('of a data folder alone it is said that no gateway runs', async () => {
  const { printed } = await statusOf('status --local', OVERVIEW);
  expect(printed.join('\n')).toBe(
    [
      'isthmus 1.2.3 runs for this command alone, on the data folder',
      '  Accounts  3: 2 usable, 1 disabled',
    ].join('\n'),
  );
});

const LOW = { severity: 'warning', message: 'The quota is at 4 %.', wayOut: 'Wait for its reset.' };

test.each([
  ['attention', [false, true]],
  ['trouble', [true, false]],
])('a gateway with %s says why and ends with a code of its own', async (status, codes) => {
  const overview = { ...OVERVIEW, status, attention: [LOW] };
  const words = await statusOf('status', overview);
  expect(words.printed.at(-1)).toBe('warning: The quota is at 4 %. Wait for its reset.');
  const json = await statusOf('status --json', overview);
  expect(JSON.parse(json.printed.join())).toMatchObject({
    ...{ status, version: '1.2.3', uptimeSeconds: 93_784 },
    ...{ accounts: { usable: 2 }, live: { inFlight: 2 }, attention: [LOW] },
  });
  for (const { hasFailed, needsAttention } of [words, json]) {
    expect([hasFailed(), needsAttention()]).toEqual(codes);
  }
});

test('where no gateway runs the error is of that kind, in words and as JSON', async () => {
  const connect = async () => createHttpClient({ url: 'http://127.0.0.1:9', password: undefined });
  await expect(runCommand('status', { connect })).rejects.toMatchObject({ reason: 'no-gateway' });
});
