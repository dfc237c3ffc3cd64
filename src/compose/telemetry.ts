// Opens OpenTelemetry where an endpoint is configured; its code is loaded only then.

import { randomUUID } from 'node:crypto';
import type { AccountBook } from '../accounts/account-book.ts';
import type { Settings } from '../config/effective.ts';
import type { UpstreamProfile } from '../config/values.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { UpstreamDirectory } from '../upstreams/directory.ts';
import type { GatewayContext } from './foundation.ts';

interface OpenTelemetryOptions extends Pick<GatewayContext, 'version' | 'clock'> {
  readonly log: Pick<GatewayContext['log'], 'warn'>;
  readonly settings: () => Pick<Settings, 'telemetry' | 'upstreams'>;
  readonly book: Pick<AccountBook, 'find'>;
  readonly upstreams: Pick<UpstreamDirectory, 'get'>;
  readonly accountKey: Uint8Array;
  readonly proxyFor: ProxyChoice;
}

/**
 * `gen_ai.provider.name`, with the well-known values where there are any:
 * github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md
 */
const PROVIDERS: Readonly<Record<UpstreamProfile, string>> = {
  anthropic: 'anthropic',
  messages: 'anthropic',
  openai: 'openai',
  'openai-compatible': 'openai',
  'gemini-api': 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  generic: 'gcp.gen_ai',
  sandbox: 'isthmus.sandbox',
};

/** Undefined without `OTEL_EXPORTER_OTLP_ENDPOINT`. The caller closes it. */
export async function openTelemetry(options: OpenTelemetryOptions): Promise<Telemetry | undefined> {
  const { settings, book, upstreams, accountKey, proxyFor, version, clock, log } = options;
  const { telemetry } = settings();
  if (telemetry === undefined) return undefined;
  // The environment named the collector when the process started, and so the way there.
  const proxy = proxyFor(telemetry.endpoint);
  if (proxy?.url.startsWith('socks5:')) {
    log.warn(
      { source: proxy.source },
      'Traces and metrics are not sent: they cannot go through a SOCKS5 proxy. Name an HTTP proxy, or the collector in NO_PROXY.',
    );
    return undefined;
  }
  const { createTelemetry } = await import('../telemetry/telemetry.ts');
  return createTelemetry({
    ...{ ...telemetry, accountKey, version, clock, log },
    proxyUrl: proxy?.url,
    instanceId: randomUUID(),
    destinationOf(accountId) {
      const upstreamId = book.find(accountId)?.record.upstreamId;
      if (upstreamId === undefined) return undefined;
      // What no settings name is the embedded sandbox.
      const named = settings().upstreams.find(({ id }) => id === upstreamId);
      const url = URL.parse(upstreams.get(upstreamId)?.baseUrl ?? '');
      const usual = url?.protocol === 'https:' ? 443 : 80;
      return {
        provider: PROVIDERS[named?.profile ?? 'sandbox'],
        address: url?.hostname,
        port: url === null ? undefined : Number(url.port) || usual,
      };
    },
  });
}
