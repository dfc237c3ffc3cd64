// Where a call that needs the password once more gets it: from the part of the page that asks a person.

/** One call that waits for the password. */
export interface PasswordQuestion {
  /** Tries a password; the refusal when it is not taken, undefined when the call has its end. */
  answer(password: string): Promise<Error | undefined>;
  /** The call ends without it, or as a try that is under way does. */
  giveUp(): void;
}

export interface WaitingCall<Answer> {
  run(password: string): Promise<Answer>;
  /** Whether an error is about the password, which can be tried again, and not about the call. */
  isRefusal(error: unknown): error is Error;
  /** What the call ends with when nobody gives one. */
  readonly withheld: Error;
}

type Asker = (question: PasswordQuestion) => void;

let asker: Asker | undefined;

/** From now on `next` hears of every question; the answer ends that. */
export function onPasswordQuestion(next: Asker): () => void {
  asker = next;
  return () => {
    if (asker === next) asker = undefined;
  };
}

/** Resolves with what the call answers once the password is right. */
export function askForPassword<Answer>({
  run,
  isRefusal,
  withheld,
}: WaitingCall<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (asker === undefined) return reject(withheld);
    const tryWith = async (password: string): Promise<Error | undefined> => {
      try {
        resolve(await run(password));
      } catch (error) {
        if (isRefusal(error)) return error;
        reject(error);
      }
      return undefined;
    };
    let lastTry: Promise<Error | undefined> = Promise.resolve(undefined);
    asker({
      answer(password) {
        lastTry = tryWith(password);
        return lastTry;
      },
      // Behind a try that is under way: what it asked for may have been done.
      giveUp: () => void lastTry.then(() => reject(withheld)),
    });
  });
}
