// A WebSocket of a client: opened like a request, then each of its messages is a request of its own.

import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { WebSocket } from 'ws';
import { asGatewayError, clientError, clientGone, type GatewayError } from '../canonical/error.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';
import type { WebSocketRoute } from '../protocols/protocol.ts';
import { FRAME_END } from '../stream/sse.ts';
import { closeStalled, onSocket } from './connections.ts';
import type { Edge, Exchange } from './edge.ts';
import { serve } from './exchange.ts';
import { type BodyHolder, tooLarge, UNCOUNTED_BYTES, watchPace } from './gates/body.ts';
import type { ClientResponse } from './settings.ts';

export type TakeRequest = (
  request: IncomingMessage,
  response: ClientResponse,
  upgrade?: Exchange['upgrade'],
) => void;

/** RFC 6455, 4.2.1: sixteen bytes in base64. */
const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;

/** False for what is answered over HTTP: every other upgrade, and a handshake that is none. */
export function takesWebSocket(
  edge: Edge,
  { method, url = '', headers }: IncomingMessage,
): boolean {
  if (!edge.settings().takesWebSockets) return false;
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const key = headers['sec-websocket-key']?.trim() ?? '';
  if (headers['sec-websocket-version'] !== '13' || !HANDSHAKE_KEY.test(key)) return false;
  const [path = ''] = url.split('?', 1);
  return routeOf(edge, path) !== undefined;
}

/** What the route of the path is on a WebSocket; undefined where it takes none. */
function routeOf(edge: Edge, path: string): WebSocketRoute<unknown> | undefined {
  const match = edge.routes.match('POST', path);
  if (match.kind !== 'route' || match.route.kind !== 'protocol') return undefined;
  const [{ route }] = match.route.offers;
  return 'webSocket' in route ? route.webSocket : undefined;
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
}

/** A request for an upgrade passes the gates of every request; what is refused is answered over HTTP. */
export function takeUpgrade({ request, socket, head }: Upgrade, take: TakeRequest): void {
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return;
  }
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  take(request, response, async (exchange) => {
    const ws = await loadWebSockets();
    if (socket.destroyed) throw clientGone();
    response.detachSocket(socket);
    const server = new ws.WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: exchange.settings.maxBodyBytes,
      // Nobody can foresee what compressed messages take.
      perMessageDeflate: false,
      WebSocket: ws.WebSocket,
    });
    server.handleUpgrade(request, socket, head, (webSocket) => {
      new Connection(exchange, webSocket).open();
    });
    response.statusCode = 101;
    exchange.isAnswered = true;
    response.emit('close');
  });
}

/** RFC 6455, 7.4.1; "try again later" is of its registry. */
const GOING_AWAY = 1001;
const MESSAGE_TOO_BIG = 1009;
const TRY_AGAIN_LATER = 1013;

let loading: ReturnType<typeof readWebSockets> | undefined;

/** Not before somebody wants one: most processes never see a WebSocket. */
function loadWebSockets(): ReturnType<typeof readWebSockets> {
  loading ??= readWebSockets();
  return loading;
}

