// Rules for single contents: roles, non-empty parts, one datum per part, complete data.

import { type Content, type Part, partsOf } from '../wire.ts';
import type { Report, Rule } from './rule.ts';

const DATA_FIELDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const satisfies readonly (keyof Part)[];

/** Data only a model produces. */
const MODEL_DATA = ['functionCall', 'executableCode', 'codeExecutionResult', 'toolCall'] as const;

const MEDIA_TYPE =
  /^(?:(?:image|audio|video|text)\/[\w.+-]+|application\/(?:pdf|json|rtf|x-javascript|x-python))$/;

export const checkContents: Rule = ({ request }, report) => {
  const contents = request.contents ?? [];
  if (contents.length === 0) report('contents', 'must hold at least one content');
  contents.forEach((content, index) => {
    checkRole(content, `contents[${index}]`, report);
    checkParts(content, `contents[${index}]`, report);
  });
  if (request.systemInstruction !== undefined) {
    checkSystemInstruction(request.systemInstruction, report);
  }
  if (request.cachedContent !== undefined) {
    report('cached_content', 'the sandbox keeps no cached contents; send the contents themselves');
  }
};

/** Parts alone, for token counting, which is indifferent to roles and order. */
export function checkParts(content: Content, at: string, report: Report): void {
  const parts = partsOf(content);
  if (parts.length === 0) report(`${at}.parts`, 'must not be empty');
  parts.forEach((part, index) => {
    checkPart(part, `${at}.parts[${index}]`, report);
  });
}

function checkRole(content: Content, at: string, report: Report): void {
  const { role } = content;
  if (role !== 'user' && role !== 'model') {
    const given = role === undefined ? 'missing' : JSON.stringify(role);
    report(`${at}.role`, `is ${given}; valid roles are "user" and "model"`);
    return;
  }
  partsOf(content).forEach((part, index) => {
    const misplaced =
      role === 'user'
        ? MODEL_DATA.find((name) => part[name] !== undefined)
        : part.functionResponse && 'functionResponse';
    if (misplaced !== undefined) {
      report(`${at}.parts[${index}]`, `a ${misplaced} does not belong in a ${role} turn`);
    }
    if (role === 'user' && part.thought === true) {
      report(`${at}.parts[${index}].thought`, 'only model turns hold thoughts');
    }
  });
}

function checkSystemInstruction(content: Content, report: Report): void {
  if (content.role !== undefined && !['user', 'system'].includes(content.role)) {
    report('system_instruction.role', 'must be absent, "user" or "system"');
  }
  checkParts(content, 'system_instruction', report);
  if (partsOf(content).some((part) => part.text === undefined)) {
    report('system_instruction.parts', 'only text parts are accepted here');
  }
}

function checkPart(part: Part, at: string, report: Report): void {
  const present = DATA_FIELDS.filter((name) => part[name] !== undefined);
  if (present.length === 0) report(at, 'a part needs one data field, such as text');
  if (present.length > 1) report(at, `a part takes one data field, not ${present.join(' and ')}`);
  if (part.text === '' && !part.thoughtSignature) report(`${at}.text`, 'must not be empty');
  if (part.inlineData !== undefined) checkBlob(part.inlineData, `${at}.inline_data`, report);
  if (part.fileData !== undefined && !/^https?:\/\/\S+$/.test(part.fileData.fileUri ?? '')) {
    report(`${at}.file_data.file_uri`, 'must be an http or https address');
  }
  if (part.functionCall !== undefined && !part.functionCall.name) {
    report(`${at}.function_call.name`, 'must not be empty');
  }
  checkResponse(part, at, report);
}

function checkResponse(part: Part, at: string, report: Report): void {
  const response = part.functionResponse;
  if (response === undefined) return;
  if (!response.name) report(`${at}.function_response.name`, 'must not be empty');
  if (response.response === undefined) {
    report(`${at}.function_response.response`, 'is missing; give a JSON object');
  }
  response.parts?.forEach(({ inlineData }, index) => {
    checkBlob(inlineData ?? {}, `${at}.function_response.parts[${index}].inline_data`, report);
  });
}

function checkBlob(
  blob: { readonly mimeType?: string; readonly data?: string },
  at: string,
  report: Report,
): void {
  if (!blob.data) report(`${at}.data`, 'must not be empty');
  const type = blob.mimeType ?? '';
  if (!MEDIA_TYPE.test(type.split(';', 1)[0] ?? '')) {
    report(`${at}.mime_type`, `${JSON.stringify(type)} is not a supported media type`);
  }
}
