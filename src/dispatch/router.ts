// What dispatch asks of routing: where a requested model name goes.

import type { ModelVariant } from '../canonical/model.ts';

export interface RoutedModel extends ModelVariant {
  /** The name the pool is asked for. */
  readonly target: string;
}

export interface ModelRouter {
  /** @throws GatewayError (not-found, invalid-request) */
  route(name: string): RoutedModel;
}
