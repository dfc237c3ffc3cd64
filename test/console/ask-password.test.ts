// What becomes of a call that needs the password once more, as a person answers.

import { afterEach, expect, test } from 'vitest';
import {
  askForPassword,
  onPasswordQuestion,
  type PasswordQuestion,
} from '../../console/src/api/ask-password.ts';

const WITHHELD = new Error('nobody gave it');
const WRONG = new Error('wrong');

let stop = (): void => undefined;
afterEach(() => stop());

/** A call that waits, what is asked for it, and the tries that are under way. */
function ask() {
  const tries: PromiseWithResolvers<string>[] = [];
  const questions: PasswordQuestion[] = [];
  stop = onPasswordQuestion((question) => questions.push(question));
  const call = askForPassword({
    run: () => {
      const next = Promise.withResolvers<string>();
      tries.push(next);
      return next.promise;
    },
    isRefusal: (error): error is Error => error === WRONG,
    withheld: WITHHELD,
  });
  const [question] = questions;
  if (question === undefined) throw new Error('Nobody was asked.');
  return { call, question, tries };
}

test('a wrong password is told, and the next one is tried', async () => {
  const { call, question, tries } = ask();
  const first = question.answer('a');
  tries[0]?.reject(WRONG);
  expect(await first).toBe(WRONG);
  const second = question.answer('b');
  tries[1]?.resolve('done');
  expect(await second).toBeUndefined();
  expect(await call).toBe('done');
});

test('a call ends without the password where nobody gives it, or nobody can be asked', async () => {
  const { call, question } = ask();
  question.giveUp();
  await expect(call).rejects.toBe(WITHHELD);
  stop();
  const unheard = askForPassword({
    run: async () => 'done',
    isRefusal: (error): error is Error => error === WRONG,
    withheld: WITHHELD,
  });
  await expect(unheard).rejects.toBe(WITHHELD);
});

test('a question that is given up during a try ends as the try does', async () => {
  const taken = ask();
  const answered = taken.question.answer('a');
  taken.question.giveUp();
  taken.tries[0]?.resolve('done');
  await answered;
  expect(await taken.call).toBe('done');

  const refused = ask();
  const told = refused.question.answer('a');
  refused.question.giveUp();
  refused.tries[0]?.reject(WRONG);
  await told;
  await expect(refused.call).rejects.toBe(WITHHELD);
});
