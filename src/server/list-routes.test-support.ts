// The route table as text, for golden files.

import type { RouteTable } from './routes.ts';

/** Sorted lines `METHOD path access protocol:operation …`. */
export function listRoutes(table: RouteTable): readonly string[] {
  return table.routes
    .map((route) => {
      const offers =
        route.kind === 'protocol'
          ? route.offers.map((offer) => `${offer.protocol.name}:${offer.route.operation}`)
          : [route.kind];
      return [route.method, route.path, route.access, ...offers].join(' ');
    })
    .sort();
}
