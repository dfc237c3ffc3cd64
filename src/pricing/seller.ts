// Who is paid for what an upstream serves, by how it is configured.

import { isLoopbackHost } from '../lib/net.ts';
import type { Provider, Seller } from './prices.ts';

interface SellerSource {
  readonly id: string;
  readonly profile: string;
  readonly baseUrl?: string | undefined;
  /** The service or server an `openai-compatible` upstream is. */
  readonly quirks?: string | undefined;
}

/** Profiles that are the provider's own service. */
const PROFILE_PROVIDERS: Readonly<Record<string, Provider>> = {
  'gemini-api': 'google',
  vertex: 'google',
  anthropic: 'anthropic',
  openai: 'openai',
};

const SERVICE_PROVIDERS: Readonly<Record<string, Provider>> = {
  groq: 'groq',
  mistral: 'mistral',
  deepseek: 'deepseek',
  xai: 'xai',
};

const HOST_PROVIDERS: Readonly<Record<string, Provider>> = {
  'generativelanguage.googleapis.com': 'google',
  'api.anthropic.com': 'anthropic',
  'api.openai.com': 'openai',
  'api.deepseek.com': 'deepseek',
  'api.x.ai': 'xai',
  'api.mistral.ai': 'mistral',
  'api.groq.com': 'groq',
};

/** Servers that people run themselves, also on another machine. */
const SERVERS = ['vllm', 'llama.cpp', 'llama-cpp-python', 'lm-studio', 'ollama', 'sandbox'];

/** Whose price list counts: that of the address, of the service, else of the profile where it has its own address. */
export function sellerOf({ id, profile, baseUrl, quirks = '' }: SellerSource): Seller {
  const host = baseUrl === undefined ? undefined : hostOf(baseUrl);
  const isLocal =
    SERVERS.includes(quirks) ||
    SERVERS.includes(profile) ||
    (profile === 'openai-compatible' && host !== undefined && isLoopbackHost(host));
  if (isLocal) return { upstreamId: id, isLocal };
  const named = SERVICE_PROVIDERS[quirks] ?? PROFILE_PROVIDERS[profile];
  return { upstreamId: id, provider: HOST_PROVIDERS[host ?? ''] ?? named };
}

function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname : undefined;
}
