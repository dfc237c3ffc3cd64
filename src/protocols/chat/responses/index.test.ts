import { expect, test } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.ts';
import type { CanonicalEvent } from '../../../canonical/event.ts';
import { createReceipt } from '../../../canonical/receipt.ts';
import { createResponseStores } from '../../../stored-responses/response-store.ts';
import { readResponsesCall } from './index.ts';
import { createContext, framesOf } from './responses.test-support.ts';

const ANSWER: readonly CanonicalEvent[] = [
  { kind: 'start' },
  {
    kind: 'finish',
    choices: [{ choice: 0, reason: 'stop' }],
  },
];

test('an answer that is too large to be kept says that it is not stored, and so does the receipt', () => {
  const maxAnswers = [1_000_000, 10];
  const told = maxAnswers.map((maxAnswer) => {
    const options = { clock: createFakeClock(), onFailure: () => {}, maxAnswer };
    const responses = createResponseStores(options).of('k');
    const receipt = createReceipt();
    const body = { model: 'm', input: 'hi', stream: true };
    const query = new URLSearchParams();
    const call = readResponsesCall({ pathModel: '', query, headers: {}, body, receipt, responses });
    const writer = call.createStreamWriter(createContext());
    const frames = framesOf(ANSWER.map((event) => writer.write(event)).join(''));
    return [frames.at(-1)?.response, receipt.entries];
  });
  expect(told).toMatchObject([
    [{ store: true }, []],
    [{ store: false }, [{ path: 'store', action: 'dropped' }]],
  ]);
});
