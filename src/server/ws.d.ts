// What the gateway uses of `ws` 8, which has no types of its own.

declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export class WebSocket extends EventEmitter {
    static readonly OPEN: 1;
    constructor(address: string, options?: { readonly headers?: Readonly<Record<string, string>> });
    readonly readyState: number;
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this;
    on(event: 'ping' | 'pong', listener: (data: Buffer) => void): this;
    on(event: 'close', listener: (code: number, reason: Buffer) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    /** Of a class of the gateway's own. */
    on(event: 'too-large', listener: () => void): this;
    send(
      data: string | Buffer,
      options?: { readonly binary?: boolean; readonly fin?: boolean },
    ): void;
    ping(): void;
    close(code?: number, reason?: string): void;
    pause(): void;
    resume(): void;
    readonly isPaused: boolean;
    terminate(): void;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: {
      readonly noServer: true;
      readonly clientTracking: false;
      /** Bytes of one message. */
      readonly maxPayload: number;
      readonly perMessageDeflate: false;
      readonly WebSocket?: typeof WebSocket;
    });
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (webSocket: WebSocket) => void,
    ): void;
  }
}
