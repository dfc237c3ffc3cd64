// Reads the branches of choices, and settles those that are no choice.

import { sayCase, sayNever } from './cases.ts';
import {
  addHint,
  type ChoiceGroup,
  type Cleaning,
  createFacets,
  type Facets,
  type NodeSource,
} from './facets.ts';
import { gatherSource } from './gather.ts';

/** An alternative stands in a list: `{anyOf: [{…}]}`. */
export const CHOICE_LEVELS = 2;

export interface Branch {
  readonly source: NodeSource;
  /** What the branch says by itself. */
  readonly facets: Facets;
  /** When it holds, where that is known. */
  readonly when: string | undefined;
}

export interface OpenGroup {
  readonly group: ChoiceGroup;
  readonly branches: readonly Branch[];
}

/** Takes branches that are no choice (null, never, a single one) into the facets; answers the rest. */
export function openChoices(cleaning: Cleaning, facets: Facets): OpenGroup[] {
  const open: OpenGroup[] = [];
  for (let group = facets.choices.shift(); group !== undefined; group = facets.choices.shift()) {
    const branches = branchesLeft(facets, group, readBranches(cleaning, facets, group));
    const [single] = branches;
    if (branches.length > 1) open.push({ group, branches });
    else if (single !== undefined) takeSingle(cleaning, facets, { group, single });
  }
  return open;
}

function takeSingle(
  cleaning: Cleaning,
  facets: Facets,
  { group, single }: { readonly group: ChoiceGroup; readonly single: Branch },
): void {
  gatherSource(cleaning, facets, single.source);
  if (group.keyword === 'conditional' || single.when === undefined) return;
  addHint(facets, single.when);
}

function readBranches(cleaning: Cleaning, outer: Facets, group: ChoiceGroup): Branch[] {
  return group.branches.map((source, index) => {
    const facets = createFacets(source.all[0]?.path ?? outer.path, outer.level + CHOICE_LEVELS);
    gatherSource(cleaning, facets, source);
    return { source, facets, when: group.cases?.[index] };
  });
}

/** The branches that have a value other than null. */
function branchesLeft(facets: Facets, group: ChoiceGroup, all: readonly Branch[]): Branch[] {
  const isCondition = group.keyword === 'conditional';
  const possible = all.filter((branch) => !branch.facets.never);
  const branches = possible.filter((branch) => !isNullOnly(branch.facets));
  if (isCondition) sayWithout(facets, all, branches);
  if (possible.length === 0) facets.never = true;
  else if (branches.length === 0) facets.types = ['null'];
  else if (branches.length < possible.length && !(isCondition && isNeverNull(facets))) {
    facets.nullable = true;
  }
  return branches;
}

function sayWithout(facets: Facets, all: readonly Branch[], left: readonly Branch[]): void {
  for (const branch of all) {
    if (branch.facets.never) sayNever(facets, branch.when);
    else if (!left.includes(branch)) sayCase(facets, branch.when, ['null']);
  }
}

function isNeverNull({ types }: Facets): boolean {
  return types !== undefined && !types.includes('null');
}

function isNullOnly(facets: Facets): boolean {
  if (facets.types?.length === 1 && facets.types[0] === 'null') return true;
  const values = facets.enumeration?.values;
  return values?.every((value) => value === null) ?? false;
}
