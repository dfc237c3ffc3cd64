// Finds the rules that cover an address, among many, with one look-up for each prefix length in use.

import { type IpAddress, type IpRange, widthOf } from './ip-address.ts';

export interface RuleIndex<Rule> {
  /** The covering rules, the narrowest range first. */
  find(address: IpAddress): readonly Rule[];
  /** Look-ups that one `find` takes, however many rules there are. */
  costOf(family: IpAddress['family']): number;
}

interface Level<Rule> {
  /** Bits below the prefix. */
  readonly hostBits: bigint;
  readonly rules: Map<bigint, Rule[]>;
}

type Levels<Rule> = readonly Level<Rule>[];

export function createRuleIndex<Rule extends { readonly range: IpRange }>(
  rules: Iterable<Rule>,
): RuleIndex<Rule> {
  const all = [...rules];
  const byFamily = { 4: buildLevels(all, 4), 6: buildLevels(all, 6) };
  return {
    find({ family, value }) {
      const found: Rule[] = [];
      for (const { hostBits, rules: level } of byFamily[family]) {
        const covering = level.get(value >> hostBits);
        if (covering !== undefined) found.push(...covering);
      }
      return found;
    },
    costOf: (family) => byFamily[family].length,
  };
}

function buildLevels<Rule extends { readonly range: IpRange }>(
  rules: readonly Rule[],
  family: IpAddress['family'],
): Levels<Rule> {
  const ofFamily = rules.filter(({ range }) => range.family === family);
  const byBits = Map.groupBy(ofFamily, ({ range }) => range.prefixBits);
  return [...byBits]
    .sort(([left], [right]) => right - left)
    .map(([prefixBits, ofBits]) => {
      const hostBits = BigInt(widthOf({ family }) - prefixBits);
      return { hostBits, rules: Map.groupBy(ofBits, ({ range }) => range.value >> hostBits) };
    });
}
