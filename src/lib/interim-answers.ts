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
const LAST_DIGIT = 'HTTP/1.1 10'.length;
const TWO = 0x32;

/** Other interim answers undici hands over: a 100 is given out as a `102 Processing`, which says as little. */
function renameContinue(socket: Socket): void {
  const { push, write } = socket;
  let isAwaited = false;
  socket.write = (...args: unknown[]): boolean => {
    isAwaited = true;
    return Reflect.apply(write, socket, args);
  };
  socket.push = (chunk: unknown, encoding) => {
    if (isAwaited && Buffer.isBuffer(chunk)) isAwaited = passHeads(chunk);
    return push.call(socket, chunk, encoding);
  };
}

/** True while only interim answers came. */
function passHeads(chunk: Buffer): boolean {
  const text = chunk.toString('latin1');
  for (let at = 0; at < text.length; ) {
    HEAD.lastIndex = at;
    if (!HEAD.test(text)) return false;
    if (text.startsWith('100', at + LAST_DIGIT - 2)) chunk[at + LAST_DIGIT] = TWO;
    const end = text.indexOf(HEAD_END, at);
    if (end === -1) return true;
    at = end + HEAD_END.length;
  }
  return true;
}
