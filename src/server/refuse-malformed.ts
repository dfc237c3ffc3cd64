// Answers what node's parser refused: there is no request then, only bytes, and nobody is authenticated.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorKind, GatewayError } from '../canonical/error.ts';
import { createTimedId } from '../lib/ids.ts';
import type { Edge } from './edge.ts';

/** The error of node's `clientError` event; `rawPacket` is what the parser was given last. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  readonly rawPacket?: unknown;
}

export type RefuseMalformed = (error: ParserError, socket: Socket) => void;

/** Source: nodejs.org, "Class: http.Server", event `clientError`. */
const KIND_BY_CODE: ReadonlyMap<string | undefined, ErrorKind> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'timeout'],
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'too-large'],
]);
const REQUEST_LINE = /^[A-Z]{1,32} (\/[^\s?]*)(?:\?(\S*))? HTTP\//;
/** As much of a packet as may be a request line worth reading. */
const MOST_LINE_BYTES = 4096;

/** Answers once, in the shape of the path where that can still be read, and closes the connection. */
export function createMalformedRefusal({
  protocols,
  clock,
}: Pick<Edge, 'protocols' | 'clock'>): RefuseMalformed {
  return (error, socket) => {
    // Bytes of an answer already under way must not be followed by another status line.
    if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const { path, query } = readRequestLine(error.rawPacket);
    const requestId = createTimedId('req_', clock.now());
    const { status, body } = protocols
      .protocolForPath(path, {}, query)
      .writeError(malformed(error), { requestId, path });
    const text = JSON.stringify(body);
    const reason = STATUS_CODES[status] ?? '';
    const headers = [
      'connection: close',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      `x-request-id: ${requestId}`,
      `request-id: ${requestId}`,
    ];
    socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers.join('\r\n')}\r\n\r\n${text}`);
  };
}

/** The target chooses the shape of the error and nothing else. */
function readRequestLine(packet: unknown): { path: string; query: URLSearchParams } {
  const start = Buffer.isBuffer(packet) ? packet.toString('latin1', 0, MOST_LINE_BYTES) : '';
  const [, path = '', query = ''] = REQUEST_LINE.exec(start) ?? [];
  return { path, query: new URLSearchParams(query) };
}

function malformed({ code }: ParserError): GatewayError {
  const kind = KIND_BY_CODE.get(code) ?? 'invalid-request';
  return new GatewayError({ kind, source: 'client', message: MESSAGES[kind] ?? NOT_HTTP });
}

const NOT_HTTP = 'The bytes are no request that an HTTP server may take.';
const MESSAGES: Readonly<Partial<Record<ErrorKind, string>>> = {
  timeout: 'The request did not come to its end in time.',
  'headers-too-large': 'The headers are larger than 16 kB together: send fewer or shorter ones.',
  'too-large': 'The extensions of the chunks are too large: send the body without them.',
};
