// What the parts of the edge share: settings with their defaults, the logger, and what they read and write.

import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { AccessSettings } from '../access/access.ts';
import { DEFAULTS, type ProxySettings } from '../config/settings.ts';
import type { AuthMode } from '../config/values.ts';

export type HeaderMap = Readonly<Record<string, string | undefined>>;

/** Whether an `Accept-Encoding` names the coding, and not with a weight of zero (RFC 9110 §12.5.3). */
export function acceptsCoding(header: string, coding: string): boolean {
  return header.split(',').some((entry) => {
    const [name = '', ...parameters] = entry.toLowerCase().split(';');
    const isRefused = parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter));
    return name.trim() === coding && !isRefused;
  });
}

export interface ClientKey {
  /** Names the key in logs, session scopes and records; never the key itself. */
  readonly id: string;
  readonly key: string;
}

export interface EdgeSettings
  extends AccessSettings,
    Pick<
      ProxySettings,
      'host' | 'port' | 'tlsCert' | 'tlsKey' | 'maxBodyBytes' | 'takesWebSockets'
    >,
    Pick<ProxySettings, 'trustedProxies' | 'allowedHosts' | 'corsOrigins'> {
  readonly authMode: AuthMode;
  readonly apiKeys: readonly ClientKey[];
  /** How long `close()` still takes requests, so that whoever balances them learns to send no more. */
  readonly drainDelayMs: number;
  /** How long `close()` lets running answers go on. */
  readonly shutdownGraceMs: number;
  /** How long a stream's headers wait for its first event. */
  readonly headerHoldMs: number;
  /** Silence after which a stream gets a keep-alive. */
  readonly keepAliveMs: number;
  /** Limit of a unary request and of a stream's time to its first event. */
  readonly requestTimeoutMs: number;
}

export const DEFAULT_EDGE_SETTINGS: EdgeSettings = {
  ...DEFAULTS,
  authMode: 'auto',
  apiKeys: [],
  consolePassword: undefined,
  sessionIdleMs: DEFAULTS.console.sessionIdleMs,
  drainDelayMs: 0,
  shutdownGraceMs: 30_000,
  headerHoldMs: 10_000,
  keepAliveMs: 15_000,
  requestTimeoutMs: 300_000,
};

/** The logger of the edge; pino implements it, but for the lines of requests. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** The line of a request that ended: of one shape, as there are many. */
  request(level: 'debug' | 'info', line: RequestLine): void;
}

export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly client: string;
  readonly clientKeyId: string;
  /** A kind of error, such as `client-gone`. */
  readonly error: string | undefined;
  readonly passedOver: readonly object[] | undefined;
}

// What answers are written to.

/** Node's own response, or what stands for one on a WebSocket. */
export interface ClientResponse
  extends Writable,
    Pick<ServerResponse, 'req' | 'socket' | 'statusCode' | 'headersSent' | 'chunkedEncoding'> {
  writeHead(status: number, headers: string[]): unknown;
  writeContinue(): void;
  flushHeaders(): void;
}
