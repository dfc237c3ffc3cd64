// How a signature travels through a client: one opaque text that names its family and its part.

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, tryParse } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { TextDigest } from '../lib/long-text.ts';
import { once } from '../lib/once.ts';
import { objectOf } from '../lib/read-values.ts';
import { readCallInput } from './event.ts';
import type {
  Part,
  ServerToolHistory,
  Signature,
  Tool,
  ToolResultContent,
  Turn,
} from './request.ts';

const PREFIX = 'gw1';
/** The kinds of parts that carry signatures. */
export const SIGNED_PARTS = ['thinking', 'text', 'tool-call', 'media'] as const;

/** The documented stand-in for calls that never had a signature (ai.google.dev, "Thought signatures"). */
export const SIGNATURE_SENTINEL = 'skip_thought_signature_validator';

/** Values documented as stand-ins for a signature that never existed; never real signatures. */
const SENTINELS = new Set(
  [SIGNATURE_SENTINEL, 'context_engineering_is_the_way_to_go'].flatMap((word) => [
    word,
    btoa(word),
  ]),
);

/** The text a client is given: `gw1:<family>:<part>:<value>`. */
export function writeCarrier(signature: Signature): string {
  return `${PREFIX}:${signature.family ?? ''}:${signature.on ?? ''}:${signature.value}`;
}

const CARRIER_START = `${PREFIX}:`;
/** The base64 of `gw1` and of the first six bits of the colon. */
const WRAPPED_CARRIER_START = 'Z3cxO';

/** The same for a field of bytes: SDKs that decode the field need valid base64. */
export function wrapCarrier(signature: Signature): string {
  return Buffer.from(writeCarrier(signature), 'utf8').toString('base64');
}

/** A carrier that stands in a field of bytes, as itself; any other text as it is. */
export function unwrapCarrier(text: string): string {
  if (!text.startsWith(WRAPPED_CARRIER_START)) return text;
  const carrier = Buffer.from(text, 'base64').toString('utf8');
  return carrier.startsWith(CARRIER_START) ? carrier : text;
}

/** True for a text that a gateway wrote, in either form: of a signature from upstream, one that stands behind this one. */
export function isCarrier(text: string): boolean {
  return unwrapCarrier(text).startsWith(CARRIER_START);
}

