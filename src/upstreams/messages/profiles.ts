// What a profile says: how to reach one upstream that speaks the Messages wire.

import type { ModelCapabilities } from '../../canonical/model.ts';
import type { Optional } from '../../lib/json.ts';
import { realModelName } from '../../wire/vocabulary.ts';
import { trimBaseUrl, userAgentOf } from '../wire-parts.ts';

export interface MessagesProfile {
  readonly id: string;
  /** Without a slash or a version at the end. */
  readonly baseUrl: string;
  readonly userAgent: string;
  /** How an API key travels; access tokens are always Bearer. */
  readonly auth: 'x-api-key' | 'bearer';
  /** Flags that are sent with every request, beside those of the client. */
  readonly betas: readonly string[];
  /** Which upstreams accept each other's signatures: all of one family do. */
  readonly signatureFamily: string;
  /** Whether it reads the billing line of a coding client, and caches the prompt as if it were not there. */
  readonly readsBillingLine: boolean;
  /** Whether it keeps conversations; one that reads past `thread` would answer the last turn alone. */
  readonly keepsThreads: boolean;
  /** What this upstream does differently from the built-in model data. */
  readonly capabilityOverrides: Partial<ModelCapabilities>;
  /** The spellings under which the upstream may know a model, best first; never empty. */
  modelIds(name: string): readonly string[];
}

interface MessagesProfileOptions {
  readonly id: string;
  readonly baseUrl: string;
  readonly auth: MessagesProfile['auth'];
  /** Of this gateway, for the user agent. */
  readonly version: string;
  readonly betas: readonly string[];
  readonly capabilityOverrides: Partial<ModelCapabilities>;
}

const PUBLIC_BASE_URL = 'https://api.anthropic.com';
/** Below the base URL. */
export const VERSION_PATH = '/v1';

/** The public Messages API. */
export function createAnthropicProfile(
  options: Optional<MessagesProfileOptions> = {},
): MessagesProfile {
  const { id = 'anthropic', baseUrl = PUBLIC_BASE_URL } = options;
  return {
    ...createMessagesProfile({ ...options, id, baseUrl }),
    // Signatures are the service's own, whatever the operator calls the way to it.
    signatureFamily: 'anthropic',
    readsBillingLine: true,
    keepsThreads: true,
  };
}

/** Any service that speaks the wire. */
export function createMessagesProfile({
  id = 'messages',
  baseUrl,
  auth = 'x-api-key',
  version,
  betas = [],
  capabilityOverrides = {},
}: Optional<MessagesProfileOptions> & { readonly baseUrl: string }): MessagesProfile {
  return {
    id,
    baseUrl: trimBaseUrl(baseUrl, VERSION_PATH),
    userAgent: userAgentOf(version),
    auth,
    betas,
    signatureFamily: id,
    readsBillingLine: false,
    keepsThreads: false,
    capabilityOverrides,
    modelIds: (name) => [...new Set([realModelName(name), name])],
  };
}
