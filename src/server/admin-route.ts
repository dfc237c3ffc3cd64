// A route of the admin API as the edge sees it: JSON in, JSON out, behind the console credential.

import type { JsonObject } from '../lib/json.ts';

export interface AdminRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** @throws GatewayError to answer with its status. */
  run(input: AdminInput): Promise<JsonObject>;
}

export interface AdminInput {
  /** Empty for a GET. */
  readonly body: JsonObject;
  readonly query: URLSearchParams;
  readonly requestId: string;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}
