// Names of providers that routing clients put before the name of a model: `openai/gpt-4o`.

/** As LiteLLM, OpenRouter and the clients of both write them, and resource paths of the vendor's own. */
const PROVIDER =
  /^(?:anthropic|azure|gemini|google|litellm_proxy|openai|openrouter|vendora|vendorb|vertex_ai|publishers\/google\/models)\/(?=.)/i;

/** The name without its first provider; undefined when it has none. */
export function withoutProvider(name: string): string | undefined {
  const prefix = PROVIDER.exec(name)?.[0];
  return prefix === undefined ? undefined : name.slice(prefix.length);
}
