// Reads family, version and stage from model ids, and finds the newest model of a family in a list.

import type { FamiliesSettings, ModelFamily } from '../config/settings.ts';
import {
  compareCodePoints,
  createWildcard,
  foldCase,
  isWildcard,
  nearestName,
  type Wildcard,
} from '../lib/names.ts';
import { remember } from '../lib/once.ts';
import { neutralModelName, realModelName } from '../wire/vocabulary.ts';

export type Families = ReturnType<typeof createFamilies>;

/** A model list: unchanged while it is the same object. */
type ListedIds = ReadonlyMap<string, unknown>;

/** A family, or a variant of it whose names say more: `alpha-3-pro-high`, `beta-sonnet-4-6-thinking`. */
type Line = ModelFamily | 'pro-high' | 'pro-low' | `${'opus' | 'sonnet' | 'haiku'}-thinking`;

/** The words of an id without numbers and stage → its line. Any other word makes it another model. */
const LINE_OF_WORDS: ReadonlyMap<string, Line> = new Map([
  ['gemini pro', 'pro'],
  ['gemini pro high', 'pro-high'],
  ['gemini pro low', 'pro-low'],
  ['gemini flash', 'flash'],
  ['gemini flash lite', 'flash-lite'],
  ['gemini image', 'image'],
  ['gemini pro image', 'image'],
  ['gemini flash image', 'image'],
  ['gemini flash lite image', 'image'],
  ['gemini flash image generation', 'image'],
  ['gemini nano banana', 'image'],
  ['gemini nano banana pro', 'image'],
  ['nano banana', 'image'],
  ['nano banana pro', 'image'],
  ['gemini embedding', 'embedding'],
  ['claude opus', 'opus'],
  ['claude opus thinking', 'opus-thinking'],
  ['claude sonnet', 'sonnet'],
  ['claude sonnet thinking', 'sonnet-thinking'],
  ['claude haiku', 'haiku'],
  ['claude haiku thinking', 'haiku-thinking'],
  ['gpt', 'gpt'],
  ['gpt mini', 'mini'],
  ['gpt nano', 'nano'],
]);

const WORDS: ReadonlySet<string> = new Set(
  [...LINE_OF_WORDS.keys()].flatMap((words) => words.split(' ')),
);

/** The name with each word that is nearly one of families as that. */
export function respelt(name: string): string {
  const respell = (word: string): string =>
    WORDS.has(word) ? word : (nearestName(word, WORDS) ?? word);
  return foldCase(name).replaceAll(/[a-z]{3,}/g, respell);
}

const FAMILIES: readonly ModelFamily[] = [
  ...(['pro', 'flash', 'flash-lite', 'image', 'embedding'] as const),
  ...(['opus', 'sonnet', 'haiku', 'gpt', 'mini', 'nano'] as const),
];

function familyOfLine(line: Line | undefined): ModelFamily | undefined {
  const name = line?.replace(/-(?:high|low|thinking)$/, '');
  return FAMILIES.find((family) => family === name);
}

/** Words that say how finished a model is; those without one are stable. */
const STAGES: ReadonlyMap<string, number> = new Map([
  ['preview', 1],
  ['exp', 2],
  ['experimental', 2],
]);

/** Lines of equal worth, the fitting one first; the next group counts where a list has none of these. */
type Choice = readonly (readonly Line[])[];

const PRO: Choice = [['pro', 'pro-high', 'pro-low']];

/** The names of the catalogue that stand for a family. Vectors of two models do not compare: none embeds. */
const CHOICES: ReadonlyMap<string, Choice> = new Map<string, Choice>([
  ['alpha-3-flash', [['flash']]],
  ['alpha-3-pro-high', [['pro-high', 'pro', 'pro-low']]],
  ['alpha-3-pro-low', [['pro-low', 'pro', 'pro-high']]],
  ['alpha-3-pro-image', [['image']]],
  ['beta-sonnet-4-6', [['sonnet', 'sonnet-thinking'], ...PRO]],
  ['beta-sonnet-4-6-thinking', [['sonnet-thinking', 'sonnet'], ...PRO]],
  ['beta-opus-4-6-thinking', [['opus-thinking', 'opus'], ...PRO]],
]);

