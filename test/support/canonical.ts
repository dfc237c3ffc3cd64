// Small canonical requests and contexts for tests.

import type { ModelCapabilities } from '../../src/canonical/model.ts';
import { createReceipt, type Receipt } from '../../src/canonical/receipt.ts';
import type {
  CanonicalRequest,
  Part,
  Signature,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../src/canonical/request.ts';
import type { TransformContext } from '../../src/transforms/transform.ts';

export function requestOf(change: Partial<CanonicalRequest>): CanonicalRequest {
  return {
    system: [],
    turns: [],
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {},
    stopSequences: [],
    choices: 1,
    reasoning: { amount: { kind: 'unset' } },
    outputFormat: { kind: 'text' },
    safety: [],
    ...change,
  };
}

export function text(value: string): Extract<Part, { kind: 'text' }> {
  return { kind: 'text', text: value };
}

export function user(...parts: readonly (Part | string)[]): Turn {
  return {
    role: 'user',
    parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
  };
}

export function assistant(...parts: readonly (Part | string)[]): Turn {
  return {
    role: 'assistant',
    parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
  };
}

export function call(id: string, signature?: Signature): ToolCallPart {
  return { kind: 'tool-call', id, name: `tool_${id}`, input: { id }, signature };
}

export function result(callId: string, value = 'ok'): ToolResultPart {
  return { kind: 'tool-result', callId, content: [text(value)], isError: false };
}

export function capabilitiesOf(change: Partial<ModelCapabilities> = {}): ModelCapabilities {
  return {
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    thinking: { kind: 'budget', minTokens: 0, maxTokens: 32_768, canDisable: true },
    unsignedCalls: 'sentinel',
    signatureFamily: 'alpha',
    takesInstructions: true,
    searchWithFunctions: false,
    outputFormats: 'everywhere',
    takesJsonSchema: false,
    callsFunctions: true,
    mediaInFunctionResponse: true,
    severalAnswers: true,
    drawsImages: false,
    ...change,
  };
}

export interface TestContext extends TransformContext {
  readonly receipt: Receipt;
}

export function contextOf(change: Partial<TransformContext> = {}): TestContext {
  const receipt = createReceipt();
  return {
    capabilities: capabilitiesOf(),
    variant: { webSearch: false },
    thinkingMode: { kind: 'auto' },
    recall: { lookup: () => undefined },
    signatures: 'carried',
    ...change,
    receipt,
  };
}
