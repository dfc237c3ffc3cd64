// What becomes of a feature of a client on an upstream: told by the receipt, the refusal or the body that is sent.

import { isDeepStrictEqual } from 'node:util';
import { asGatewayError } from '../../../src/canonical/error.ts';
import { createReceipt, type ReceiptEntry } from '../../../src/canonical/receipt.ts';
import { choicesOf } from '../../../src/dispatch/call-setup.ts';
import { translateRequest } from '../../../src/dispatch/translate.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { createChatUpstream } from '../../../src/upstreams/chat/index.ts';
import {
  createCompatibleProfile,
  createOpenAiProfile,
} from '../../../src/upstreams/chat/profiles.ts';
import { createUpstream } from '../../../src/upstreams/index.ts';
import { createMessagesUpstream } from '../../../src/upstreams/messages/index.ts';
import { createAnthropicProfile } from '../../../src/upstreams/messages/profiles.ts';
import type { PatchTarget, Upstream } from '../../../src/upstreams/upstream.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { isGenerateCall, readCall } from '../request-case.ts';
import { type ClientName, type Feature, PLAIN } from './features.ts';

interface GridTarget {
  readonly upstream: Upstream;
  readonly modelId: string;
}

const clock = createFakeClock();

/** The columns: a profile of each wire and one of its newer models, and a Chat service of which nothing is known. */
export const GRID_TARGETS = {
  'gemini-api': {
    upstream: createUpstream({ profile: 'gemini-api' }, { clock }),
    modelId: 'gemini-3-flash-preview',
  },
  anthropic: {
    upstream: createMessagesUpstream({ profile: createAnthropicProfile(), clock }),
    modelId: 'claude-opus-4-6',
  },
  openai: {
    upstream: createChatUpstream({ profile: createOpenAiProfile(), clock }),
    modelId: 'gpt-5.1',
  },
  'openai-compatible': {
    upstream: createChatUpstream({
      profile: createCompatibleProfile({ baseUrl: 'http://127.0.0.1:1/v1' }),
      clock,
    }),
    modelId: 'some-model',
  },
} as const satisfies Readonly<Record<string, GridTarget>>;

export type GridTargetName = keyof typeof GRID_TARGETS;
// The keys of the object above are its names.
export const GRID_TARGET_NAMES = Object.keys(GRID_TARGETS) as GridTargetName[];

export async function closeGridTargets(): Promise<void> {
  for (const { upstream } of Object.values(GRID_TARGETS)) await upstream.close();
}

interface Refused {
  readonly kind: 'refused';
  readonly message: string;
}

interface Sent {
  readonly kind: 'sent';
  readonly lane: 'relay' | 'translate';
  /** One for each answer, where the model gives one a request. */
  readonly bodies: readonly JsonObject[];
  readonly entries: readonly ReceiptEntry[];
}

/** What is sent for the body of a client. */
function send(client: ClientName, body: JsonObject, target: GridTarget): Sent | Refused {
  const { upstream, modelId } = target;
  const receipt = createReceipt();
  const capabilities = upstream.capabilities(modelId, undefined);
  const patchTarget: PatchTarget = {
    modelId,
    capabilities,
    signatures: 'carried',
    usesPlaceholders: false,
    receipt,
    recall: { lookup: () => undefined },
    variant: { webSearch: false },
    thinkingMode: { kind: 'auto' },
  };
  try {
    const call = readCall({ path: PLAIN[client].path, body }, receipt);
    if (!isGenerateCall(call)) throw new Error(`${client} asks for no answer`);
    if (call.relay?.wire === upstream.wire) {
      const bodies = [upstream.patch(call.relay.body, patchTarget)];
      return { kind: 'sent', lane: 'relay', bodies, entries: receipt.entries };
    }
    const { request } = call;
    for (const { action, path, reason } of call.relay?.reading?.().losses ?? [])
      receipt.add(action, path, reason);
    const isApart = choicesOf(call) > 1 && !capabilities.severalAnswers;
    const requests = isApart
      ? Array.from({ length: request.choices }, () => ({ ...request, choices: 1 }))
      : [request];
    const bodies = requests.map((one) => translateRequest(one, upstream, patchTarget));
    return { kind: 'sent', lane: 'translate', bodies, entries: receipt.entries };
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.kind === 'internal') throw error.cause ?? error;
    return { kind: 'refused', message: error.message };
  }
}

export type Outcome = 'relayed' | 'carried' | 'gateway' | 'hint' | 'noted' | 'refused';

export interface Cell {
  readonly outcome: Outcome;
  /** What the receipt says of the feature. */
  readonly entries: readonly ReceiptEntry[];
  /** Why it is refused. */
  readonly message?: string;
  /** What is sent, for the golden: several where the model gives one answer a request. */
  readonly bodies: readonly JsonObject[];
}

/** Undefined for what the client has no words for. @throws Error for what vanishes without a word. */
export function findCell(
  feature: Feature,
  client: ClientName,
  targetName: GridTargetName,
): Cell | undefined {
  const asked = feature[client];
  if (asked === undefined) return undefined;
  const { says, beside, mark } = asked;
  const target = GRID_TARGETS[targetName];
  const plain = PLAIN[client].body;
  const whole = send(client, { ...plain, ...beside, ...says }, target);
  if (whole.kind === 'refused') return refusal(whole);
  const without = send(client, { ...plain, ...beside }, target);
  if (without.kind === 'refused') return refusal(without);
  const { bodies, lane } = whole;
  const entries = newEntries(whole, without);
  if (entries.length > 0) return { outcome: 'noted', entries, bodies };
  const isSent =
    !isDeepStrictEqual(bodies, without.bodies) &&
    (mark === undefined || JSON.stringify(bodies).includes(String(mark)));
  if (isSent) {
    const [body = {}] = bodies;
    const isAsItCame =
      lane === 'relay' &&
      Object.keys(says).every((field) => isDeepStrictEqual(body[field], says[field]));
    return { outcome: isAsItCame ? 'relayed' : 'carried', entries, bodies };
  }
  // It goes with what has to stand beside it.
  const bare = send(client, plain, target);
  const lost = bare.kind === 'sent' ? newEntries(without, bare).filter(isLoss) : [];
  if (lost.length > 0) return { outcome: 'noted', entries: lost, bodies };
  const { title, unsent } = feature;
  if (unsent === undefined) {
    throw new Error(`${title} of ${client} vanishes on ${targetName} without a word.`);
  }
  return { outcome: unsent, entries, bodies };
}

function refusal({ message }: Refused): Cell {
  return { outcome: 'refused', entries: [], message, bodies: [] };
}

function newEntries(one: Sent, other: Sent): readonly ReceiptEntry[] {
  return one.entries.filter(
    (entry) => !other.entries.some((known) => isDeepStrictEqual(known, entry)),
  );
}

function isLoss({ action }: ReceiptEntry): boolean {
  return action === 'dropped';
}
