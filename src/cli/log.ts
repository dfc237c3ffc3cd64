// The log of `isthmus serve`: lines to the error output and to files, free of credentials and of tricks.

import { type Logger, pino } from 'pino';
import type { LogFiles } from '../monitor/log-files.ts';
import { escapeLine, readLogLine } from '../monitor/log-line.ts';
import { createRedactor, createSpeller, type Redactor } from '../monitor/redact.ts';

export interface LogOptions {
  readonly files: Pick<LogFiles, 'write'> | undefined;
  /** Credentials of the gateway, asked anew for every line; none of them stands in any. */
  readonly secrets?: (() => readonly string[]) | undefined;
  /** True when a person reads the error output. */
  readonly isTerminal: boolean;
  /** Where lines for the error output go; the process's own when absent. */
  readonly output?: { write(text: string): void } | undefined;
}

/** Lines go out by the block or four times a second: a write for each would cost every request. */
export function createLog({ files, secrets, isTerminal, output }: LogOptions): Logger {
  const errorOutput = output ?? openErrorOutput();
  const redactorOf = rememberRedactor();
  return pino(
    { level: 'info' },
    {
      write(text: string) {
        const line = escapeLine(redactorOf(secrets?.() ?? NO_SECRETS).text(text));
        errorOutput.write(isTerminal ? writeForPeople(line) : line);
        files?.write(line);
      },
    },
  );
}

const NO_SECRETS: readonly string[] = [];

/** Built anew only for another list: every request writes a line. */
function rememberRedactor(): (secrets: readonly string[]) => Redactor {
  const spell = createSpeller();
  let source: readonly string[] | undefined;
  let redactor = createRedactor(NO_SECRETS, spell);
  return (secrets) => {
    if (secrets !== source) redactor = createRedactor(secrets, spell);
    source = secrets;
    return redactor;
  };
}

function openErrorOutput(): ReturnType<typeof pino.destination> {
  return pino.destination({
    fd: 2,
    sync: false,
    minLength: 32_768,
    maxWrite: 65_536,
    periodicFlush: 250,
  });
}

/** `12:34:56 WARN  What happened. name=value`; escapes stay escapes, so that nothing steers the terminal. */
function writeForPeople(json: string): string {
  const line = readLogLine(json);
  if (line === undefined) return json;
  const { at, level, message, fields } = line;
  const time = new Date(at).toTimeString().slice(0, 8);
  const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const text = `${time} ${level.toUpperCase().padEnd(5)} ${message}${shown.join('')}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a message may hold what JSON had escaped.
  return `${escapeLine(text.replace(/[\u0000-\u001f]/g, ' '))}\n`;
}
