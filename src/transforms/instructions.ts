// Instructions: the billing line, their place, and prompts for formats and domains.

import { createReceipt, type Receipt } from '../canonical/receipt.ts';
import type { TextPart, Tool } from '../canonical/request.ts';
import {
  cutBillingLine,
  formatInWords,
  INSTRUCTION_MARKED,
  markInstruction,
} from '../canonical/text-forms.ts';
import type { UserLocation } from '../canonical/user-location.ts';
import { mapItems } from '../lib/collections.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { toResponseSchema } from '../schema/tool-schema.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

export const dropBillingLine: Transform = (request, { receipt }) => {
  const system = withoutBillingLine(request.system, receipt);
  return system === request.system ? request : { ...request, system };
};

/** The same list where there is none. */
export function withoutBillingLine<Block extends { readonly text?: JsonValue | undefined }>(
  system: readonly Block[],
  receipt: Pick<Receipt, 'add'>,
): readonly Block[] {
  const left = mapItems(system, (block) => {
    if (typeof block.text !== 'string') return block;
    const text = cutBillingLine(block.text);
    if (text === block.text) return block;
    return text === '' ? undefined : { ...block, text };
  });
  if (left === system) return system;
  const reason = told`A billing line that changes every turn would defeat caching.`;
  receipt.add('dropped', 'system', reason);
  return left;
}

/**
 * Puts instructions before the first question of models that take no instructions. Expects a conversation that
 * starts with a user turn.
 */
export const placeInstructions: Transform = (request, { capabilities, receipt }) => {
  if (capabilities.takesInstructions) return request;
  const { system } = request;
  const [first, ...rest] = request.turns;
  if (system.length === 0 || first?.role !== 'user') return request;
  const reason = told`This model takes no instructions: they are sent before the first question as marked user text.`;
  receipt.add('approximated', 'system', reason);
  const parts = [...system.map(markPart), ...first.parts];
  return { ...request, system: [], turns: [{ role: 'user', parts }, ...rest] };
};

/**
 * Turns instructions given in mid-conversation into marked user text at the same place, for models that take none
 * there. The place is kept, because moving the text to the front would change the cached prefix every turn.
 */
export const placeSystemTurns: Transform = (request, { receipt, capabilities }) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'system' || capabilities.takesSystemTurns === true) return turn;
    receipt.add('approximated', 'messages', INSTRUCTION_MARKED);
    return { role: 'user', parts: turn.parts.map(markPart) };
  });

function markPart(part: TextPart): TextPart {
  return { ...part, text: markInstruction(part.text) };
}

/**
 * Tells the model an output format in words whose member names are free, where its schema cannot be sent. The
 * answer is still asked to be JSON, and repaired by the schema as the client gave it.
 */
export const promptForJson: Transform = (request, { receipt, capabilities }) => {
  const { outputFormat } = request;
  if (outputFormat.kind !== 'json-schema' || capabilities.takesJsonSchema) return request;
  if (!isFreeForm(outputFormat.schema, false)) return request;
  const reason = told`The upstream takes no objects of free member names: the model is told the schema in words.`;
  receipt.add('approximated', 'response_format', reason);
  const wish = { kind: 'text', text: formatInWords(outputFormat) } as const;
  return { ...request, system: [...request.system, wish], outputFormat: { kind: 'json' } };
};

/** True for a schema of which nothing is left to send, though it says something. */
export function isFreeForm(schema: JsonValue | undefined, isRelayed: boolean): boolean {
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return false;
  const options = { receipt: createReceipt(), path: 'response_schema', isRelayed };
  return toResponseSchema(schema, options).responseSchema === undefined;
}

type SearchTool = Extract<Tool, { kind: 'web-search' }>;

/**
 * Tells the model what upstream searches take no setting for: their domains, and where the user is.
 * `answer/sources.ts` keeps sources of other domains out of the answer.
 */
export const promptForDomains: Transform = (request, context) => {
  const { searchSettings, serverTools } = context.capabilities;
  // Where there is no search, a model that is told how to search only says that it cannot.
  if (searchSettings === true || serverTools?.includes('web-search') === false) return request;
  const texts = request.tools.flatMap((tool) =>
    tool.kind === 'web-search' ? tellSearch(tool, context) : [],
  );
  if (texts.length === 0) return request;
  const asked = texts.map((text): TextPart => ({ kind: 'text', text }));
  return { ...request, system: [...request.system, ...asked] };
};

function tellSearch(
  tool: SearchTool,
  { receipt }: Pick<TransformContext, 'receipt'>,
): readonly string[] {
  const { path = 'tools', userLocation } = tool;
  const texts: string[] = [];
  const domains = tellDomains(tool);
  if (domains !== '') {
    const reason = told`The model is told the domains, and other sources are left out of the answer.`;
    receipt.add('approximated', path, reason);
    texts.push(domains);
  }
  if (userLocation !== undefined) {
    const reason = told`The model is told where the user is.`;
    receipt.add('approximated', userLocation.path ?? path, reason);
    texts.push(tellPlace(userLocation));
  }
  return texts;
}

function tellDomains({ allowedDomains = [], blockedDomains = [] }: SearchTool): string {
  const only = `When you search the web, use only pages of these domains: ${allowedDomains.join(', ')}.`;
  const never = `When you search the web, use no pages of these domains: ${blockedDomains.join(', ')}.`;
  const lines = allowedDomains.length === 0 ? [] : [only];
  if (blockedDomains.length > 0) lines.push(never);
  return lines.join('\n');
}

function tellPlace({ city, region, country, timezone }: UserLocation): string {
  const land = country && nameCountry(country);
  const place = [city, region, land].filter((word) => word !== undefined).join(', ');
  const facts = place === '' ? [] : [`is roughly in ${place}`];
  if (timezone !== undefined) facts.push(`has the time zone ${timezone}`);
  return `When you search the web, take it that the user ${facts.join(' and ')}.`;
}

/**
 * Countries come as codes of two letters, and Norway's is a word of its own. The names are loaded where they are
 * used first: that takes some 10 ms, which no start has to wait for.
 */
function nameCountry(country: string): string {
  if (!/^[a-z]{2}$/i.test(country)) return country;
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  return names.of(country.toUpperCase()) ?? country;
}
