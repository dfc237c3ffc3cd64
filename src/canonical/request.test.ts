import { expect, test } from 'vitest';
import { wantedAnswers } from './request.ts';

test('a call wants the answers of all requests it is', () => {
  const request = { choices: 2 };
  expect(wantedAnswers({ request })).toBe(2);
  const requests = [{ choices: 2 }, { choices: 2 }, { choices: 2 }];
  expect(wantedAnswers({ request, fanOut: { requests } })).toBe(6);
  expect(wantedAnswers({ request, fanOut: { requests: [{ choices: 1 }] } })).toBe(1);
});
