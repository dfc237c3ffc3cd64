// What dispatch asks of routing: where a requested model name goes.

import type { ModelVariant } from '../canonical/model.ts';

export interface RoutedModel extends ModelVariant {
  /** The name the pool is asked for. */
  readonly target: string;
}

export interface ModelRouter {
  /**
   * @param account the account the client asks for by name
   * @throws GatewayError (not-found, invalid-request)
   */
  route(name: string, account?: string): RoutedModel;
}
