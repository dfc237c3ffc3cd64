import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../canonical/event.ts';
import type { Logprobs } from '../../canonical/logprobs.ts';
import { ASK, chunksOf, eventsOf, officialClient, stream, unary } from './answers.test-support.ts';

const LOGPROBS: Logprobs = {
  average: -0.2,
  tokens: [
    {
      token: 'é',
      id: 5,
      logprob: -0.1,
      alternatives: [
        { token: 'é', logprob: -0.1 },
        { token: '\uFFFD', logprob: -3 },
      ],
    },
    { token: '!', logprob: -0.3, alternatives: [] },
  ],
};

const CONTENT = [
  {
    token: 'é',
    bytes: [195, 169],
    logprob: -0.1,
    top_logprobs: [
      { token: 'é', bytes: [195, 169], logprob: -0.1 },
      { token: '\uFFFD', bytes: null, logprob: -3 },
    ],
  },
  { token: '!', bytes: [33], logprob: -0.3, top_logprobs: [] },
];

function answerWith(logprobs: Logprobs | undefined): CanonicalEvent[] {
  const events = eventsOf([[{ kind: 'text', pieces: ['é', '!'] }]]);
  const end: CanonicalEvent = {
    kind: 'finish',
    choices: [{ choice: 0, reason: 'stop', logprobs }],
  };
  return [...events.slice(0, -1), end];
}

test('a whole answer has the log-probabilities beside its message', () => {
  const [choice] = unary(answerWith(LOGPROBS)).choices;
  expect(choice?.logprobs).toEqual({ content: CONTENT, refusal: null });
});

test('the official accumulator takes them from the chunk that ends the choice', async () => {
  const text = stream(answerWith(LOGPROBS));
  const client = officialClient(text, 'text/event-stream');
  const done: unknown[] = [];
  const run = client.chat.completions.stream(ASK);
  run.on('logprobs.content.done', ({ content }) => done.push(content));
  const completion = await run.finalChatCompletion();
  expect(completion.choices[0]?.logprobs).toEqual({ content: CONTENT, refusal: null });
  expect(done).toEqual([CONTENT]);
  const carrying = chunksOf(text).filter(({ choices }) => choices[0]?.logprobs);
  expect(carrying.map(({ choices }) => choices[0]?.finish_reason)).toEqual(['stop']);
});

test.each([undefined, { tokens: [], average: -1 }])('without tokens it is null', (logprobs) => {
  expect(unary(answerWith(logprobs)).choices[0]?.logprobs).toBeNull();
  expect(stream(answerWith(logprobs))).not.toContain('"logprobs":{');
});
