// The log of `isthmus serve`: lines to the error output and to files, free of credentials and of tricks.

import { write, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Logger, pino } from 'pino';
import type { Clock, Timer } from '../lib/clock.ts';
import { codeOf } from '../lib/localized-message.ts';
import { derived } from '../lib/once.ts';
import { createRedactor, createSpeller } from '../lib/redact.ts';
import { escapeLine, type LogFiles, readLogLine } from '../monitor/log-files.ts';
import type { Log, RequestLine } from '../server/settings.ts';

export interface LogOptions {
  readonly files: Pick<LogFiles, 'write' | 'onFlush'> | undefined;
  readonly clock: Pick<Clock, 'startTimer'>;
  /** What this process is called among those that serve together; undefined where it is alone. */
  readonly replica?: string | undefined;
  /** Credentials of the gateway, asked anew for every block; none of them is in any line. */
  readonly secrets?: (() => readonly string[]) | undefined;
  /** True when a person reads the error output: lines come at once then, and as people read them. */
  readonly isTerminal: boolean;
  /** Where lines for the error output go; the process's own when absent. */
  readonly output?: { write(text: string): void } | undefined;
}

/** Pino's logger, which writes every line but those of requests. */
type GatewayLog = Logger & Pick<Log, 'request'>;

/** Lines go out by the block or four times a second: a write for each would cost every request. */
const ENOUGH_CHARACTERS = 65_536;
const GATHER_MS = 250;
/** Of an error: each may have another. */
const MAX_CAUSES = 3;

const STANDARD_ERROR = 2;
/** Of lines that wait for a full disk or a reader that stands still; what comes then is in the files alone. */
const MAX_WAITING = 4_194_304;
const AGAIN_MS = 100;

/** Never waits for the output, and tries again where it failed; the rest is written when the process ends. */
function openOutput(clock: Pick<Clock, 'startTimer'>): { write(text: string): void } {
  let waiting = '';
  let left = Buffer.alloc(0);
  /** `out`: the system has what is left. */
  let state: 'idle' | 'due' | 'out' = 'idle';
  const goOn = (): void => {
    if (left.length === 0) {
      left = Buffer.from(waiting);
      waiting = '';
    }
    state = left.length === 0 ? 'idle' : 'out';
    if (state === 'idle') return;
    write(STANDARD_ERROR, left, (error, written) => {
      state = 'due';
      if (error !== null) clock.startTimer(AGAIN_MS, goOn);
      else {
        left = left.subarray(written);
        goOn();
      }
    });
  };
  process.once('exit', () => {
    try {
      if (state !== 'out') writeSync(STANDARD_ERROR, left);
      writeSync(STANDARD_ERROR, waiting);
    } catch {
      // Nobody is left to tell.
    }
  });
  return {
    write(text) {
      if (waiting.length + text.length > MAX_WAITING) return;
      waiting += text;
      if (state !== 'idle') return;
      // A process that ends in this turn writes it itself.
      state = 'due';
      setImmediate(goOn);
    },
  };
}

/** What is said beside the log to an output that takes nothing, such as a full disk, is lost and ends no gateway. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

const NO_SECRETS: readonly string[] = [];

export function createLog(options: LogOptions): GatewayLog {
  const { files, clock, replica, secrets = () => NO_SECRETS, isTerminal } = options;
  const output = options.output ?? openOutput(clock);
  const spell = createSpeller();
  const redactor = derived(secrets, (known) => createRedactor(known, spell));
  // Cleaned together, lines cost a fraction of what each does alone; no pattern of a credential spans two.
  const mostCharacters = isTerminal ? 0 : ENOUGH_CHARACTERS;
  let block = '';
  let timer: Timer | undefined;
  const flush = (): void => {
    timer?.cancel();
    timer = undefined;
    if (block === '') return;
    const clean = escapeLine(redactor().text(block));
    block = '';
    output.write(isTerminal ? writeForPeople(clean) : clean);
    files?.write(clean);
  };
  const lines = {
    flush,
    write(line: string): void {
      block += line;
      if (block.length >= mostCharacters) flush();
      else timer ??= clock.startTimer(GATHER_MS, flush);
    },
  };
  files?.onFlush(flush);
  const base = { pid: process.pid, hostname: hostname(), replica };
  const serializers = { error: (error: unknown) => sayError(error) };
  const logger = pino({ level: 'info', base, serializers }, lines);
  const sender = JSON.stringify(base).slice(1, -1);
  return Object.assign(logger, {
    request(level: 'debug' | 'info', line: RequestLine): void {
      if (logger.isLevelEnabled(level)) lines.write(writeRequestLine(level, sender, line));
    },
  });
}

/** As pino would write it. Ids, methods and kinds of errors have no character that JSON would escape. */
function writeRequestLine(level: 'debug' | 'info', sender: string, line: RequestLine): string {
  const { error, passedOver } = line;
  const kind = error === undefined ? '' : `,"error":"${error}"`;
  const others = passedOver === undefined ? '' : `,"passedOver":${JSON.stringify(passedOver)}`;
  return `{"level":${pino.levels.values[level]}${pino.stdTimeFunctions.epochTime()},${sender},"requestId":"${line.requestId}","method":"${line.method}","path":${JSON.stringify(line.path)},"status":${line.status},"durationMs":${line.durationMs},"client":${JSON.stringify(line.client)},"clientKeyId":${JSON.stringify(line.clientKeyId)}${kind}${others},"msg":"request"}\n`;
}

/** Why something went wrong that is not worth a stack; what else hangs at an error may be anything. */
function sayError(error: unknown, causes = MAX_CAUSES): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, cause } = error;
  const isSaid = cause instanceof Error && causes > 0;
  return {
    name,
    message,
    code: codeOf(error),
    cause: isSaid ? sayError(cause, causes - 1) : undefined,
  };
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
