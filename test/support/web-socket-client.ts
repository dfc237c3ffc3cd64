// A client on a WebSocket, which waits for messages in their order.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';

export interface WebSocketClient {
  readonly webSocket: WebSocket;
  /** What it is on. */
  readonly socket: Socket;
  /** Objects as JSON; everything else as it stands. */
  send(message: JsonObject | string | Buffer): void;
  /** The next message, whenever it comes. */
  next(): Promise<JsonObject>;
  /** All messages up to one of these types. */
  until(...types: readonly string[]): Promise<readonly JsonObject[]>;
  /** Sends a request and gives the response it ends with, or the error. */
  ask(fields: JsonObject): Promise<JsonObject>;
  /** The code that the server closes with. */
  readonly closed: Promise<number>;
  close(): void;
}

const LAST = ['response.completed', 'response.incomplete', 'response.failed', 'error'];

/** Rejects when the server answers without a WebSocket. `url` begins with `http`. */
export async function openWebSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebSocketClient> {
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  const messages: JsonObject[] = [];
  let wake = (): void => undefined;
  webSocket.on('message', (data) => {
    const message = parseJson(data.toString());
    if (!isJsonObject(message)) throw new Error(`No object: ${data.toString()}`);
    messages.push(message);
    wake();
  });
  const closed = new Promise<number>((resolve) => {
    webSocket.on('close', (code) => {
      resolve(code);
      wake();
    });
  });
  const [[{ socket }]] = await Promise.all([once(webSocket, 'upgrade'), once(webSocket, 'open')]);
  const next = async (): Promise<JsonObject> => {
    for (;;) {
      const message = messages.shift();
      if (message !== undefined) return message;
      if (webSocket.readyState > WebSocket.OPEN) throw new Error('The connection is closed.');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const until = async (...types: readonly string[]): Promise<readonly JsonObject[]> => {
    const seen: JsonObject[] = [];
    for (;;) {
      const message = await next();
      seen.push(message);
      if (types.includes(String(message.type))) return seen;
    }
  };
  const send = (message: JsonObject | string | Buffer): void =>
    webSocket.send(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    );
  return {
    webSocket,
    socket,
    send,
    next,
    until,
    closed,
    async ask(fields) {
      send({ type: 'response.create', ...fields });
      const last = (await until(...LAST)).at(-1);
      return isJsonObject(last?.response) ? last.response : (last ?? {});
    },
    close: () => webSocket.close(),
  };
}
