// What the built server has of undici. It speaks HTTP/1.1 alone, so that HTTP/2 is left out (`server.vite.config.mjs`).
import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';

// As undici's own index does; its agents call one another so.
Object.assign(Dispatcher.prototype, api);

/** Loaded when it is asked for, which is rare: calls through a proxy that are no model calls. */
export async function fetch(url, options) {
  const { default: web } = await import('undici/lib/web/fetch/index.js');
  return web.fetch(url, options);
}
