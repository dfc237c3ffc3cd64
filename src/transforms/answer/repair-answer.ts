// Gives the values of a structured answer the types its schema has, where the upstream could only write texts.

import type { Receipt } from '../../canonical/receipt.ts';
import type { OutputFormat } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { ValueRepair } from './repair-value.ts';
import type { TextRule } from './rewrite-text.ts';
import { createSchemaReader, type SchemaNode, type SchemaReader } from './schema-node.ts';
import { SchemaWork } from './schema-work.ts';
import { FENCE_RULE } from './strip-fences.ts';
import { holdsTexts } from './texts-in-schema.ts';

/**
 * The rule for an answer of this format; undefined when none is needed. The whole text waits only where
 * the schema has values that may come as texts: others are streamed as they come, as are those the upstream
 * was asked for in their own types.
 */
export function answerRule(
  format: OutputFormat,
  { receipt, isTyped }: { readonly receipt: Receipt; readonly isTyped: boolean },
): TextRule | undefined {
  if (format.kind !== 'json' && format.kind !== 'json-schema') return undefined;
  if (format.kind === 'json' || isTyped || !isJsonObject(format.schema)) return FENCE_RULE;
  const plan = planFor(format.schema, receipt);
  return plan === undefined ? FENCE_RULE : repairRule(plan);
}

interface RepairPlan {
  readonly reader: SchemaReader;
  readonly root: SchemaNode;
  readonly receipt: Receipt;
}

function planFor(schema: JsonObject, receipt: Receipt): RepairPlan | undefined {
  const reader = createSchemaReader(schema);
  // The whole answer is JSON as it is: only what is inside may be a text instead of any value.
  const root = { ...reader.read([schema]), isOpen: false };
  return holdsTexts(root, reader) ? { reader, root, receipt } : undefined;
}

function repairRule(plan: RepairPlan): TextRule {
  return {
    decidedAfter: 0,
    mayChange: () => true,
    rewrite(text) {
      const unfenced = FENCE_RULE.rewrite(text);
      const repaired = repairJson(unfenced?.text ?? text, plan);
      return repaired === undefined ? unfenced : { text: repaired, shift: undefined };
    },
  };
}

/** Undefined for what is no JSON, needs no repair, or would be too much work. */
function repairJson(json: string, { reader, root, receipt }: RepairPlan): string | undefined {
  const given = tryParse(json);
  if (given === undefined) return undefined;
  const work = new SchemaWork(reader);
  const repair = new ValueRepair(work);
  const repaired = repair.repair(root, given, { path: 'answer', name: '' });
  if (work.gaveUp || repaired === given) return undefined;
  for (const { action, path, reason } of repair.notes) receipt.add(action, path, reason);
  return JSON.stringify(repaired);
}

function tryParse(json: string): JsonValue | undefined {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}
