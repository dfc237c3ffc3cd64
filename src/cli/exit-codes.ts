// The exit codes of commands, and the error that carries one.

import { CommanderError } from 'commander';
import { messageOf } from '../lib/localized-message.ts';

/** What each code means, for scripts; docs/commands.md is written from it. */
export const EXIT_CODES = {
  done: { code: 0, meaning: 'The command succeeded, and the answer is yes.' },
  failed: {
    code: 1,
    meaning:
      'It failed, or the answer is no: an account cannot be used, a model name is unknown, `doctor` found an error.',
  },
  usage: { code: 2, meaning: 'The command line is wrong. Nothing was done.' },
  'no-gateway': { code: 3, meaning: 'No gateway responds at the address.' },
  refused: { code: 4, meaning: 'The gateway refused the password.' },
  attention: {
    code: 5,
    meaning:
      'It works, and something needs attention: a finding of `status` or `doctor`, or a newer version.',
  },
  interrupted: { code: 130, meaning: 'It was interrupted with Ctrl-C.' },
} as const;

export type ExitReason = keyof typeof EXIT_CODES;

/** A failure in words for people, with the exit code that tells it to scripts. */
export class CommandError extends Error {
  readonly reason: ExitReason;

  constructor(reason: ExitReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CommandError';
    this.reason = reason;
  }
}

/** Help, the version, and what commander refuses: it has printed them by then. */
export function isPrinted(error: unknown): boolean {
  return error instanceof CommanderError;
}

/** How a process ends on an error. Of commander's own, help and version are no failure. */
export function exitReasonOf(error: unknown): ExitReason {
  if (error instanceof CommandError) return error.reason;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 'done' : 'usage';
  return 'failed';
}

/** What a failed `fetch` says of its reason. */
export function whyUnreached(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return messageOf(cause);
}
