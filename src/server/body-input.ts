// What the readers of a body are told of the exchange it comes with.

import type { Edge, Exchange } from './edge.ts';
import type { BodyInput } from './gates/body.ts';

export function bodyInput(edge: Edge, exchange: Exchange): BodyInput {
  const { request, response, settings } = exchange;
  return {
    request,
    response,
    maxBytes: settings.maxBodyBytes,
    clock: edge.clock,
    room: {
      check: (size) => edge.bodies.check(exchange, size),
      take: (size) => edge.bodies.take(exchange, size),
    },
  };
}
