// Repairs the members of an object: their values, nulls that should be absent, names that were guessed.

import { told } from '../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { areRelated, isPlural, spellingOf } from './related-names.ts';
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
        reason: told`The optional argument is left out instead of null.`,
      });
      isChanged = true;
      continue;
    }
    const child = repairer.work.member(node, name);
    // Of members it was not told the upstream was not asked for texts.
    const asked = child.isOpen && !isDeclared(node, name) ? { ...child, isOpen: false } : child;
    const repairedValue = repairer.repair(asked, value, memberPlace);
    isChanged ||= repairedValue !== value;
    repaired.push([name, repairedValue]);
  }
  const renamed = renamePlurals(repairer, renameGuessed(repairer, repaired, input), input);
  const allowed = dropForbidden(repairer, renamed, input);
  if (allowed === repaired && !isChanged) return object;
  // Unlike assignment, this also makes `__proto__` an ordinary member.
  return Object.fromEntries(allowed);
}

function shouldBeAbsent({ work }: ValueRepairer, node: SchemaNode, name: string): boolean {
  if (!isDeclared(node, name) || isRequired(node, name)) return false;
  return !work.fits(work.member(node, name), null);
}

/** Members with the one unknown name that is related to the one missing name put right. */
function renameGuessed(
  repairer: ValueRepairer,
  members: readonly Member[],
  input: ObjectRepairInput,
): readonly Member[] {
  const { node } = input;
  const missing = onlyMissing(node, members);
  if (missing === undefined || !namesAreFixed(node)) return members;
  const guesses = members.filter(
    ([name]) => !isKnown(node, name) && (areRelated(name, missing) || isPlural(name, missing)),
  );
  const [guessed] = guesses;
  if (guessed === undefined || guesses.length > 1) return members;
  const renamed = rename(repairer, { ...input, guessed, name: missing });
  if (renamed === undefined) return members;
  return members.map((member) => (member === guessed ? renamed : member));
}

/** An argument that may be absent came in the plural: clients refuse or overlook it. */
function renamePlurals(
  repairer: ValueRepairer,
  members: readonly Member[],
  input: ObjectRepairInput,
): readonly Member[] {
  const { node } = input;
  if (!namesAreFixed(node)) return members;
  const unknown = members.filter(([name]) => !isKnown(node, name));
  if (unknown.length === 0) return members;
  const given = new Set(members.map(([name]) => name));
  const plurals = new Map<string, string>();
  for (const name of node.objects.flatMap(({ properties }) => [...properties.keys()])) {
    const plural = `${spellingOf(name)}s`;
    if (!given.has(name) && !plurals.has(plural)) plurals.set(plural, name);
  }
  const renamed = new Map<Member, Member>();
  for (const guessed of unknown) {
    const name = plurals.get(spellingOf(guessed[0]));
    const member = name === undefined ? undefined : rename(repairer, { ...input, guessed, name });
    if (member !== undefined) renamed.set(guessed, member);
  }
  return renamed.size === 0 ? members : members.map((member) => renamed.get(member) ?? member);
}

/** More unknown names than a model adds by mistake: they are meant, and the client says what it makes of them. */
const MOST_FORBIDDEN = 10;

/**
 * Members a closed schema does not have, beside all it demands: clients refuse the whole call for
 * them. One that is like a declared name may be meant for that, and stays.
 */
function dropForbidden(
  repairer: ValueRepairer,
  members: readonly Member[],
  { node, place }: ObjectRepairInput,
): readonly Member[] {
  const [rule, ...otherRules] = node.objects;
  if (rule?.isClosed !== true || otherRules.length > 0 || node.choices.length > 0) return members;
  const { properties, required } = rule;
  const unknown = members.filter(([name]) => !isKnown(node, name));
  const hasDeclared = unknown.length < members.length;
  if (unknown.length === 0 || unknown.length > MOST_FORBIDDEN || !hasDeclared) return members;
  const given = new Set(members.map(([name]) => name));
  if ([...required].some((name) => !given.has(name))) return members;
  const declared = [...properties.keys()];
  const isMeant = ([name]: Member): boolean =>
    declared.some((known) => areRelated(name, known) || isPlural(name, known));
  const dropped = new Set(unknown.filter((member) => !isMeant(member)));
  if (dropped.size === 0) return members;
  repairer.note({
    action: 'dropped',
    path: `${place.path}[*]`,
    reason: told`The tool takes no argument of that name.`,
  });
  return members.filter((member) => !dropped.has(member));
}

interface Renaming extends ObjectRepairInput {
  readonly guessed: Member;
  readonly name: string;
}

/** Undefined when the value does not fit under the other name. */
function rename(
  repairer: ValueRepairer,
  { node, place, guessed, name }: Renaming,
): Member | undefined {
  const path = memberPath(node, place.path, name);
  const child = repairer.work.member(node, name);
  const value = repairer.repair(child, guessed[1], { path, name });
  if (!repairer.work.fits(child, value)) return undefined;
  repairer.note({
    action: 'repaired',
    path,
    reason: told`The argument came under a related name.`,
  });
  return [name, value];
}

function onlyMissing(node: SchemaNode, members: readonly Member[]): string | undefined {
  const given = new Set(members.map(([name]) => name));
  const missing = new Set<string>();
  for (const { required } of node.objects) {
    for (const name of required) {
      if (!given.has(name)) missing.add(name);
      if (missing.size > 1) return undefined;
    }
  }
  const [name] = missing;
  return name;
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
