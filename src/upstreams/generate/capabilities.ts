// What one model of one upstream can do: built-in model data, the upstream's own list, the profile.

import type { ModelCapabilities } from '../../canonical/model.ts';
import { neutralModelName } from '../../wire/vocabulary.ts';
import type { UpstreamModel } from '../upstream.ts';
import {
  MODEL_ROWS,
  type ModelRow,
  type ModelTraits,
  UNKNOWN_MODEL,
  UNKNOWN_THINKING,
} from './model-data.ts';
import type { GenerateProfile } from './profiles/profile.ts';

/** Limits the upstream lists win over built-in ones; the profile's overrides win over everything. */
export function capabilitiesOf(
  profile: Pick<GenerateProfile, 'capabilityOverrides'>,
  modelId: string,
  listed?: UpstreamModel,
): ModelCapabilities {
  const row = rowOf(modelId);
  return {
    ...row.capabilities,
    inputTokenLimit: listed?.inputTokenLimit ?? row.capabilities.inputTokenLimit,
    outputTokenLimit: listed?.outputTokenLimit ?? row.capabilities.outputTokenLimit,
    thinking: thinkingOf(row, listed),
    signatureFamily: familyOf(modelId),
    ...profile.capabilityOverrides,
  };
}

export function traitsOf(modelId: string): ModelTraits {
  return rowOf(modelId).traits;
}

function rowOf(modelId: string): ModelRow {
  const id = bareId(modelId);
  return MODEL_ROWS.find((row) => row.pattern.test(id)) ?? UNKNOWN_MODEL;
}

function thinkingOf(row: ModelRow, listed: UpstreamModel | undefined) {
  if (listed?.supportsThinking === false) return { kind: 'none' } as const;
  const isSurprise = row === UNKNOWN_MODEL && listed?.supportsThinking === true;
  return isSurprise ? UNKNOWN_THINKING : row.capabilities.thinking;
}

/** `gemini-3-flash` and `alpha-3-pro` are one family: `alpha`. */
function familyOf(modelId: string): string {
  const [family = ''] = neutralModelName(bareId(modelId)).split('-');
  return family;
}

function bareId(modelId: string): string {
  return modelId.toLowerCase().replace(/^models\//, '');
}
