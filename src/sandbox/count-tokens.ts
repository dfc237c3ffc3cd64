// Token counting: `{contents}` or `{generateContentRequest}` to `{totalTokens, promptTokensDetails}`.

import type { JsonObject, JsonValue } from '../lib/json.ts';
import type { SandboxAccount } from './accounts.ts';
import { badRequest, type Violation } from './errors.ts';
import { checkAddress, requireModel } from './generate.ts';
import { readCountTokensRequest } from './proto/read-message.ts';
import { checkParts } from './rules/contents.ts';
import { countPromptTokens, sumTokens } from './tokens.ts';
import type { GenerateRequest } from './wire.ts';

/** @throws SandboxError 400 or 404. Roles and turn order do not matter here. */
export function countTokens(body: JsonValue, account: SandboxAccount, modelId: string): JsonObject {
  const model = requireModel(modelId);
  const { contents, generateContentRequest, ...address } = readCountTokensRequest(body);
  checkAddress(address, account, model.id);
  if (contents !== undefined && generateContentRequest !== undefined) {
    throw badRequest([
      { field: 'contents', description: 'and generate_content_request exclude each other' },
    ]);
  }
  const request = generateContentRequest ?? { contents: contents ?? [] };
  checkAddress(request, account, model.id);
  checkCountable(request);
  const counts = countPromptTokens(request);
  return {
    totalTokens: sumTokens(counts),
    promptTokensDetails: [...counts].map(([modality, tokenCount]) => ({ modality, tokenCount })),
  };
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
