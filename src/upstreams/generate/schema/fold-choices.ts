// Folds choices between objects into one object that takes what any of them takes.

import { told } from '../../../canonical/receipt.ts';
import { objectWords, sayCase } from './cases.ts';
import {
  addHint,
  addProperty,
  type CaseSource,
  type ChoiceGroup,
  type Cleaning,
  type Facets,
  sourceOfCases,
  unionOfCases,
} from './facets.ts';
import { type Branch, type OpenGroup, openChoices } from './open-choices.ts';

/** One object with the properties of every branch; required is what all branches require. */
export function foldChoices(cleaning: Cleaning, facets: Facets, open: readonly OpenGroup[]): void {
  foldGroups(cleaning, facets, open);
  placeSometimes(facets);
}

/** Leaves aside what is declared in some cases only, so that it can be seen together. */
function foldGroups(cleaning: Cleaning, facets: Facets, open: readonly OpenGroup[]): void {
  for (const each of open) foldGroup(cleaning, facets, each);
}

function foldGroup(cleaning: Cleaning, facets: Facets, { group, branches }: OpenGroup): void {
  const couldBe = branches.filter(({ facets: branch }) => couldBeObject(branch));
  for (const { facets: branch } of couldBe) {
    foldGroups(cleaning, branch, openChoices(cleaning, branch));
  }
  const objects = couldBe.filter(({ facets: branch }) => !branch.never);
  if (objects.length < branches.length && group.keyword !== 'conditional') {
    cleaning.note('dropped', group.path, told`branches that are no objects`);
  }
  for (const [name, told] of readProperties(objects)) {
    foldProperty(facets, told, {
      name,
      path: group.path,
      isSure: told.declared.length === objects.length,
    });
  }
  foldRequired(facets, group, objects);
  for (const branch of objects) foldRest(facets, branch);
  if (group.keyword === 'conditional') return;
  cleaning.note('approximated', group.path, told`the branches share one object`);
}

function couldBeObject(facets: Facets): boolean {
  return facets.types === undefined ? !isOtherThanObject(facets) : facets.types.includes('object');
}

function isOtherThanObject(facets: Facets): boolean {
  return facets.impliedType !== undefined && facets.impliedType !== 'object';
}

/** What the branches of a group tell of one property. */
interface ToldProperty {
  readonly declared: CaseSource[];
  readonly partly: CaseSource[];
}

/** In the order the names come. */
function readProperties(branches: readonly Branch[]): ReadonlyMap<string, ToldProperty> {
  const properties = new Map<string, ToldProperty>();
  const propertyAt = (name: string): ToldProperty => {
    const told = properties.get(name) ?? { declared: [], partly: [] };
    properties.set(name, told);
    return told;
  };
  for (const { facets: branch, when } of branches) {
    for (const [name, source] of branch.properties)
      propertyAt(name).declared.push({ source, when });
    for (const [name, inner] of branch.sometimes) {
      const { partly } = propertyAt(name);
      for (const one of inner) {
        partly.push({ source: one.source, when: bothWords(when, one.when) });
      }
    }
  }
  return properties;
}

/** What every branch declares holds; a branch that says nothing of a property lets it be anything. */
function foldProperty(
  facets: Facets,
  { declared, partly }: ToldProperty,
  {
    name,
    path,
    isSure,
  }: { readonly name: string; readonly path: string; readonly isSure: boolean },
): void {
  const known = facets.sometimes.get(name);
  if (known !== undefined || !facets.properties.has(name) || !isSure || partly.length > 0) {
    facets.sometimes.set(name, [...(known ?? []), ...(isSure ? [] : declared), ...partly]);
  }
  if (isSure) addProperty(facets, name, unionOfCases(declared, path));
}

function bothWords(outer: string | undefined, inner: string | undefined): string | undefined {
  return outer === undefined || inner === undefined ? (outer ?? inner) : `${outer} and ${inner}`;
}

/** Declares what was left aside, in the order the names came. */
function placeSometimes(facets: Facets): void {
  for (const [name, some] of facets.sometimes) {
    const known = facets.properties.get(name);
    if (some.length === 0 && known !== undefined) {
      facets.properties.delete(name);
      facets.properties.set(name, known);
    } else {
      const source = known === undefined ? unionOfCases : sourceOfCases;
      addProperty(facets, name, source(some, facets.path));
    }
  }
  facets.sometimes.clear();
}

function foldRequired(facets: Facets, group: ChoiceGroup, branches: readonly Branch[]): void {
  const lists = branches.map(({ facets: branch }) => [...branch.required.keys()]);
  const [first, ...others] = lists;
  if (first === undefined) return;
  for (const name of first) {
    if (others.every((list) => list.includes(name))) facets.required.set(name, group.path);
  }
  if (group.cases !== undefined) return;
  const needs = lists.map((list) => list.filter((name) => !facets.required.has(name)).join(' + '));
  if (needs.every((words) => words === '')) return;
  const words = new Set(needs.map((each) => (each === '' ? 'nothing more' : each)));
  addHint(facets, `needs ${[...words].join(' or ')}`);
}

function foldRest(facets: Facets, { facets: branch, when }: Branch): void {
  facets.otherProperties ??= branch.otherProperties;
  facets.takesOthers ||= branch.takesOthers;
  for (const [name, source] of branch.asked) facets.asked.set(name, source);
  facets.unexpanded ??= branch.unexpanded;
  if (when !== undefined) sayCase(facets, when, objectWords(facets, branch));
  else for (const text of [...branch.descriptions, ...branch.hints]) addHint(facets, text);
}
