// Settles `anyOf`, `oneOf` and conditions: collapsed, folded into the object, or kept as alternatives.

import {
  addHint,
  addProperty,
  type ChoiceGroup,
  type Cleaning,
  copyConstraints,
  createFacets,
  type Facets,
  type NodeSource,
} from './facets.ts';
import { gatherSource } from './gather.ts';

/** An alternative stands in a list: `{anyOf: [{…}]}`. */
export const CHOICE_LEVELS = 2;

interface Branch {
  readonly source: NodeSource;
  /** What the branch says by itself. */
  readonly facets: Facets;
}

interface OpenGroup {
  readonly group: ChoiceGroup;
  readonly branches: readonly Branch[];
}

/**
 * Resolves the choices of `facets`. Afterwards `facets` holds everything that is certain and the
 * answer lists the alternatives left, each complete in itself; none when there is no real choice.
 * `fold` puts the properties of all branches into one object, as the upstream's tool roots need.
 */
export function settleChoices(cleaning: Cleaning, facets: Facets, fold: boolean): Facets[] {
  const open = collapse(cleaning, facets);
  if (open.length === 0) return [];
  if (fold || mustFold(facets, open)) {
    for (const each of open) foldGroup(cleaning, facets, each);
    return [];
  }
  const [first, ...others] = open.filter(({ group }) => group.keyword !== 'conditional');
  for (const { group } of others) {
    cleaning.note('dropped', group.path, 'only one choice can be carried beside another');
  }
  return first === undefined ? [] : first.branches.map((branch) => join(cleaning, facets, branch));
}

/** Takes branches that are no choice (null, never, a single one) into the facets. */
function collapse(cleaning: Cleaning, facets: Facets): OpenGroup[] {
  const open: OpenGroup[] = [];
  for (let group = facets.choices.shift(); group !== undefined; group = facets.choices.shift()) {
    const all = group.branches.map((source) => readBranch(cleaning, facets, source));
    const possible = all.filter((branch) => !branch.facets.never);
    const branches = possible.filter((branch) => !isNullOnly(branch.facets));
    const [single] = branches;
    if (single !== undefined && branches.length < possible.length) facets.nullable = true;
    if (branches.length > 1) open.push({ group, branches });
    else if (single !== undefined) gatherSource(cleaning, facets, single.source);
    else if (possible.length > 0) facets.types = ['null'];
    else facets.never = true;
  }
  return open;
}

function readBranch(cleaning: Cleaning, outer: Facets, source: NodeSource): Branch {
  const facets = createFacets(source.all[0]?.path ?? outer.path, outer.level + CHOICE_LEVELS);
  gatherSource(cleaning, facets, source);
  return { source, facets };
}

function isNullOnly(facets: Facets): boolean {
  if (facets.types?.length === 1 && facets.types[0] === 'null') return true;
  const values = facets.enumeration?.values;
  return values?.every((value) => value === null) ?? false;
}

/** Objects with properties of their own, and several choices of objects, become one object. */
function mustFold(facets: Facets, open: readonly OpenGroup[]): boolean {
  if (facets.properties.size > 0) return true;
  const everyIsObject = open.every(({ branches }) =>
    branches.every((branch) => isObjectLike(branch.facets) || saysNothing(branch.facets)),
  );
  const several = open.length > 1 || open.some(({ group }) => group.keyword === 'conditional');
  return several && everyIsObject && open.some(({ branches }) => branches.some(declaresProperties));
}

function isObjectLike(facets: Facets): boolean {
  const type = facets.types ?? (facets.impliedType === undefined ? [] : [facets.impliedType]);
  return type.includes('object');
}

function saysNothing(facets: Facets): boolean {
  return facets.types === undefined && facets.impliedType === undefined;
}

function declaresProperties({ facets }: Branch): boolean {
  return facets.properties.size > 0;
}

/** One object with the properties of every branch; required is what all branches require. */
function foldGroup(cleaning: Cleaning, facets: Facets, { group, branches }: OpenGroup): void {
  const objects = branches.filter(({ facets: branch }) => couldBeObject(branch));
  for (const { facets: branch } of objects) settleChoices(cleaning, branch, true);
  if (objects.length < branches.length) {
    cleaning.note('dropped', group.path, 'branches that are no objects');
  }
  const names = new Set(objects.flatMap(({ facets: branch }) => [...branch.properties.keys()]));
  for (const name of names) addProperty(facets, name, propertyOfBranches(group, objects, name));
  foldRequired(facets, group, objects);
  for (const { facets: branch } of objects) {
    facets.otherProperties ??= branch.otherProperties;
    facets.takesOthers ||= branch.takesOthers;
    facets.unexpanded ??= branch.unexpanded;
    for (const text of [...branch.descriptions, ...branch.hints]) addHint(facets, text);
  }
  if (group.keyword === 'conditional') return;
  cleaning.note('approximated', group.path, 'the branches share one object');
}

function couldBeObject(facets: Facets): boolean {
  return facets.types === undefined ? !isOtherThanObject(facets) : facets.types.includes('object');
}

function isOtherThanObject(facets: Facets): boolean {
  return facets.impliedType !== undefined && facets.impliedType !== 'object';
}

function propertyOfBranches(
  group: ChoiceGroup,
  branches: readonly Branch[],
  name: string,
): NodeSource {
  const sources: NodeSource[] = [];
  for (const { facets } of branches) {
    const source = facets.properties.get(name);
    if (source !== undefined) sources.push(source);
  }
  const [single] = sources;
  if (single !== undefined && sources.length === 1) return single;
  return { all: [], any: [{ branches: sources, keyword: 'anyOf', path: group.path }] };
}

function foldRequired(facets: Facets, group: ChoiceGroup, branches: readonly Branch[]): void {
  const lists = branches.map(({ facets: branch }) => [...branch.required.keys()]);
  const [first, ...others] = lists;
  if (first === undefined) return;
  for (const name of first) {
    if (others.every((list) => list.includes(name))) facets.required.set(name, group.path);
  }
  const needs = lists
    .map((list) => list.filter((name) => !facets.required.has(name)).join(' + '))
    .filter((words) => words !== '');
  if (needs.length > 1 || (needs.length > 0 && group.keyword !== 'conditional')) {
    addHint(facets, `needs ${[...new Set(needs)].join(' or ')}`);
  }
}

/** The branch together with everything the schema around it says. */
function join(cleaning: Cleaning, facets: Facets, branch: Branch): Facets {
  const joined = copyConstraints(facets);
  joined.path = branch.facets.path;
  joined.level = branch.facets.level;
  joined.keyOrder = branch.facets.keyOrder;
  gatherSource(cleaning, joined, branch.source);
  return joined;
}
