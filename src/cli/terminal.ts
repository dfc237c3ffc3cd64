// What commands read from and write to: the terminal here, a list of lines in tests.

import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';

export interface Terminal {
  /** True when a person can be asked. */
  readonly isInteractive: boolean;
  print(text: string): void;
  /** For people only: hints and progress, kept apart from what is asked for. */
  note(text: string): void;
  /** One line; '' when the input ends before. @throws the signal's reason when it aborts first */
  ask(question: string, signal?: AbortSignal): Promise<string>;
  /** One line that is not shown. */
  askSecret(question: string): Promise<string>;
  /** All of the standard input. */
  readInput(): Promise<string>;
  /** The command did its work, and the answer is no. */
  setFailed(): void;
}

export function createTerminal(): Terminal {
  return {
    isInteractive: process.stdin.isTTY === true,
    print: (text) => console.log(text),
    note: (text) => console.error(text),
    ask: (question, signal) => askLine(question, { output: process.stderr, signal }),
    async askSecret(question) {
      process.stderr.write(question);
      const answer = await askLine('', { output: createSilence(), signal: undefined });
      process.stderr.write('\n');
      return answer;
    },
    readInput: () => readAll(process.stdin),
    setFailed: () => {
      process.exitCode = 1;
    },
  };
}

async function askLine(
  question: string,
  { output, signal }: { readonly output: Writable; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const lines = createInterface({
    input: process.stdin,
    output,
    terminal: process.stdin.isTTY === true,
  });
  // The input may end before a line did: readline then never answers a question, and emits what came.
  let unended = '';
  lines.once('line', (line) => {
    unended = line;
  });
  const ended = once(lines, 'close').then(() => unended);
  try {
    const asked =
      signal === undefined ? lines.question(question) : lines.question(question, { signal });
    return await Promise.race([asked, ended]);
  } finally {
    lines.close();
  }
}

/** Takes the echo of what is typed. */
function createSilence(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