/** The generation of the catalogue's names: what is older comes after all that is not. */
const GENERATION: ReadonlyMap<string, number> = new Map([
  ['gemini', 3],
  ['claude', 4],
]);

interface Release {
  readonly line: Line | undefined;
  readonly age: 'current' | 'unnumbered' | 'older';
  readonly stage: number;
  readonly version: readonly number[];
  /** Of image models: 0 for the stronger ones. */
  readonly rank: number;
  /** Date or revision; 0 where the id has none, which then means the best of its version. */
  readonly date: number;
}

const AGES: readonly Release['age'][] = ['current', 'unnumbered', 'older'];

export function createFamilies(settings: FamiliesSettings = {}) {
  const lists = new WeakMap<ListedIds, Map<string, string | undefined>>();
  const wishes = compileWishes(settings);
  const releaseOf = remember(MAX_REMEMBERED, parseRelease);
  const wished = ([line]: readonly Line[], ids: readonly string[]): string | undefined =>
    findWished(wishes.get(familyOfLine(line) ?? ''), ids, releaseOf);
  const find = (choice: Choice, ids: readonly string[]): string | undefined => {
    for (const lines of choice) {
      const found = wished(lines, ids) ?? bestOf(lines, ids, releaseOf);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    preferred(name: string, listed: ListedIds): string | undefined {
      if (wishes.size === 0) return undefined;
      const ids = [...listed.keys()];
      // A vendor's own name, such as `gemini-3-flash`, is that model where an account has it.
      for (const lines of CHOICES.get(name) ?? []) {
        const found = wished(lines, ids);
        if (found !== undefined || bestOf(lines, ids, releaseOf) !== undefined) return found;
      }
      return undefined;
    },
    /** The id that the operator prefers for a catalogue name, for an account whose list is unknown. */
    unlisted(name: string): string | undefined {
      const family = familyOfLine(choiceOf(name)?.[0]?.[0]);
      return family && settings[family]?.find((id) => !isWildcard(id));
    },
    /** The best model of the list for a catalogue name; undefined for other names. */
    newest(name: string, listed: ListedIds): string | undefined {
      const choice = choiceOf(name);
      if (choice === undefined) return undefined;
      const known = lists.get(listed) ?? new Map<string, string | undefined>();
      lists.set(listed, known);
      if (!known.has(name)) known.set(name, find(choice, [...listed.keys()]));
      return known.get(name);
    },
    /** Of a model that serves the name because its account has none of the family, or not the version that is named. */
    lossOf(name: string, id: string): 'family' | 'version' | undefined {
      const [own, ...others] = choiceOf(name) ?? [];
      if (own === undefined || id === name || wished(own, [id]) !== undefined) return undefined;
      const { line, stage, version } = releaseOf(id);
      if (line !== undefined && others.some((lines) => lines.includes(line))) return 'family';
      // A name of the catalogue means the newest of a family, a vendor's own one version of it.
      const named = CHOICES.has(name) ? undefined : releaseOf(name);
      const isNamed = named?.stage === stage && named.version.join('.') === version.join('.');
      return isNamed ? undefined : 'version';
    },
    newestOf: (family: ModelFamily, offered: Iterable<string>) => find([[family]], [...offered]),
    preferredOf: (family: ModelFamily, offered: Iterable<string>) => wished([family], [...offered]),
  };
}

type Wishes = ReadonlyMap<string, readonly Wildcard[]>;

function compileWishes(settings: FamiliesSettings): Wishes {
  const compiled = Object.entries(settings).map(
    ([family, ids]) => [family, ids.map((id) => createWildcard(neutral(id)))] as const,
  );
  return new Map(compiled.filter(([, wildcards]) => wildcards.length > 0));
}

/** What the first wish matches that matches anything; of several ids the newest. */
function findWished(
  wildcards: readonly Wildcard[] = [],
  ids: readonly string[],
  releaseOf: ReadRelease,
): string | undefined {
  for (const wildcard of wildcards) {
    const matching = ids.filter((id) => wildcard.matches(neutral(id)));
    const [best] = matching
      .map((id) => ({ ...releaseOf(id), id, fit: 0 }))
      .toSorted(compareCandidates);
    if (best !== undefined) return best.id;
  }
  return undefined;
}

function bestOf(
  lines: readonly Line[],
  ids: readonly string[],
  releaseOf: ReadRelease,
): string | undefined {
  const candidates = ids.flatMap((id) => {
    const release = releaseOf(id);
    const fit = release.line === undefined ? -1 : lines.indexOf(release.line);
    return fit === -1 ? [] : [{ ...release, id, fit }];
  });
  return candidates.toSorted(compareCandidates)[0]?.id;
}

/** Both vocabularies serve. */
function neutral(id: string): string {
  return neutralModelName(foldCase(id));
}

function choiceOf(name: string): Choice | undefined {
  return CHOICES.get(neutralModelName(name));
}

/** The family of a name by its words, whatever its version. */
export function familyOf(id: string): ModelFamily | undefined {
  return familyOfLine(parseRelease(id).line);
}

interface Candidate extends Release {
  readonly id: string;
  readonly fit: number;
}

/** Best first. */
function compareCandidates(left: Candidate, right: Candidate): number {
  const [major = 0, ...minor] = left.version;
  const [otherMajor = 0, ...otherMinor] = right.version;
  return (
    AGES.indexOf(left.age) - AGES.indexOf(right.age) ||
    left.stage - right.stage ||
    otherMajor - major ||
    left.fit - right.fit ||
    left.rank - right.rank ||
    compareNumbers(otherMinor, minor) ||
    Number(left.date !== 0) - Number(right.date !== 0) ||
    right.date - left.date ||
    left.id.length - right.id.length ||
    compareCodePoints(left.id, right.id)
  );
}

function compareNumbers(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Every list is read for every name, and most lists hold the same ids; an upstream may list any. */
const MAX_REMEMBERED = 20_000;

type ReadRelease = (id: string) => Release;

/**
 * Numbers before the stage are the version, unless of three, four or eight digits; those after it a date. Who stands in
 * front, as in `anthropic/claude-sonnet-4.5`, is not looked at.
 */
function parseRelease(id: string): Release {
  const name = realModelName(foldCase(id).replace(/^.*\//, ''));
  const words: string[] = [];
  const version: number[] = [];
  const dates: string[] = [];
  let stage = 0;
  for (const token of name.split(/[-@]/)) {
    const found = STAGES.get(token);
    if (found !== undefined) stage = Math.max(stage, found);
    else if (/^\d{1,2}(?:\.\d{1,3})*$/.test(token) && stage === 0 && dates.length === 0)
      version.push(...token.split('.').map(Number));
    else if (/^\d+$/.test(token)) dates.push(token);
    else if (token !== 'latest') words.push(token);
  }
  const line = LINE_OF_WORDS.get(words.join(' '));
  const [revision = ''] = dates;
  if (version.length === 0 && stage === 0 && /^\d{3}$/.test(revision)) {
    version.push(Number(revision));
  }
  return {
    line,
    stage,
    version,
    age: ageOf(words, version),
    rank: rankOf(words),
    date: toDate(dates),
  };
}

/** Models called by a name of their own have numbers of their own. */
function ageOf(words: readonly string[], [major]: readonly number[]): Release['age'] {
  if (major === undefined || words.includes('banana')) return 'unnumbered';
  const isEmbedding = words.includes('embedding');
  const current = isEmbedding ? 0 : (GENERATION.get(words[0] ?? '') ?? 0);
  return major >= current ? 'current' : 'older';
}

function rankOf(words: readonly string[]): number {
  return words.includes('image') && !words.includes('pro') ? 1 : 0;
}

/** `20250929`, `2025-09-29`, `09-2025`, `05-20` and `001`, by rising recency. */
function toDate(parts: readonly string[]): number {
  const year = parts.find((part) => part.length === 4);
  const rest = parts.filter((part) => part !== year).join('');
  return Number(`${year ?? ''}${year === undefined ? rest : rest.padEnd(4, '0')}`);
}
