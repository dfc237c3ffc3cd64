// The profiles of upstreams: in the order in which people look for theirs, with the settings that each takes.

import type { QuirkPreset, UpstreamProfile } from '../../../../src/admin/contract.ts';

export type Profile = UpstreamProfile;

export const PROFILES = [
  ...(['anthropic', 'openai', 'openai-compatible', 'messages'] as const),
  ...(['gemini-api', 'vertex', 'generic', 'sandbox'] as const),
] as const satisfies readonly Profile[];

export const isProfile = (text: string): text is Profile => PROFILES.some((one) => one === text);

/** Settings that some profiles alone have. */
const OWN_FIELDS = {
  vocabulary: ['generic'],
  auth: ['generic', 'messages', 'openai-compatible'],
  quota_path: ['generic'],
  location: ['vertex'],
  quirks: ['openai-compatible'],
  key_header: ['openai-compatible'],
  headers: ['openai', 'openai-compatible'],
  query: ['openai-compatible'],
  paths: ['openai-compatible'],
  endpoints: ['openai', 'openai-compatible'],
  ends_with: ['openai-compatible'],
  extra_body: ['openai-compatible'],
} as const satisfies Readonly<Record<string, readonly Profile[]>>;

export type OwnField = keyof typeof OWN_FIELDS;

export function hasField(profile: string, field: OwnField): boolean {
  return OWN_FIELDS[field].some((one) => one === profile);
}

/** Whether its address must be said. */
export const needsAddress = (profile: string): boolean =>
  profile === 'generic' || profile === 'messages' || profile === 'openai-compatible';

/** Whether people sign in to accounts of it with a client of the operator's. */
export const takesSignIn = (profile: string): boolean =>
  profile !== 'anthropic' && profile !== 'openai';

/** How a key may travel, the usual way first. */
export function authWays(profile: string): readonly string[] {
  return profile === 'messages' ? ['header', 'bearer'] : ['bearer', 'header', 'query'];
}

/** The services and servers that are known, with the usual address of each. */
export const PRESET_ADDRESSES = {
  openrouter: 'https://openrouter.ai/api/v1',
  litellm: 'http://127.0.0.1:4000/v1',
  groq: 'https://api.groq.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com/v1',
  moonshot: 'https://api.moonshot.ai/v1',
  zai: 'https://api.z.ai/api/paas/v4',
  minimax: 'https://api.minimax.io/v1',
  qwen: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  xai: 'https://api.x.ai/v1',
  ollama: 'http://127.0.0.1:11434/v1',
  'lm-studio': 'http://127.0.0.1:1234/v1',
  'llama.cpp': 'http://127.0.0.1:8080/v1',
  'llama-cpp-python': 'http://127.0.0.1:8000/v1',
  vllm: 'http://127.0.0.1:8000/v1',
} as const satisfies Readonly<Record<QuirkPreset, string>>;

/** '' for what is no preset. */
export function presetAddress(quirks: string | null): string {
  return Object.entries(PRESET_ADDRESSES).find(([name]) => name === quirks)?.[1] ?? '';
}
