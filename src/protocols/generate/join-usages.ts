// The counts of several upstream calls as one, as if there had been one call.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { numberAt, textAt } from './native-fields.ts';

/** A single count stays as it came; of several, each figure is the sum, and so is each modality's. */
export function joinUsages(usages: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...rest] = usages;
  if (first === undefined || rest.length === 0) return first;
  const names = new Set(usages.flatMap((usage) => Object.keys(usage)));
  const joined = [...names].map((name) => [name, joinValues(usages.map((usage) => usage[name]))]);
  return Object.fromEntries(joined.filter(([, value]) => value !== undefined));
}

/** Undefined for what is neither a figure nor a list of modalities: it is about a single call. */
function joinValues(values: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  const figures = values.map(readNumber).filter((figure) => figure !== undefined);
  if (figures.length > 0) return figures.reduce((sum, figure) => sum + figure, 0);
  const details = values.flatMap((value) => (Array.isArray(value) ? value : []));
  return details.length === 0 ? undefined : joinDetails(details.filter(isJsonObject));
}

function joinDetails(details: readonly JsonObject[]): JsonObject[] {
  const counts = new Map<string, number>();
  for (const detail of details) {
    const modality = textAt(detail, 'modality') ?? 'MODALITY_UNSPECIFIED';
    counts.set(modality, (counts.get(modality) ?? 0) + (numberAt(detail, 'tokenCount') ?? 0));
  }
  return [...counts].map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