/** Upstreams keep signatures in a field of bytes: anything else refuses the whole request. */
export function isSignatureValue(text: string): boolean {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

/**
 * The signature in a text a client handed back. A bare value (not issued by this gateway, or issued
 * by the upstream directly) has neither family nor part; stand-ins, '' and a bare value that
 * cannot be one give undefined, so that what was remembered counts.
 */
export function readCarrier(text: string | undefined | null): Signature | undefined {
  if (text === undefined || text === null || text === '' || SENTINELS.has(text)) return undefined;
  const [prefix, family, on, ...rest] = text.split(':');
  if (prefix !== PREFIX || family === undefined || on === undefined) {
    return isSignatureValue(text) ? { value: text } : undefined;
  }
  const value = rest.join(':');
  if (value === '') return undefined;
  return {
    value,
    family: family === '' ? undefined : family,
    on: SIGNED_PARTS.find((part) => part === on),
  };
}

/** What a signature is remembered by. */
export type SignatureKey =
  | { readonly kind: 'call'; readonly id: string; readonly name: string }
  /** A call whose id is that of calls in other conversations as well, by its arguments in JSON. */
  | {
      readonly kind: 'counted-call';
      readonly id: string;
      readonly name: string;
      readonly json: () => string;
    }
  /** Models of two families may think the same words. */
  | {
      readonly kind: 'thought';
      readonly text: string | TextDigest;
      readonly family: string | undefined;
    }
  /** A text or a medium's base64, in the answer to what was `asked`. */
  | {
      readonly kind: 'content';
      readonly content: string | TextDigest;
      readonly asked: () => string;
    }
  /** A call whose id says nothing, by its arguments in JSON, in the answer to what was `asked`. */
  | {
      readonly kind: 'answered-call';
      readonly name: string;
      readonly json: () => string;
      readonly asked: () => string;
    }
  /** A bare value, in either alphabet of base64 (RFC 4648, 5): some SDKs read it as bytes and write it anew. */
  | { readonly kind: 'value'; readonly value: string };

export interface SignatureEntry {
  /** As it was issued. */
  readonly signature?: Signature | undefined;
  /** The arguments of a signed call. */
  readonly input?: IssuedInput | undefined;
  /** What the upstream did by itself before a call. */
  readonly history?: ServerToolHistory | undefined;
}

/** JSON of the arguments of a signed call. */
interface IssuedInput {
  /** As the upstream wrote and signed them; '' stands for none. */
  readonly issued: string;
  /** As the client was shown them, where that is something else. */
  readonly shown?: string;
}

/** What is remembered of earlier answers to the same client key. */
export interface SignatureRecall {
  lookup(key: SignatureKey): SignatureEntry | undefined;
}

/** What counts calls is no name of one: `functions.read:0` (Moonshot), `call_0`. */
const COUNTED = /(?:^[A-Za-z]*|[^A-Za-z0-9])\d{1,4}$/;

/** By what is remembered that the upstream did before a call. `json` is asked where the id counts; clients may write it anew. */
export function historyKey(
  { id, name }: { readonly id: string; readonly name: string },
  json: () => string,
): SignatureKey {
  if (!COUNTED.test(id)) return { kind: 'call', id, name };
  const plain = (): string => JSON.stringify(tryParse(json()) ?? {});
  return { kind: 'counted-call', id, name, json: plain };
}

/** The issued arguments of a call that `returned` as it was shown, or changed in nothing it says. */
export function inputBehindShown(
  input: IssuedInput | undefined,
  returned: JsonObject,
  schema: JsonValue | undefined,
): JsonObject | undefined {
  if (input?.shown === undefined) return undefined;
  const text = JSON.stringify(returned);
  if (text === input.issued) return undefined;
  if (text !== input.shown && !meansTheSame(returned, parseJson(input.shown), schema)) {
    return undefined;
  }
  return objectOf(parseJson(input.issued));
}

/** The issued arguments, whatever the call `returned`; undefined where it returned them. */
export function inputAsIssued(
  input: IssuedInput | undefined,
  returned: JsonObject,
): JsonObject | undefined {
  const issued = input === undefined ? undefined : readCallInput(input.issued);
  return issued === undefined || isDeepStrictEqual(issued, returned) ? undefined : issued;
}

/**
 * What the signatures of an attempt are: `carried` ones, with the remembered where there is none; after a
 * refusal `remembered` ones in place of those that came back damaged; after another none, `stripped`; where
 * even that is refused the remembered ones again, on calls `reissued` with the arguments they vouch for.
 */
export type SignatureSource = 'carried' | 'remembered' | 'stripped' | 'reissued';

/** A signature a client carried, and the call it stands on, where it stands on one that has an id. */
export interface PlacedSignature {
  readonly value: string;
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}

/** What is left to be sent of a refused conversation. */
export interface SignatureTrust {
  keeps(signature: PlacedSignature): boolean;
  /** False when those that are remembered were refused themselves. */
  readonly recalls: boolean;
}

/** Undefined while the upstream refused nothing: all signatures are trusted then. */
export function trustOf(
  source: SignatureSource,
  {
    carried,
    recall,
  }: { readonly carried: () => readonly PlacedSignature[]; readonly recall: SignatureRecall },
): SignatureTrust | undefined {
  switch (source) {
    case 'carried':
      return undefined;
    case 'remembered':
      return trustAfterRefusal(carried(), recall);
    case 'stripped':
      return { keeps: () => false, recalls: false };
    case 'reissued':
      return { recalls: true, keeps: (signature) => isAsIssued(signature, recall) };
    default:
      return source satisfies never;
  }
}

/** For the receipt, of a call that goes back with other arguments than its client returned. */
export function tellReissued(name: string): Sentence {
  return told`The call of ${name} went back with the arguments the model wrote: the upstream took it with no others.`;
}

/** Signatures that were changed give way to the remembered ones; if all are as issued, none is sent again. */
function trustAfterRefusal(
  carried: readonly PlacedSignature[],
  recall: SignatureRecall,
): SignatureTrust {
  const isAtFault = (signature: PlacedSignature): boolean => !isAsIssued(signature, recall);
  const recalls = carried.some(isAtFault);
  return { recalls, keeps: (signature) => recalls && !isAtFault(signature) };
}

function isAsIssued({ value, call }: PlacedSignature, recall: SignatureRecall): boolean {
  const own = call && recall.lookup({ kind: 'call', id: call.id, name: call.name })?.signature;
  if (own !== undefined) return own.value === value;
  return recall.lookup({ kind: 'value', value }) !== undefined;
}

const MAX_CHARACTERS = 4096;

/** The text and results of the user turn before `index`: the same for all requests of a conversation. */
export function precedingUserContent(turns: readonly Turn[], index: number): string {
  for (let place = index - 1; place >= 0; place -= 1) {
    const turn = turns[place];
    if (turn?.role === 'user') return turn.parts.map(wordsOf).join('\n').slice(-MAX_CHARACTERS);
  }
  return '';
}

/** Clients trim what they store, and some number the calls of every conversation alike. */
function wordsOf(part: Part | ToolResultContent): string {
  switch (part.kind) {
    case 'text':
      return part.text.trim();
    case 'json':
      return JSON.stringify(part.value);
    case 'tool-result':
      return [part.callId, ...part.content.map(wordsOf)].join(' ');
    default:
      return part.kind;
  }
}

/** What the client declares of the arguments of one function. */
export interface ArgumentSchema {
  readonly schema: JsonValue | undefined;
  /** True where a client may fill in what the model left out; looked for once. */
  hasDefaults(): boolean;
}

/** By the function's name; the first of a name counts. */
export type ArgumentSchemas = ReadonlyMap<string, ArgumentSchema>;

/** Undoes changes that mean nothing: defaults that clients fill in, and trimmed line ends. */
export function declaredArguments(tools: readonly Tool[]): ArgumentSchemas {
  const schemas = new Map<string, ArgumentSchema>();
  for (const tool of tools) {
    if (tool.kind !== 'function' || schemas.has(tool.name)) continue;
    const { name, parameters: schema } = tool;
    schemas.set(name, { schema, hasDefaults: once(() => declaresDefaults(schema)) });
  }
  return schemas;
}

/** A blank before the end of a line or of a text, as JSON writes it. */
const BLANK_AT_END = /(?: |\\t)(?:\\r|\\n|")/;

/** True where a client may return other arguments than these, in JSON, and mean them. */
export function mayComeBackChanged(json: string, declared: ArgumentSchema | undefined): boolean {
  return BLANK_AT_END.test(json) || declared?.hasDefaults() === true;
}

function declaresDefaults(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  return [...Object.values(propertiesOf(schema)), schema.items].some(
    (member) => isJsonObject(member) && (member.default !== undefined || declaresDefaults(member)),
  );
}

/** True where `returned` is `written` but for such changes. */
export function meansTheSame(
  returned: JsonValue,
  written: JsonValue,
  schema: JsonValue | undefined,
): boolean {
  if (isDeepStrictEqual(returned, written)) return true;
  if (typeof returned === 'string' && typeof written === 'string') {
    return withoutBlanks(returned) === withoutBlanks(written);
  }
  if (isJsonObject(returned) && isJsonObject(written)) {
    return hasDefaultsBeside(returned, written, propertiesOf(schema));
  }
  if (!Array.isArray(returned) || !Array.isArray(written)) return false;
  const items = objectOf(schema)?.items;
  return (
    returned.length === written.length &&
    returned.every((item, index) => meansTheSame(item, written[index] ?? null, items))
  );
}

/** Line by line: a pattern would go through a long row of blanks again from each of them. */
function withoutBlanks(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function hasDefaultsBeside(
  returned: JsonObject,
  written: JsonObject,
  properties: JsonObject,
): boolean {
  if (Object.keys(written).some((name) => !Object.hasOwn(returned, name))) return false;
  return Object.entries(returned).every(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const meant = Object.hasOwn(written, name) ? written[name] : objectOf(schema)?.default;
    return meant !== undefined && meansTheSame(value, meant, schema);
  });
}

function propertiesOf(schema: JsonValue | undefined): JsonObject {
  return objectOf(objectOf(schema)?.properties) ?? {};
}