async function readWebSockets() {
  const ws = await import('ws');
  /** Leaves it to its owner to close after a message that is too large. */
  class OwnedWebSocket extends ws.WebSocket {
    #isTold = false;

    override close(code?: number, reason?: string): void {
      if (code !== MESSAGE_TOO_BIG || this.#isTold) super.close(code, reason);
      else this.emit('too-large');
      this.#isTold = true;
    }
  }
  return { WebSocketServer: ws.WebSocketServer, WebSocket: OwnedWebSocket };
}

/** As the real service (developers.openai.com, "WebSocket mode"). */
const LIMIT_MINUTES = 60;
const PING_MS = 30_000;
/** A client that has not been heard of for so many pings is gone. */
const MAX_UNHEARD = 4;
/** Requests that wait for those before them; while there are so many, no more is read. */
const MAX_WAITING = 8;
const MAX_NOTICE_BYTES = 1024;
/** How long a client may take to answer the end of the connection. */
const LINGER_MS = 1_000;
/** Behind the grace of a shutdown: time for the last words of answers. */
const LAST_WORDS_MS = 3_000;

interface Message {
  readonly body: Buffer;
  readonly refusal?: GatewayError | undefined;
  /** Present for the last message of a connection. */
  readonly closeCode?: number | undefined;
}

/** Headers of the request that opened the connection, and of no other. */
const OWN_HEADERS = /^(?:connection|upgrade|sec-websocket-|x-request-id$|content-|expect$)/;

/** Answers the messages of one client, one after the other. */
class Connection {
  readonly #edge: Edge;
  readonly #opening: Exchange;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #route: WebSocketRoute<unknown>;
  readonly #headers: IncomingHttpHeaders;
  readonly #answers: ReturnType<Edge['connectionResponses']['open']>;
  readonly #holder: BodyHolder;
  readonly #timers: Record<'ping' | 'limit' | 'end' | 'pace', Timer | undefined> = {
    ping: undefined,
    limit: undefined,
    end: undefined,
    pace: undefined,
  };
  readonly #waiting: Message[] = [];
  #turn: TurnResponse | undefined;
  /** Bytes of the message that is coming. */
  #received = 0;
  #unheard = 0;
  #isRefusing = false;
  /** Closes the connection once no request is left. */
  #closeWhenIdle: (() => void) | undefined;

  constructor(opening: Exchange, webSocket: WebSocket) {
    const { edge, request, path, clientKeyId, clientAddress } = opening;
    const route = routeOf(edge, path);
    if (route === undefined) throw new Error(`${path} takes no WebSocket.`);
    this.#edge = edge;
    this.#opening = opening;
    this.#webSocket = webSocket;
    this.#socket = request.socket;
    this.#route = route;
    this.#headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.test(name)),
    );
    this.#answers = edge.connectionResponses.open();
    this.#holder = { clientKeyId, clientAddress, heldBytes: 0 };
  }

  open(): void {
    const { clock, activity } = this.#edge;
    const webSocket = this.#webSocket;
    webSocket.on('message', (data, isBinary) => this.#takeMessage(data, isBinary));
    const forgetControl = (data: Buffer): void => {
      this.#received = Math.max(0, this.#received - data.length - CONTROL_BYTES);
    };
    webSocket.on('ping', forgetControl).on('pong', forgetControl);
    webSocket.on('too-large', () => {
      const refusal = tooLarge({ maxBytes: this.#opening.settings.maxBodyBytes });
      this.#refuse(refusal, MESSAGE_TOO_BIG);
    });
    // Of a broken message the client is told by the code that `ws` closes with.
    webSocket.on('error', () => {
      if (!this.#isRefusing) this.#endSoon();
    });
    webSocket.on('close', () => this.#end());
    // Before the message that these bytes complete.
    this.#socket.prependListener('data', this.#countBytes);
    this.#timers.ping = clock.startTimer(PING_MS, () => this.#ping());
    this.#timers.limit = clock.startTimer(LIMIT_MINUTES * 60_000, () => {
      this.#close(() => {
        webSocket.send(this.#route.writeConnectionLimit(LIMIT_MINUTES));
        webSocket.close(GOING_AWAY, 'The connection has been open as long as one may be.');
      });
    });
    activity.ending.addEventListener('abort', this.#leave, { once: true });
    if (activity.phase === 'draining') this.#leave();
  }

  readonly #leave = (): void => {
    const { clock } = this.#edge;
    this.#waiting.length = 0;
    this.#close(() => this.#webSocket.close(GOING_AWAY, 'The gateway is shutting down.'));
    const graceMs = this.#opening.settings.shutdownGraceMs + LAST_WORDS_MS;
    this.#timers.end ??= clock.startTimer(graceMs, () => this.#webSocket.terminate());
  };

  #takeMessage(body: Buffer, isBinary: boolean): void {
    this.#received = 0;
    this.#timers.pace?.cancel();
    this.#timers.pace = undefined;
    if (this.#isRefusing) return;
    if (isBinary) {
      const message = 'Send each request as a text message, in JSON.';
      this.#add({ body: NOTHING, refusal: clientError('unsupported-media-type', message) });
    } else if (body.length > MAX_NOTICE_BYTES || !this.#route.isNotice(body.toString())) {
      this.#add({ body });
    }
  }

  /** A message of any size is in memory before it is a request. */
  readonly #countBytes = (bytes: Buffer): void => {
    this.#unheard = 0;
    this.#received += bytes.length;
    if (this.#received <= UNCOUNTED_BYTES || this.#isRefusing) return;
    const { clock, bodies } = this.#edge;
    const waiting = this.#waiting.reduce((sum, { body }) => sum + body.length, 0);
    try {
      const size = { bytes: this.#received + waiting, isAscii: true, tokens: 0 };
      bodies.take(this.#holder, size);
    } catch (error) {
      const refusal = asGatewayError(error);
      this.#refuse(refusal, refusal.kind === 'overloaded' ? TRY_AGAIN_LATER : MESSAGE_TOO_BIG);
      return;
    }
    this.#timers.pace ??= watchPace(
      clock,
      () => this.#received,
      (error) => this.#refuse(error, TRY_AGAIN_LATER),
    );
  };

  /** What still comes is read and forgotten. */
  #refuse(refusal: GatewayError, closeCode: number): void {
    this.#isRefusing = true;
    // What has come stays with its receiver until the connection is closed.
    const kept = Math.max(0, this.#received - this.#holder.heldBytes);
    this.#edge.bodies.add(this.#holder, kept);
    this.#socket.removeAllListeners('data');
    this.#socket.resume();
    this.#add({ body: NOTHING, refusal, closeCode });
  }

  #add(message: Message): void {
    if (this.#closeWhenIdle !== undefined) return;
    this.#waiting.push(message);
    if (this.#turn === undefined) this.#begin();
    if (this.#waiting.length >= MAX_WAITING) this.#webSocket.pause();
  }

  #begin(): void {
    const message = this.#waiting.shift();
    if (message === undefined || this.#webSocket.readyState !== OPEN) return;
    if (this.#webSocket.isPaused) this.#webSocket.resume();
    if (this.#waiting.length === 0 && this.#received === 0) this.#edge.bodies.release(this.#holder);
    const { path, query } = this.#opening;
    const { refusal, closeCode } = message;
    const request = this.#requestOf(message);
    const response = new TurnResponse(request, {
      webSocket: this.#webSocket,
      route: this.#route,
      clock: this.#edge.clock,
      onError: () => this.#answers.forgetReferenced(),
      onWritten: () => {
        if (closeCode !== undefined) this.#close(() => this.#webSocket.close(closeCode));
        if (this.#waiting.length === 0) this.#closeWhenIdle?.();
      },
    });
    this.#turn = response;
    void serve(this.#edge, {
      request,
      response,
      path,
      query: query.toString(),
      turn: { refusal, responsesOver: this.#answers.over },
    });
    response.once('close', () => {
      this.#turn = undefined;
      this.#begin();
    });
  }

  #requestOf({ body }: Message): IncomingMessage {
    const request = new IncomingMessage(this.#socket);
    request.method = 'POST';
    request.url = this.#opening.request.url ?? '';
    request.headers = {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': String(body.length),
    };
    request.push(body);
    request.push(null);
    request.complete = true;
    return request;
  }

  /** Now, or behind the request that runs. */
  #close(close: () => void): void {
    this.#closeWhenIdle ??= () => {
      close();
      this.#endSoon();
    };
    if (this.#turn === undefined) this.#closeWhenIdle();
  }

  #endSoon(): void {
    this.#timers.end?.cancel();
    this.#timers.end = this.#edge.clock.startTimer(LINGER_MS, () => this.#webSocket.terminate());
  }

  /** Whoever has not taken what was sent cannot answer a ping: that wait has its own limit. */
  #ping(): void {
    const isWaiting = this.#socket.writableNeedDrain || this.#webSocket.isPaused;
    if (!isWaiting) this.#unheard += 1;
    if (this.#unheard > MAX_UNHEARD) {
      this.#webSocket.terminate();
      return;
    }
    if (!isWaiting && this.#webSocket.readyState === OPEN) this.#webSocket.ping();
    this.#timers.ping = this.#edge.clock.startTimer(PING_MS, () => this.#ping());
  }

  #end(): void {
    const { activity, bodies } = this.#edge;
    activity.ending.removeEventListener('abort', this.#leave);
    for (const timer of Object.values(this.#timers)) timer?.cancel();
    this.#waiting.length = 0;
    this.#answers.close();
    bodies.release(this.#holder);
    this.#turn?.destroy();
  }
}

/** `WebSocket.OPEN`, which is not there before the first is. */
const OPEN = 1;
const NOTHING = Buffer.alloc(0);
/** The head of a control frame and its mask (RFC 6455, 5.2). */
const CONTROL_BYTES = 6;

interface TurnResponseOptions {
  readonly webSocket: WebSocket;
  readonly route: WebSocketRoute<unknown>;
  readonly clock: Clock;
  readonly onError: () => void;
  /** Called behind the last message of the answer. */
  readonly onWritten: () => void;
}

const TOLD_HEADERS = /^(?:x-request-id|x-should-retry|x-isthmus-.*|retry-after.*)$/;

/** The answer to one message: each event of its stream is a message, and so is an error. */
class TurnResponse extends Writable implements ClientResponse {
  readonly req: IncomingMessage;
  readonly chunkedEncoding = false;
  statusCode = 200;
  headersSent = false;
  readonly #options: TurnResponseOptions;
  readonly #decoder = new StringDecoder();
  #headers: readonly string[] = [];
  /** Of an event whose end has not come, or of an error. */
  #pieces: string[] = [];
  /** True while the beginning of a message is sent, and its end is not. */
  #isBegun = false;

  constructor(request: IncomingMessage, options: TurnResponseOptions) {
    super({ decodeStrings: false });
    this.req = request;
    this.#options = options;
  }

  get socket(): Socket {
    return this.req.socket;
  }

  writeHead(status: number, headers: readonly string[]): this {
    this.statusCode = status;
    this.#headers = headers;
    this.headersSent = true;
    return this;
  }

  /** A message is there before it is a request. */
  writeContinue(): void {}

  flushHeaders(): void {}

  override _write(chunk: string | Buffer, _encoding: string, callback: () => void): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk);
    if (this.statusCode === 200) this.#sendEvents(text);
    else this.#pieces.push(text);
    this.#whenTaken(callback);
  }

  override _final(callback: () => void): void {
    if (this.statusCode !== 200) {
      this.#options.onError();
      this.#sendError();
    }
    this.#options.onWritten();
    this.#whenTaken(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.writableFinished) this.#options.webSocket.terminate();
    callback(error);
  }

  #sendEvents(text: string): void {
    let start = 0;
    // The end of an event may have been cut in two.
    const last = this.#pieces.at(-1);
    if (last?.endsWith('\n') === true && text.startsWith('\n')) {
      this.#sendEvent(`${this.#pieces.join('')}\n`);
      start = 1;
    }
    for (;;) {
      const end = text.indexOf(FRAME_END, start);
      if (end === -1) break;
      this.#sendEvent(this.#pieces.join('') + text.slice(start, end));
      start = end + FRAME_END.length;
    }
    if (start === text.length) return;
    this.#pieces.push(text.slice(start));
    // Not where the rest may be the end of the event.
    if (text.length - start >= FRAGMENT_LENGTH && !text.endsWith('\n')) this.#sendBeginning();
  }

  /** An event that repeats a whole answer comes in pieces, and goes on in fragments of its message (RFC 6455, 5.4). */
  #sendBeginning(): void {
    const text = this.#pieces.join('');
    this.#pieces = [];
    const start = this.#isBegun ? 0 : text.indexOf(DATA) + DATA.length;
    this.#isBegun = true;
    this.#options.webSocket.send(text.slice(start), { fin: false });
  }

  /** Of a comment, which is there to be heard, a ping is what is heard here. */
  #sendEvent(event: string): void {
    this.#pieces = [];
    const { webSocket } = this.#options;
    const data = event.indexOf(DATA);
    if (this.#isBegun) webSocket.send(event.trimEnd());
    else if (data !== -1) webSocket.send(event.slice(data + DATA.length).trimEnd());
    else if (webSocket.readyState === OPEN) webSocket.ping();
    this.#isBegun = false;
  }

  #sendError(): void {
    const body = parseJson(this.#pieces.join(''));
    if (!isJsonObject(body)) throw new Error('An error without a body.');
    const headers: Record<string, string> = {};
    for (let at = 0; at < this.#headers.length; at += 2) {
      const [name = '', value = ''] = this.#headers.slice(at, at + 2);
      if (TOLD_HEADERS.test(name)) headers[name] = value;
    }
    const { webSocket, route } = this.#options;
    webSocket.send(route.writeError({ status: this.statusCode, body }, headers));
  }

  #whenTaken(callback: () => void): void {
    const { socket } = this;
    if (!socket.writableNeedDrain || socket.destroyed) {
      callback();
      return;
    }
    const stall = closeStalled(this, this.#options.clock);
    const settle = (): void => {
      stall.cancel();
      for (const stop of stops) stop();
      callback();
    };
    const stops = [onSocket(socket, 'drain', settle), onSocket(socket, 'close', settle)];
  }
}

const DATA = 'data: ';
/** A piece of an event that is as long goes out before the event is whole. */
const FRAGMENT_LENGTH = 8_192;
