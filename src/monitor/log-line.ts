// A line of the log: safe to store and to print whatever it says, and read back in parts.

import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevelName = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: LogLevelName;
  readonly message: string;
  readonly fields: JsonObject;
}

/**
 * Characters that JSON leaves raw and that fool those who read: DEL and C1 controls, marks that turn
 * the direction of text, separators that some take for line ends.
 */
const TREACHEROUS = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The same JSON text with those written as escapes. */
export function escapeLine(json: string): string {
  return json.replace(
    TREACHEROUS,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Undefined for what is no line of our log. */
export function readLogLine(text: string): LogLine | undefined {
  const line = parse(text);
  if (line === undefined) return undefined;
  const { level, time, msg, pid: _pid, hostname: _hostname, ...fields } = line;
  if (typeof level !== 'number' || typeof time !== 'number') return undefined;
  const name = LOG_LEVELS[Math.min(Math.max(Math.floor(level / 10) - 1, 0), LOG_LEVELS.length - 1)];
  return { at: time, level: name ?? 'info', message: typeof msg === 'string' ? msg : '', fields };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
