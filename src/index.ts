// The package as a library. Old versions of node have to understand this file, so that it can tell them apart.

import type { createGateway as declared } from './public-types.ts';

export type { Gateway, GatewayOptions, GatewayRequestInit } from './public-types.ts';

export const createGateway: typeof declared = async (options) => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 24 || (major === 24 && minor < 7)) {
    throw new Error(`isthmus needs node 24.7 or newer, and this is ${process.version}.`);
  }
  const { openEmbedded } = await import('./embedded-gateway.ts');
  return openEmbedded(options);
};
