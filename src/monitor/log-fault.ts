// What can be wrong with the files of the log, and what the operator is told of it.

import { GatewayError } from '../canonical/error.ts';

/** True for what the operating system says of a file or folder that is not there. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** For whoever asks for the log: it cannot say itself why it cannot be read. */
export function unreadableLog(folder: string, cause: unknown): GatewayError {
  const code = codeOf(cause) ?? 'unknown error';
  return new GatewayError({
    kind: 'internal',
    source: 'gateway',
    message: `The log in ${folder} cannot be read (${code}). Make it a folder that the user of this process may read and write; the error output has every line meanwhile.`,
    cause,
  });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
