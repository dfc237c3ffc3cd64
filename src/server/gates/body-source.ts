// Where the bytes of a body are read from: the request, or its text as it is decompressed.

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { constants, createZstdDecompress } from 'node:zlib';
import { clientError, clientGone, GatewayError, invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';

interface BodySource {
  readonly stream: Readable;
  /** Reads no more; what still comes stays in the request. */
  stop(): void;
  faultOf(error: Error): GatewayError;
}

/** The window that every reader is expected to have (RFC 8878, 3.1.1.1.2): 8 MB. */
const MAX_WINDOW_LOG = 23;
/** Text gets smaller by less; beyond the first bytes, what grows by more was made to. */
const MAX_GROWTH = 200;
const FREE_BYTES = 1_048_576;

/** Codex sends its requests so. */
export function isCompressed({ headers }: IncomingMessage): boolean {
  return headers['content-encoding']?.trim().toLowerCase() === 'zstd';
}

export function bodySource(request: IncomingMessage): BodySource {
  return isCompressed(request)
    ? decompressed(request)
    : { stream: request, stop: () => request.pause(), faultOf: clientGone };
}

function decompressed(request: IncomingMessage): BodySource {
  const stream = createZstdDecompress({
    params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
  });
  let grown = 0;
  stream.on('data', (chunk: Buffer) => {
    grown += chunk.length;
    if (grown > FREE_BYTES + stream.bytesWritten * MAX_GROWTH) stream.destroy(tooDense());
  });
  const onGone = (): void => {
    if (!request.complete) stream.destroy();
  };
  request.on('error', onGone).on('close', onGone).pipe(stream);
  return {
    stream,
    stop() {
      request.unpipe(stream).pause();
      stream.destroy();
    },
    faultOf: (error) => (error instanceof GatewayError ? error : noZstd()),
  };
}

function noZstd(): GatewayError {
  return invalidRequest(
    'body',
    told`The request body is not valid zstd. Send it without Content-Encoding.`,
  );
}

function tooDense(): GatewayError {
  return clientError(
    'too-large',
    told`The request body becomes more than ${MAX_GROWTH} times as large when it is decompressed. Send it without Content-Encoding.`,
  );
}
