// The telemetry of the gateway where it is configured; nothing of it is loaded where it is not.

import { randomUUID } from 'node:crypto';
import type { AccountBook } from '../accounts/account-book.ts';
import type { Settings } from '../config/effective.ts';
import type { UpstreamProfile } from '../config/values.ts';
import type { Clock } from '../lib/clock.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import type { Destination } from '../telemetry/model-operation.ts';
import type { UpstreamDirectory } from '../upstreams/directory.ts';

export interface OpenTelemetryOptions {
  readonly settings: () => Pick<Settings, 'telemetry' | 'upstreams'>;
  readonly book: Pick<AccountBook, 'find'>;
  readonly upstreams: Pick<UpstreamDirectory, 'get'>;
  readonly accountKey: Uint8Array;
  readonly version: string;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * `gen_ai.provider.name`, with the well-known values where there are any:
 * github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md
 */
const PROVIDERS: Readonly<Record<UpstreamProfile, string>> = {
  'gemini-api': 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  generic: 'gcp.gen_ai',
  sandbox: 'isthmus.sandbox',
};

/** Undefined without `OTEL_EXPORTER_OTLP_ENDPOINT`. The caller closes it. */
export async function openTelemetry(options: OpenTelemetryOptions): Promise<Telemetry | undefined> {
  const { settings, accountKey, version, clock, log } = options;
  const { telemetry } = settings();
  if (telemetry === undefined) return undefined;
  const { createTelemetry } = await import('../telemetry/create-telemetry.ts');
  return createTelemetry({
    ...telemetry,
    accountKey,
    version,
    clock,
    log,
    instanceId: randomUUID(),
    destinationOf: (accountId) => findDestination(accountId, options),
  });
}

function findDestination(
  accountId: string,
  { settings, book, upstreams }: OpenTelemetryOptions,
): Destination | undefined {
  const upstreamId = book.find(accountId)?.record.upstreamId;
  if (upstreamId === undefined) return undefined;
  // What no settings name is the embedded sandbox.
  const profile = settings().upstreams.find(({ id }) => id === upstreamId)?.profile ?? 'sandbox';
  const baseUrl = upstreams.get(upstreamId)?.baseUrl;
  return { provider: PROVIDERS[profile], ...readAddress(baseUrl) };
}

function readAddress(baseUrl: string | undefined): Pick<Destination, 'address' | 'port'> {
  if (baseUrl === undefined || !URL.canParse(baseUrl))
    return { address: undefined, port: undefined };
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  return { address: hostname, port: port === '' ? usual : Number(port) };
}
