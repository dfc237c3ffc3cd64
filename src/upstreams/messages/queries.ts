// Asks a Messages upstream what is no answer of a model: token counts and the model list.

import type { UpstreamModel } from '../../canonical/model.ts';
import type { Modality } from '../../canonical/request.ts';
import { readTokenCount } from '../../canonical/usage.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { flagOf, limitOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { isMissingCall, isMissingList, pathFault } from '../errors.ts';
import { ModelMemory } from '../refusals.ts';
import type { UpstreamClient } from '../transport/client.ts';
import type { AccountAccess, TokenCount, UpstreamCall } from '../upstream.ts';
import type { MessagesProfile } from './profiles.ts';
import { getRequest, postRequest } from './requests.ts';

/** Whom to ask. */
interface Asked {
  readonly client: Pick<UpstreamClient, 'readObject'>;
  readonly profile: MessagesProfile;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Fields of a request that bear on its count, the only ones taken (Messages API, "Token counting"). */
const COUNTED_FIELDS = [
  ...(['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking'] as const),
  ...([
    'output_config',
    'output_format',
    'cache_control',
    'context_management',
    'mcp_servers',
  ] as const),
];

/** Undefined where an upstream has no such call. The counter throws GatewayError with `failure` set. */
export function createTokenCounter({ client, profile, clock }: Asked) {
  /** Of these models nobody asks again for a while. */
  const isUncounted = new ModelMemory<true>(clock);
  return async (call: Omit<UpstreamCall, 'stream'>): Promise<TokenCount | undefined> => {
    if (isUncounted.find(call.modelId)) return undefined;
    const body = countedFields(call.body);
    let answer: JsonObject;
    try {
      const request = postRequest(profile, '/messages/count_tokens', { ...call, body });
      answer = await client.readObject(request);
    } catch (error) {
      if (!isMissingCall(error)) throw error;
      isUncounted.learn(call.modelId, true);
      return undefined;
    }
    const total = readTokenCount(answer.input_tokens);
    if (total !== undefined) return { total, answer };
    throw pathFault(told`The upstream gave no token count.`);
  };
}

function countedFields(body: JsonObject): JsonObject {
  const counted: JsonObject = {};
  for (const field of COUNTED_FIELDS) {
    const value = body[field];
    if (value !== undefined) counted[field] = value;
  }
  return counted;
}

/** Far above any real list; a list that goes on for longer goes round in circles. */
const MAX_PAGES = 50;
const PAGE_SIZE = 1000;

/** The models an account may use, each once; none where there is no such list. @throws GatewayError with `failure` set. */
export async function listModels(
  { client, profile }: Pick<Asked, 'client' | 'profile'>,
  access: AccountAccess,
  signal: AbortSignal,
): Promise<readonly UpstreamModel[]> {
  const models = new Map<string, UpstreamModel>();
  let after: string | undefined;
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (after !== undefined) query.set('after_id', after);
      const answer = await client.readObject(
        getRequest(profile, `/models?${query}`, { access, signal }),
      );
      const items = objectsOf(answer.data);
      for (const item of items) {
        const model = readModel(item);
        if (model !== undefined) models.set(model.id, model);
      }
      const last = textOf(answer.last_id) ?? textOf(items.at(-1)?.id);
      if (answer.has_more !== true || last === undefined || last === after) break;
      after = last;
    }
  } catch (error) {
    if (isMissingList(error)) return [];
    throw error;
  }
  return [...models.values()];
}

/** Undefined for what has no id, and for models that answer no longer. */
function readModel(item: JsonObject): UpstreamModel | undefined {
  const id = textOf(item.id);
  if (id === undefined || item.lifecycle === 'retired') return undefined;
  const capabilities = objectOf(item.capabilities);
  const refusesMedia: Modality[] = [];
  if (objectOf(capabilities?.image_input)?.supported === false) refusesMedia.push('image');
  if (objectOf(capabilities?.pdf_input)?.supported === false) refusesMedia.push('document');
  return {
    id,
    displayName: textOf(item.display_name),
    inputTokenLimit: limitOf(item.max_input_tokens),
    outputTokenLimit: limitOf(item.max_tokens),
    supportsThinking: flagOf(objectOf(capabilities?.thinking)?.supported),
    refusesMedia: refusesMedia.length === 0 ? undefined : refusesMedia,
    tasks: ['generate'],
  };
}
