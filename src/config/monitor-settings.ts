// The settings of the monitor, with their defaults filled in.

import { MONITOR_SCHEMA } from './monitor-schema.ts';
import type { ConfigFile } from './schema.ts';

export interface MonitorSettings {
  readonly enabled: boolean;
  readonly keepsBodies: boolean;
  readonly retentionMs: number;
  readonly maxBytes: number;
}

type Sections = NonNullable<ConfigFile['proxy']>;

const MONITOR = MONITOR_SCHEMA.properties;
const DAY_MS = 86_400_000;

export function readMonitorSettings(section: Sections['monitor'] = {}): MonitorSettings {
  return {
    enabled: section.enabled ?? MONITOR.enabled.default,
    keepsBodies: section.bodies ?? MONITOR.bodies.default,
    retentionMs: (section.retention_days ?? MONITOR.retention_days.default) * DAY_MS,
    maxBytes: section.max_bytes ?? MONITOR.max_bytes.default,
  };
}
