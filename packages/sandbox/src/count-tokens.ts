// Token counting: `{contents}` or `{generateContentRequest}` to `{totalTokens, promptTokensDetails}`.

import type { SandboxCaller } from './accounts.ts';
import { badRequest, type Violation } from './errors.ts';
import { checkAddress, requireModel } from './generate.ts';
import { type ModelAddress, wordsOf } from './http/routes.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { readCountTokensRequest, readProjectCountTokensRequest } from './proto/read-message.ts';
import { checkParts } from './rules/contents.ts';
import { countPromptTokens, sumTokens } from './tokens.ts';
import type { GenerateRequest } from './wire.ts';

/** @throws SandboxError 400 or 404. Roles and turn order do not matter here. */
export function countTokens(
  body: JsonValue,
  account: SandboxCaller,
  address: ModelAddress,
): JsonObject {
  requireModel(address);
  const request =
    address.place === undefined
      ? readCountable(body, account, address)
      : readProjectCountTokensRequest(body, wordsOf(address));
  checkAddress(request, account, address);
  checkCountable(request);
  const counts = countPromptTokens(request);
  return {
    totalTokens: sumTokens(counts),
    promptTokensDetails: [...counts].map(([modality, tokenCount]) => ({ modality, tokenCount })),
  };
}

/** `{contents}` or `{generateContentRequest}`; on project paths the fields of the latter stand at the top. */
function readCountable(
  body: JsonValue,
  account: SandboxCaller,
  address: ModelAddress,
): GenerateRequest {
  const { contents, generateContentRequest, ...target } = readCountTokensRequest(body);
  checkAddress(target, account, address);
  if (contents !== undefined && generateContentRequest !== undefined) {
    throw badRequest([
      { field: 'contents', description: 'and generate_content_request exclude each other' },
    ]);
  }
  return generateContentRequest ?? { contents: contents ?? [] };
}

function checkCountable({ contents = [] }: GenerateRequest): void {
  const violations: Violation[] = [];
  const report = (field: string, description: string): void => {
    violations.push({ field, description });
  };
  if (contents.length === 0) report('contents', 'must hold at least one content');
  contents.forEach((content, index) => {
    checkParts(content, `contents[${index}]`, report);
  });
  if (violations.length > 0) throw badRequest(violations);
}
