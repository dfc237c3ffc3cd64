// Writes the parts that mean the same in both roles: text, media, code and tools the provider ran.

import { told } from '../../canonical/receipt.ts';
import type {
  CodePart,
  CodeResultPart,
  MediaPart,
  ServerToolCallPart,
  ServerToolResultPart,
  TextPart,
} from '../../canonical/request.ts';
import type { WireCodeExecutionResult, WirePart } from '../../wire/generate.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeMedia } from './encode-media.ts';

export type PlainPart =
  | TextPart
  | MediaPart
  | ServerToolCallPart
  | ServerToolResultPart
  | CodePart
  | CodeResultPart;

const OUTCOMES = {
  ok: 'OUTCOME_OK',
  failed: 'OUTCOME_FAILED',
  timeout: 'OUTCOME_DEADLINE_EXCEEDED',
} as const;

/** The part without its signature. */
export function encodePlainPart(part: PlainPart, context: EncodeContext): WirePart {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'media':
      return encodeMedia(part, context);
    case 'server-tool-call':
      approximate(context);
      return { text: `[${part.name} was called with ${JSON.stringify(part.input)}]` };
    case 'server-tool-result':
      approximate(context);
      return { text: `[Result of ${part.name}]\n${part.text}` };
    case 'code':
      return encodeCode(part);
    case 'code-result':
      return { codeExecutionResult: encodeCodeResult(part) };
    default:
      return part satisfies never;
  }
}

function approximate({ target }: EncodeContext): void {
  target.receipt.add('approximated', 'messages', told`Calls of provider tools are sent as text.`);
}

/** The wire knows one language; any other code is text. */
function encodeCode({ language, code, id }: CodePart): WirePart {
  const isPython = /^python\d*$/i.test(language);
  if (!isPython) return { text: `\`\`\`${language.toLowerCase()}\n${code}\n\`\`\`` };
  return { executableCode: { language: 'PYTHON', code, ...withId(id) } };
}

function encodeCodeResult({ outcome, output, id }: CodeResultPart): WireCodeExecutionResult {
  return { outcome: OUTCOMES[outcome], output, ...withId(id) };
}

function withId(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id };
}
