// Reads code that the model ran, and what came of it.

import type { BlockOpening } from '../../canonical/event.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';

export function readCode({ language, code, id }: JsonObject): BlockOpening {
  return {
    kind: 'code',
    language: typeof language === 'string' ? language.toLowerCase() : 'python',
    code: typeof code === 'string' ? code : '',
    ...(typeof id === 'string' ? { id } : {}),
  };
}

export function readCodeResult({ outcome, output, id }: JsonObject): BlockOpening {
  return {
    kind: 'code-result',
    outcome: readOutcome(outcome),
    output: typeof output === 'string' ? output : '',
    ...(typeof id === 'string' ? { id } : {}),
  };
}

function readOutcome(outcome: JsonValue | undefined): 'ok' | 'failed' | 'timeout' {
  if (outcome === 'OUTCOME_DEADLINE_EXCEEDED') return 'timeout';
  return outcome === 'OUTCOME_FAILED' ? 'failed' : 'ok';
}
