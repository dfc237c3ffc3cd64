// Reads what one agent of a client tells another one: a turn the upstream knows no role for.
// Source: `openai` resources/beta/responses, ResponseInputItem.AgentMessage.

import { memberPath } from '../../../canonical/field-reader.ts';
import { type Receipt, told } from '../../../canonical/receipt.ts';
import type { TextPart, Turn } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { missingField, readArray, readString, requireString } from '../fields.ts';
import type { ContentPart } from '../read-parts.ts';
import { readItemPart } from './read-content.ts';

/** A token of Fernet, as the vendor encrypts: version 0x80 and a time of 64 bits, in base64 (github.com/fernet/spec). */
const VENDOR_CIPHERTEXT = /^gAAAAA[\w-]+={0,2}$/;

/** User text, marked with who speaks to whom. @throws GatewayError 400 */
export function readAgentMessage(item: JsonObject, path: string, receipt: Receipt): Turn {
  const author = requireString(item, 'author', path);
  const recipient = requireString(item, 'recipient', path);
  const contentPath = memberPath(path, 'content');
  const content = readArray(item, 'content', path);
  if (content === undefined) throw missingField(contentPath);
  const parts = content.flatMap((part, index) =>
    readAgentPart(part, `${contentPath}[${index}]`, receipt),
  );
  receipt.add('approximated', path, told`A message between agents is sent as marked user text.`);
  const opening = `<agent-message from="${author}" to="${recipient}">\n`;
  return { role: 'user', parts: [textPart(opening), ...parts, textPart('\n</agent-message>')] };
}

/**
 * The vendor encrypts the argument an agent is told by (`encrypted` in its schema); this gateway does
 * not, so what a client brings back under that name is what the model wrote.
 */
function readAgentPart(part: JsonValue, path: string, receipt: Receipt): readonly ContentPart[] {
  if (!isJsonObject(part) || part.type !== 'encrypted_content') {
    return readItemPart(part, path);
  }
  const text = readString(part, 'encrypted_content', path) ?? '';
  if (!VENDOR_CIPHERTEXT.test(text)) return [textPart(text)];
  receipt.add('dropped', path, told`Only its issuer can read encrypted content.`);
  return [];
}

function textPart(text: string): TextPart {
  return { kind: 'text', text };
}
