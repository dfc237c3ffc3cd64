// Why a change of the config file was not made, for whoever asked for it.

import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { ConfigError, UnusableFileError, UnwritableFileError } from '../config/config-error.ts';
import { isOutOfRoom } from '../lib/out-of-room.ts';
import { told } from '../lib/told.ts';

/** Names the field that was refused; nothing was changed in any case. */
export function sayConfigFault(error: unknown, section: string): GatewayError {
  if (error instanceof UnusableFileError) return unusable(error.problems);
  if (!(error instanceof ConfigError)) return unwritable(error);
  const [first = ''] = error.problems;
  const field = /^([^\s:]+):/.exec(first)?.[1] ?? section;
  return invalidRequest(field, told`${error.problems.join('; ')}. Nothing was changed.`);
}

/** An edit by hand went wrong: no field of the change is to blame. */
function unusable(problems: readonly string[]): GatewayError {
  return new GatewayError({
    kind: 'invalid-request',
    source: 'client',
    message: told`The config file cannot be used as it stands, so nothing was changed. Correct it first: ${problems.join('; ')}.`,
  });
}

function unwritable(cause: unknown): GatewayError {
  if (cause instanceof UnwritableFileError && isOutOfRoom(cause.cause)) {
    return new GatewayError({
      kind: 'overloaded',
      source: 'gateway',
      message: told`The config file could not be written, because its disk has no room left. Nothing was changed. Free some room and try again.`,
      cause,
    });
  }
  return new GatewayError({
    kind: 'internal',
    source: 'gateway',
    message: told`The config file could not be written; the settings in force stay. The log says why.`,
    cause,
  });
}
