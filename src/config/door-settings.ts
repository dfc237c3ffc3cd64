// The settings of the address filter and the console, with their defaults filled in.

import { CONSOLE_SCHEMA, IP_FILTER_SCHEMA } from './door-schema.ts';
import type { ConfigFile } from './schema.ts';

export interface AddressFilterSettings {
  readonly enabled: boolean;
  /** What becomes of an address that no rule covers. */
  readonly fallback: 'allow' | 'deny';
  readonly allowBeatsDeny: boolean;
}

export interface ConsoleSettings {
  readonly sessionIdleMs: number;
  /** Whether the start prints a one-time sign-in link. */
  readonly hasSignInLink: boolean;
}

type Sections = NonNullable<ConfigFile['proxy']>;

const FILTER = IP_FILTER_SCHEMA.properties;
const CONSOLE = CONSOLE_SCHEMA.properties;
const HOUR_MS = 3_600_000;

export function readAddressFilterSettings(
  section: Sections['ip_filter'] = {},
): AddressFilterSettings {
  return {
    enabled: section.enabled ?? FILTER.enabled.default,
    fallback: section.default ?? FILTER.default.default,
    allowBeatsDeny: section.allow_beats_deny ?? FILTER.allow_beats_deny.default,
  };
}

export function readConsoleSettings(section: Sections['console'] = {}): ConsoleSettings {
  return {
    sessionIdleMs: (section.session_idle_hours ?? CONSOLE.session_idle_hours.default) * HOUR_MS,
    hasSignInLink: section.sign_in_link ?? CONSOLE.sign_in_link.default,
  };
}
