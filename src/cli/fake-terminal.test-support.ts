// A terminal that remembers what was printed and answers from a list.

import type { createTerminal } from './terminal.ts';

export interface FakeTerminal extends ReturnType<typeof createTerminal> {
  readonly printed: string[];
  readonly notes: string[];
  readonly asked: string[];
  readonly hasFailed: () => boolean;
  readonly needsAttention: () => boolean;
}

export interface FakeAnswers {
  /** To the questions, in their order; a question without one waits until its signal aborts. */
  readonly answers?: readonly string[];
  /** The standard input; without one a person sits there. */
  readonly input?: string;
}

export function createFakeTerminal({ answers = [], input }: FakeAnswers = {}): FakeTerminal {
  const left = [...answers];
  const unread = input === undefined ? [] : [input];
  const printed: string[] = [];
  const notes: string[] = [];
  const asked: string[] = [];
  let [failed, attention] = [false, false];
  const ask = (question: string, signal?: AbortSignal): Promise<string> => {
    asked.push(question);
    const answer = left.shift();
    if (answer !== undefined) return Promise.resolve(answer);
    return new Promise((_resolve, reject) => {
      if (signal === undefined) reject(new Error(`Nobody answers: ${question}`));
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  return {
    isInteractive: input === undefined,
    print: (text) => void printed.push(text),
    note: (text) => void notes.push(text),
    ask,
    askSecret: (question) => ask(question),
    readInput: async () => unread.splice(0).join(''),
    setFailed: () => {
      failed = true;
    },
    setAttention: () => {
      attention = true;
    },
    printed,
    notes,
    asked,
    hasFailed: () => failed,
    needsAttention: () => attention,
  };
}
