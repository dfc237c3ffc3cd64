import { expect, test } from 'vitest';
import { asSentence, told } from '../lib/localized-message.ts';
import { errorGroup, wantedAnswers } from './record.ts';

test('messages of one template are one group, whatever is put into it', () => {
  const limited = (model: string, minutes: number) =>
    errorGroup('rate-limited', told`No account offers ${model}: ${told`${minutes} minutes left`}.`);
  expect(limited('a', 5)).toBe('rate-limited: No account offers …: … minutes left.');
  expect(limited('b', 71)).toBe(limited('a', 5));
  expect(errorGroup('timeout', undefined)).toBe('timeout');
});

test.each([
  ['Quota of "gemini-3" is 5,000.', 'Quota of … is ….'],
  ['No such user: ann@example.org', 'No such user: …'],
  ['see https://example.org/a?b=1 for req_01JX8ABC and 7f3a9c21-aa', 'see … for … and …'],
  ["it's closed", "it's closed"],
])('a text from elsewhere is taken without its values: %s', (text, group) => {
  expect(errorGroup('path', asSentence(text))).toBe(`path: ${group}`);
});

test('a long text is cut', () => {
  const group = errorGroup('path', asSentence('word '.repeat(100)));
  expect(group.length).toBeLessThan(220);
});

test('a call wants the answers of all requests it is', () => {
  const request = { choices: 2 };
  expect(wantedAnswers(request, undefined)).toBe(2);
  expect(wantedAnswers(request, { requests: [request, request, request] })).toBe(6);
  expect(wantedAnswers(request, { requests: [{ choices: 1 }] })).toBe(1);
});
