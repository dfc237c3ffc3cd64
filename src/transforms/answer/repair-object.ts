// Repairs the members of an object: their values, nulls that should be absent, names that were guessed.

import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { areRelated } from './related-names.ts';
import { isDeclared, isRequired, type SchemaNode } from './schema-node.ts';
import type { Place, ValueRepairer } from './value-repairer.ts';

export interface ObjectRepairInput {
  readonly node: SchemaNode;
  readonly object: JsonObject;
  readonly place: Place;
}

type Member = readonly [name: string, value: JsonValue];

/** The same object when nothing changed. Members keep their order. */
export function repairObject(repairer: ValueRepairer, input: ObjectRepairInput): JsonObject {
  const { node, object, place } = input;
  if (node.objects.length === 0) return object;
  const members = Object.entries(object);
  const repaired: Member[] = [];
  let isChanged = false;
  for (const [name, value] of members) {
    const memberPlace = { path: memberPath(node, place.path, name), name };
    if (value === null && shouldBeAbsent(repairer, node, name)) {
      repairer.note({
        action: 'repaired',
        path: memberPlace.path,
        reason: 'The optional argument is left out instead of null.',
      });
      isChanged = true;
      continue;
    }
    const repairedValue = repairer.repair(repairer.work.member(node, name), value, memberPlace);
    isChanged ||= repairedValue !== value;
    repaired.push([name, repairedValue]);
  }
  const renamed = renameGuessed(repairer, repaired, input);
  if (renamed === undefined && !isChanged) return object;
  // Unlike assignment, this also makes `__proto__` an ordinary member.
  return Object.fromEntries(renamed ?? repaired);
}

function shouldBeAbsent({ work }: ValueRepairer, node: SchemaNode, name: string): boolean {
  if (!isDeclared(node, name) || isRequired(node, name)) return false;
  return !work.fits(work.member(node, name), null);
}

/** Members with the one unknown name replaced by the one missing name it is related to. */
function renameGuessed(
  repairer: ValueRepairer,
  members: readonly Member[],
  { node, place }: ObjectRepairInput,
): readonly Member[] | undefined {
  const missing = onlyMissing(node, members);
  if (missing === undefined || !namesAreFixed(node)) return undefined;
  const unknown = members.filter(([name]) => !isKnown(node, name));
  const [guessed] = unknown;
  if (guessed === undefined || unknown.length > 1 || !areRelated(guessed[0], missing)) {
    return undefined;
  }
  const path = memberPath(node, place.path, missing);
  const child = repairer.work.member(node, missing);
  const value = repairer.repair(child, guessed[1], { path, name: missing });
  if (!repairer.work.fits(child, value)) return undefined;
  repairer.note({ action: 'repaired', path, reason: 'The argument came under a related name.' });
  return members.map((member) => (member === guessed ? [missing, value] : member));
}

function onlyMissing(node: SchemaNode, members: readonly Member[]): string | undefined {
  const given = new Set(members.map(([name]) => name));
  const missing = new Set<string>();
  for (const { required } of node.objects) {
    for (const name of required) if (!given.has(name)) missing.add(name);
  }
  const [name] = missing;
  return missing.size === 1 ? name : undefined;
}

/** False where the schema describes members of any name, which then are no mistakes. */
function namesAreFixed({ objects }: SchemaNode): boolean {
  return objects.every(
    ({ others, hasPatterns }) => !hasPatterns && (others === undefined || others === false),
  );
}

function isKnown(node: SchemaNode, name: string): boolean {
  return isDeclared(node, name) || isRequired(node, name);
}

/** Names the schema does not know are not repeated: they could be as many as the model likes. */
function memberPath(node: SchemaNode, parent: string, name: string): string {
  if (!isKnown(node, name)) return `${parent}[*]`;
  return /^[A-Za-z_$][\w$-]*$/.test(name)
    ? `${parent}.${name}`
    : `${parent}[${JSON.stringify(name)}]`;
}
