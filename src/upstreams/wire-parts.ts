// What the upstreams of all wires have in common: a client, capabilities that are worked out once, how they end.

import type { ModelCapabilities } from '../canonical/model.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { mendText } from '../canonical/text-forms.ts';
import type { JsonObject } from '../lib/json.ts';
import { cutLongTexts, writeParts } from '../lib/json-parts.ts';
import { remember } from '../lib/once.ts';
import { type ClientOptions, UpstreamClient, type WireRules } from './transport/client.ts';
import type { Upstream, UpstreamModel } from './upstream.ts';

export interface WireOptions<Profile>
  extends Omit<ClientOptions, 'wire' | 'baseUrl' | 'userAgent'> {
  readonly profile: Profile;
}

/** An upstream that knows how many of its calls are under way; its owner closes it. */
export interface OwnedUpstream extends Upstream {
  /** How many requests are sent and not answered to their end. */
  callsUnderWay(): number;
}

interface ReachedBy {
  readonly id: string;
  readonly baseUrl: string;
  readonly userAgent: string;
}

/** Who we say we are: our own name and version, never another client's. */
export function userAgentOf(version: string | undefined): string {
  return version === undefined ? 'isthmus' : `isthmus/${version}`;
}

/** A configured address without what callers add themselves: trailing slashes and the version. */
export function trimBaseUrl(baseUrl: string, versionPath = '/'): string {
  const url = baseUrl.replace(/\/+$/, '');
  return url.endsWith(versionPath) ? url.slice(0, -versionPath.length) : url;
}

/** Clients name models, so what is remembered of their names is bounded. */
const MAX_NAMES = 1000;

/** `close` of the common part ends the connections at once: answers under way must have been drained before. */
export function createWireParts<Profile extends ReachedBy>(
  { profile, clock, limits, answerRoom, proxyFor }: WireOptions<Profile>,
  {
    rules,
    modelIds,
    capabilitiesOf,
  }: {
    readonly rules: WireRules;
    /** The spellings under which the upstream may know a model, best first; never empty. */
    readonly modelIds: (name: string) => readonly string[];
    readonly capabilitiesOf: (
      profile: Profile,
      modelId: string,
      listed?: UpstreamModel,
    ) => ModelCapabilities;
  },
) {
  const { id, baseUrl, userAgent } = profile;
  const client = new UpstreamClient({
    ...{ wire: rules, baseUrl, userAgent, clock, limits, answerRoom, proxyFor },
  });
  const builtIn = remember(MAX_NAMES, (modelId: string) => capabilitiesOf(profile, modelId));
  const listedOnes = new WeakMap<UpstreamModel, ModelCapabilities>();
  return {
    client,
    /** Without what a list says. */
    builtIn,
    common: {
      id,
      baseUrl,
      modelIds: remember(MAX_NAMES, modelIds),
      capabilities(modelId: string, listed: UpstreamModel | undefined): ModelCapabilities {
        if (listed === undefined) return builtIn(modelId);
        const found = listedOnes.get(listed) ?? capabilitiesOf(profile, modelId, listed);
        listedOnes.set(listed, found);
        return found;
      },
      callsUnderWay: () => client.underWay,
      close: () => client.close(),
    },
  };
}

/** Bytes, so that the text is encoded once. What no UTF-8 can say is mended, and noted in the receipt. */
export function encodeJson(
  body: JsonObject,
  receipt: Receipt | undefined,
  isLarge: boolean,
): Buffer | Promise<Buffer> {
  if (!isLarge) return Buffer.from(mendText(JSON.stringify(body), receipt));
  return writeParts(cutLongTexts(body, (json) => mendText(json, receipt)));
}
