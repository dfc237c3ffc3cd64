// Settles `anyOf`, `oneOf` and conditions: collapsed, folded into the object, or kept as alternatives.

import { told } from '../../../canonical/receipt.ts';
import { allWords, sayCase } from './cases.ts';
import {
  ANYTHING,
  addHint,
  type Cleaning,
  copyConstraints,
  type Facets,
  joinSources,
  sourceOfCases,
  unionOfCases,
} from './facets.ts';
import { foldChoices } from './fold-choices.ts';
import { gatherSource } from './gather.ts';
import { type Branch, CHOICE_LEVELS, type OpenGroup, openChoices } from './open-choices.ts';

/**
 * Resolves the choices of `facets`. Afterwards `facets` holds everything that is certain and the
 * answer lists the alternatives left, each complete in itself; none when there is no real choice.
 * `fold` puts the properties of all branches into one object, as the upstream's tool roots need.
 */
export function settleChoices(cleaning: Cleaning, facets: Facets, fold: boolean): Facets[] {
  const open = openChoices(cleaning, facets);
  if (open.length === 0) return [];
  if (fold || mustFold(facets, open)) {
    foldChoices(cleaning, facets, open);
    return [];
  }
  const conditions = open.filter(isCondition);
  const [first, ...others] = open.filter((each) => !isCondition(each));
  for (const { group } of others) {
    cleaning.note('dropped', group.path, told`only one choice can be carried beside another`);
  }
  if (first !== undefined) {
    return first.branches.map((branch) => join(cleaning, facets, { branch, conditions }));
  }
  return settleConditions(cleaning, facets, conditions);
}

function isCondition({ group }: OpenGroup): boolean {
  return group.keyword === 'conditional';
}

/** Objects with properties of their own or asked about, and several choices of objects, become one object. */
function mustFold(facets: Facets, open: readonly OpenGroup[]): boolean {
  if (facets.properties.size > 0 || facets.asked.size > 0) return true;
  const conditions = open.filter(isCondition);
  if (conditions.length > 0 && isUnknown(facets)) return false;
  const everyIsObject = open.every(({ branches }) =>
    branches.every((branch) => isOfType(branch.facets, 'object') || isUnknown(branch.facets)),
  );
  const several = open.length > 1 || conditions.length > 0;
  return several && everyIsObject && open.some(({ branches }) => branches.some(declaresProperties));
}

function isOfType(facets: Facets, type: 'object' | 'array'): boolean {
  const types = facets.types ?? (facets.impliedType === undefined ? [] : [facets.impliedType]);
  return types.includes(type);
}

function isUnknown(facets: Facets): boolean {
  return facets.types === undefined && facets.impliedType === undefined;
}

function declaresProperties({ facets }: Branch): boolean {
  return facets.properties.size > 0;
}

/**
 * Conditions on something that is no object with properties. They are said in words, but for what they declare of
 * objects and lists: that is an alternative to a value nothing else is known of.
 */
function settleConditions(
  cleaning: Cleaning,
  facets: Facets,
  conditions: readonly OpenGroup[],
): Facets[] {
  const isFree = isUnknown(facets) && facets.enumeration === undefined;
  const shaped = isFree ? conditions.find(({ branches }) => branches.some(hasShape)) : undefined;
  for (const each of conditions) {
    if (isOfType(facets, 'array')) addItems(facets, each);
    for (const branch of each.branches) {
      if (each === shaped && hasShape(branch)) continue;
      sayCase(facets, branch.when, allWords(facets, branch.facets));
    }
  }
  if (shaped === undefined) return [];
  const others = conditions.filter((each) => each !== shaped);
  const alternatives = shaped.branches
    .filter(hasShape)
    .map((branch) => join(cleaning, facets, { branch, conditions: others }));
  if (alternatives.length < shaped.branches.length) {
    // Of what else there may be nothing is known, whatever the other conditions say.
    alternatives.push({ ...copyConstraints(facets), level: facets.level + CHOICE_LEVELS });
  }
  return alternatives;
}

function hasShape({ facets }: Branch): boolean {
  return isOfType(facets, 'object') || isOfType(facets, 'array');
}

/** Items that are declared in some cases only; what always holds of items is not narrowed. */
function addItems(facets: Facets, { group, branches }: OpenGroup): void {
  const declared = branches.flatMap(({ facets: { items: source }, when }) =>
    source === undefined ? [] : [{ source, when }],
  );
  if (declared.length === 0) return;
  const isSure = declared.length === branches.length;
  const source = isSure ? unionOfCases(declared, group.path) : sourceOfCases(declared, group.path);
  facets.items = joinSources(facets.items ?? ANYTHING, source);
}

/** The branch together with everything the schema around it says. */
function join(
  cleaning: Cleaning,
  facets: Facets,
  { branch, conditions }: { readonly branch: Branch; readonly conditions: readonly OpenGroup[] },
): Facets {
  const joined = copyConstraints(facets);
  joined.path = branch.facets.path;
  joined.level = branch.facets.level;
  joined.keyOrder = branch.facets.keyOrder;
  joined.choices = conditions.map(({ group }) => group);
  gatherSource(cleaning, joined, branch.source);
  if (branch.when !== undefined) addHint(joined, branch.when);
  return joined;
}
