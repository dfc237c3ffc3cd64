// Asks one model of an upstream for the shortest answer there is, to see that it gives one.

import { createReceipt } from '../canonical/receipt.ts';
import { createId } from '../lib/ids.ts';
import type { AccountAccess, Upstream, UpstreamModel } from './upstream.ts';

const PROMPT = 'Say OK.';

/**
 * The model asked is a small one of the account's own list. Costs a token or two.
 * @returns the id of the model
 * @throws GatewayError with `failure` set; undefined when the list has no model that answers
 */
export async function answerOnce(
  upstream: Upstream,
  access: AccountAccess,
  { models, signal }: { readonly models: readonly UpstreamModel[]; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const model = pickSmallModel(models);
  if (model === undefined) return undefined;
  const { id: modelId } = model;
  const capabilities = upstream.capabilities(modelId, model);
  const body = upstream.encode(
    {
      ...{ system: [], tools: [], stopSequences: [], safety: [], choices: 1, sampling: {} },
      turns: [{ role: 'user', parts: [{ kind: 'text', text: PROMPT }] }],
      toolChoice: { kind: 'auto', names: [] },
      reasoning: { amount: { kind: 'unset' } },
      outputFormat: { kind: 'text' },
      maxOutputTokens: 1,
    },
    { modelId, capabilities, receipt: createReceipt(), signatures: 'carried', standsIn: false },
  );
  const frames = await upstream.open({ modelId, body, stream: false, access, signal });
  const decoder = upstream.createDecoder({
    ...{ body, access, createId },
    signatureFamily: capabilities.signatureFamily,
  });
  for await (const batch of frames) {
    for (const { value } of batch) {
      const failed = decoder.push(value).find((event) => event.kind === 'error');
      if (failed !== undefined) throw failed.error;
    }
  }
  return modelId;
}

/** Pictures cost more than a token. */
function pickSmallModel(models: readonly UpstreamModel[]): UpstreamModel | undefined {
  const answering = models.filter(
    ({ id, tasks }) =>
      tasks?.includes('generate') !== false && !/image|embed|imagen|veo|tts|audio|live/i.test(id),
  );
  const sizes = [/flash-?lite|mini|nano|haiku/i, /flash|small/i, /./];
  return sizes
    .map((size) => answering.find(({ id }) => size.test(id)))
    .find((model) => model !== undefined);
}
