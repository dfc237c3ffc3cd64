// Connections on which a `100 Continue` that nobody asked for is passed over (RFC 9110, 15.2): undici breaks them off.

import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Connects as these options, or this way to connect, say. */
export function passingContinue(
  options: buildConnector.BuildOptions | buildConnector.connector,
): buildConnector.connector {
  const connect = typeof options === 'function' ? options : buildConnector(options);
  return (target, callback) =>
    connect(target, (...result) => {
      if (result[1]) renameContinue(result[1]);
      callback(...result);
    });
}

const HEAD = /HTTP\/1\.[01] 1\d\d[ \r\n]/y;
const HEAD_END = '\r\n\r\n';
const FIRST_DIGIT = 'HTTP/1.1 '.length;
const LAST_DIGIT = FIRST_DIGIT + 2;
const [ONE, TWO] = [0x31, 0x32];

/** Other interim answers undici hands over: a 100 is given out as a `102 Processing`, which says as little. */
function renameContinue(socket: Socket): void {
  const { push } = socket;
  /** What was written when the last answer began: what comes until more is written is the rest of that. */
  let answered = 0;
  socket.push = (chunk: unknown, encoding) => {
    const { bytesWritten } = socket;
    if (bytesWritten !== answered && Buffer.isBuffer(chunk)) {
      const isInterim = chunk[FIRST_DIGIT] === ONE && passHeads(chunk);
      if (!isInterim) answered = bytesWritten;
    }
    return push.call(socket, chunk, encoding);
  };
}

/** True while only interim answers came. */
function passHeads(chunk: Buffer): boolean {
  const text = chunk.toString('latin1');
  for (let at = 0; at < text.length; ) {
    HEAD.lastIndex = at;
    if (!HEAD.test(text)) return false;
    if (text.startsWith('100', at + FIRST_DIGIT)) chunk[at + LAST_DIGIT] = TWO;
    const end = text.indexOf(HEAD_END, at);
    if (end === -1) return true;
    at = end + HEAD_END.length;
  }
  return true;
}
