// What an upstream says of the credential it was shown, in a refusal or inside an answer: no client is told.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultBench, startFaultBench, WITH_KEY } from '../faults/bench.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import { errorBody, frameOf, type ScriptedReply } from '../support/scripted-upstream.ts';

let bench: FaultBench;
beforeAll(async () => {
  bench = await startFaultBench();
});
afterAll(() => bench.close());

const SPELLINGS = [
  ['as it is', (text: string) => text],
  ['in base64', (text: string) => Buffer.from(text).toString('base64')],
  ['in hex', (text: string) => Buffer.from(text).toString('hex')],
] as const;

const PLACES: readonly (readonly [string, boolean, (message: string) => ScriptedReply])[] = [
  [
    'a refusal',
    false,
    (message) => ({ kind: 'status', status: 400, body: errorBody(400, message) }),
  ],
  ['an answer', false, (message) => ({ kind: 'frames', frames: [errorBody(400, message)] })],
  ['a stream', true, (message) => ({ kind: 'frames', frames: [errorBody(400, message)] })],
  [
    'a stream that had begun',
    true,
    (message) => ({ kind: 'frames', frames: [frameOf('Good '), errorBody(400, message)] }),
  ],
];

describe.each(PROTOCOL_CALLS)('$name', (call) => {
  describe.each(PLACES)('in %s', (_place, stream, reply) => {
    test.each(SPELLINGS)('the credential %s', async (_spelling, spell) => {
      await bench.prepare([WITH_KEY[0]]);
      let spelled = '';
      bench.upstream.script({
        model: ({ credential }) => {
          spelled = spell(credential);
          return reply(`The key ${spelled} may not ask this.`);
        },
      });
      const { text } = await send(bench.gateway.url, call, { stream, model: 'alpha-3-flash' });
      expect(spelled).not.toBe('');
      expect(text).toContain('may not ask this.');
      expect(text).not.toContain(spelled);
    });
  });
});
