// Writes a canonical request as the wire body of one upstream model.

import { told } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';
import { definedFields } from './defined.ts';
import { encodeContents } from './encode-contents.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeGenerationConfig } from './encode-generation-config.ts';
import { encodeToolConfig, tellsTraces } from './encode-tool-config.ts';
import { encodeTools } from './encode-tools.ts';
import { wrapMapCalls } from './wrap-map-calls.ts';

/** Service tiers of the wire (@google/genai, `ServiceTier`); other protocols' words mean nothing here. */
const SERVICE_TIERS = ['flex', 'standard', 'priority'];

/**
 * The body without the project, which `placeProject` adds when an account is known. Expects what the
 * transforms establish (canonical/request.ts), and never writes an empty part or an unknown field.
 * @throws GatewayError (invalid-request) for what this upstream cannot be sent.
 */
export function encode(
  request: CanonicalRequest,
  target: EncodeTarget,
  profile: EncodeContext['profile'],
): JsonObject {
  const context: EncodeContext = { target, profile };
  const encodedTools = encodeTools(request.tools, request.toolChoice, context);
  const { tools } = encodedTools;
  const body = {
    systemInstruction: systemInstruction(request),
    tools: tools.length === 0 ? undefined : [...tools],
    toolConfig: encodeToolConfig(request.toolChoice, encodedTools, context),
    generationConfig: encodeGenerationConfig(request, context),
    safetySettings: safetySettings(request),
    cachedContent: request.cachedContent,
    serviceTier: serviceTier(request, context),
  };
  const called = wrapMapCalls(request, encodedTools.mapNames);
  const sendsTraces = tellsTraces(encodedTools, profile);
  return { contents: encodeContents(called, { ...context, sendsTraces }), ...definedFields(body) };
}

function systemInstruction({ system }: CanonicalRequest): JsonObject | undefined {
  const parts = system.filter((part) => part.text !== '').map(({ text }) => ({ text }));
  return parts.length === 0 ? undefined : { parts };
}

function safetySettings({ safety }: CanonicalRequest): JsonObject[] | undefined {
  if (safety.length === 0) return undefined;
  return safety.map(({ category, threshold }) => ({ category, threshold }));
}

function serviceTier({ serviceTier }: CanonicalRequest, context: EncodeContext) {
  if (serviceTier === undefined) return undefined;
  const isKnown = SERVICE_TIERS.includes(serviceTier.toLowerCase());
  if (isKnown && context.profile.extraFields.includes('serviceTier')) return serviceTier;
  context.target.receipt.add(
    'dropped',
    'service_tier',
    told`The upstream has no such service tier.`,
  );
  return undefined;
}
