// Where traces and metrics of the gateway go, with the defaults filled in.

import type { Environment } from './env.ts';
import type { TraceSampler } from './values.ts';

export interface TelemetrySettings {
  /** The address below which `/v1/traces` and `/v1/metrics` are. */
  readonly endpoint: string;
  /** May hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: TraceSampler;
  /** The part of all traces that a sampler by ratio keeps, 0 to 1. */
  readonly samplerRatio: number;
}

/** Undefined without an endpoint: the other variables then say nothing. */
export function readTelemetrySettings(environment: Environment): TelemetrySettings | undefined {
  const { otlpEndpoint, otelResourceAttributes: resourceAttributes = {} } = environment;
  if (otlpEndpoint === undefined) return undefined;
  return {
    endpoint: otlpEndpoint,
    headers: environment.otlpHeaders ?? {},
    serviceName: environment.otelServiceName ?? resourceAttributes['service.name'] ?? 'isthmus',
    resourceAttributes,
    sampler: environment.otelTracesSampler ?? 'parentbased_always_on',
    samplerRatio: environment.otelTracesSamplerArg ?? 1,
  };
}
