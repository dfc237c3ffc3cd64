// The interface of an endpoint beside the models', such as an MCP server, as the edge runs it.

import type { JsonObject } from '../lib/json.ts';
import type { HeaderMap } from './settings.ts';

export interface ServiceRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Without a placeholder. */
  readonly path: string;
  /** What it does, in a few words. */
  readonly title: string;
  /** Of these a key limited to models needs one; each POST counts as a request. Absent: only model calls count. */
  readonly modelName?: string | undefined;
  /** True where an answer has no end of its own: it ends with the gateway, and nobody asks for its head alone. */
  readonly isEndless?: boolean;
  /** @throws GatewayError to answer with its status. */
  run(input: ServiceInput): Promise<ServiceAnswer>;
}

export interface ServiceInput {
  readonly headers: HeaderMap;
  readonly query: URLSearchParams;
  readonly clientKeyId: string;
  /** Aborted when the client leaves, a limit passes or the gateway stops. */
  readonly signal: AbortSignal;
  /** The JSON text as it came. @throws GatewayError as for other bodies */
  readBytes(): Promise<Buffer>;
  /** @throws GatewayError as for other bodies */
  readJson(): Promise<JsonObject>;
  /** Asks one upstream on behalf of the client, within its limits and recorded; once at most. @throws GatewayError */
  ask(body: JsonObject, upstreamId: string): Promise<JsonObject>;
}

export interface ServiceAnswer {
  readonly status: number;
  /** Names and values alternating. */
  readonly headers: readonly string[];
  /** Absent for none; what it throws cuts the answer off, so that its reader knows that it is not whole. */
  readonly body?: AsyncIterable<string> | Iterable<string> | undefined;
}
