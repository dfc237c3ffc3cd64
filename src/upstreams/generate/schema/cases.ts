// Says in words what holds in one of several cases, where the upstream's schema has no place for it.

import { addHint, type Facets } from './facets.ts';
import { sayLimit, sayList, sayMembers } from './plain-words.ts';

/** Adds what a case demands beyond the rest, such as `if kind is "a": needs path`. */
export function sayCase(facets: Facets, when: string | undefined, words: readonly string[]): void {
  if (words.length > 0) addHint(facets, `${when ?? 'in some cases'}: ${words.join(', ')}`);
}

/** A case that must not be. */
export function sayNever(facets: Facets, when: string | undefined): void {
  if (when !== undefined) addHint(facets, `never ${when}`);
}

/** What a case says of the object as a whole; its properties are declared. */
export function objectWords(outer: Facets, branch: Facets): string[] {
  const needed = [...branch.required.keys()].filter((name) => !outer.required.has(name));
  const { descriptions, hints } = branch;
  return [
    ...valueWords(branch),
    ...(needed.length > 0 ? [`needs ${needed.join(' and ')}`] : []),
    ...limitWords(branch),
    ...descriptions,
    ...hints,
  ];
}

/** What a case says of a value that is declared without it. */
export function allWords(outer: Facets, branch: Facets): string[] {
  const { types, properties, unexpanded, format } = branch;
  const isNarrower = types !== undefined && types.join() !== outer.types?.join();
  return [
    ...(isNarrower && branch.enumeration === undefined ? [types.join(' or ')] : []),
    ...(properties.size > 0 ? [sayMembers([...properties.keys()])] : []),
    ...(unexpanded === undefined ? [] : [unexpanded]),
    ...(format === undefined ? [] : [`format ${format.name}`]),
    ...objectWords(outer, branch),
  ];
}

function valueWords({ enumeration }: Facets): string[] {
  if (enumeration === undefined) return [];
  const [value] = enumeration.values;
  const isSingle = enumeration.values.length === 1 && value !== undefined;
  return [isSingle ? sayList([value]) : `one of ${sayList(enumeration.values)}`];
}

function limitWords({ limits, exclusiveMinimum, exclusiveMaximum }: Facets): string[] {
  const words = [...limits].map(([name, { value }]) => sayLimit(name, value));
  if (exclusiveMinimum !== undefined) words.push(`more than ${exclusiveMinimum.value}`);
  if (exclusiveMaximum !== undefined) words.push(`less than ${exclusiveMaximum.value}`);
  return words;
}
