// What LiteLLM's proxy says in its own way, on every wire it serves: of itself, and of the services behind it.

import type { UpstreamFailureKind } from '../canonical/error.ts';
import type { UpstreamRefusal } from './errors.ts';

interface Said {
  readonly status: number;
  readonly message: string;
  /** The word of the wire for it. */
  readonly type: string | undefined;
}

/** "litellm.AuthenticationError: AnthropicException - …": a service behind it said no. */
const OF_SERVICE = /^litellm\.\w+(?:Error|Exception)\b/;

/** Undefined where the words are not LiteLLM's, or mean what they mean elsewhere. */
export function litellmFailure({ status, message, type }: Said): UpstreamFailureKind | undefined {
  // Without a database every key but the master key gets this.
  if (type === 'no_db_connection') return 'unauthenticated';
  if (!OF_SERVICE.test(message)) return undefined;
  // The key it has for that model is refused, not the one it was asked with.
  if (status === 401 || status === 403) return 'model-forbidden';
  return status >= 500 && /overloaded_error/.test(message) ? 'overloaded' : undefined;
}

const PREFIX = 'llm_provider-';

/** The headers with those of the service behind it, which stand there under longer names. */
export function withServiceHeaders(
  headers: UpstreamRefusal['headers'],
): UpstreamRefusal['headers'] {
  const passed = Object.entries(headers).filter(([name]) => name.startsWith(PREFIX));
  if (passed.length === 0) return headers;
  const plain = passed.map(([name, value]) => [name.slice(PREFIX.length), value]);
  return { ...Object.fromEntries(plain), ...headers };
}
