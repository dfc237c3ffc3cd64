// The levels of log lines, the least first.

import type { Tone } from '../../components/meter.tsx';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const TONES: Readonly<Record<LogLevel, Tone>> = {
  trace: 'idle',
  debug: 'idle',
  info: 'ok',
  warn: 'warn',
  error: 'bad',
  fatal: 'bad',
};

/** A level of a newer gateway has no colour of its own. */
export function toneOfLevel(level: string): Tone {
  const known = LOG_LEVELS.find((one) => one === level);
  return known === undefined ? 'idle' : TONES[known];
}
