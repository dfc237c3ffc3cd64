// The selection log: why this account. Each account with its verdict, or each verdict with its accounts.

import type { CandidateGroup, ModelIndex } from './model-index.ts';
import { type Candidate, type SelectionLogEntry, tierRank } from './pool.ts';
import {
  type Choice,
  type ChosenBy,
  OVERLOADED,
  TRIED,
  type UsableCandidates,
} from './selection.ts';

export interface SelectionLogOptions {
  readonly index: ModelIndex;
  readonly usable: UsableCandidates;
  readonly choice: Choice | undefined;
  /** Accounts already tried for this request. */
  readonly tried: ReadonlySet<string>;
}

const MAX_LISTED = 50;
const EXAMPLES = 3;

const CHOSEN: Readonly<Record<ChosenBy, string>> = {
  'fixed-account': 'chosen (the fixed account)',
  'preferred-account': 'chosen (the preferred account)',
  session: 'chosen (the account of the session)',
  'preferred-tier': 'chosen (of the tier asked for)',
  'most-room': 'chosen',
  trial: 'chosen (to see whether it serves again)',
};
const LOWERED = 'fails more than others';
const PASSED_OVER = 'another was preferred';

export function toSelectionLog(options: SelectionLogOptions): readonly SelectionLogEntry[] {
  const { index } = options;
  if (index.size <= MAX_LISTED) return logEach(index.all(), options);
  const listed = listedOf(options);
  return [...logEach(listed.values(), options), ...logGroups(options, listed)];
}

/** Each of these candidates with its verdict. */
export function logEach(
  candidates: Iterable<Candidate>,
  { usable, choice }: Pick<SelectionLogOptions, 'usable' | 'choice'>,
): readonly SelectionLogEntry[] {
  const entries: SelectionLogEntry[] = [];
  for (const candidate of candidates) {
    const accountId = candidate.account.record.id;
    if (candidate === choice?.candidate) {
      entries.push({ accountId, verdict: CHOSEN[choice.by] });
      continue;
    }
    const found = usable.verdictOf(candidate);
    const verdict =
      found.kind === 'eligible' ? whyNotChosen(candidate, usable, choice) : found.verdict;
    entries.push({ accountId, verdict });
  }
  return entries;
}

function whyNotChosen(
  candidate: Candidate,
  usable: UsableCandidates,
  choice: Choice | undefined,
): string {
  if (usable.isLowered(candidate)) return LOWERED;
  if (choice?.by !== 'most-room') return PASSED_OVER;
  const { priority, tier } = candidate.account.record;
  const winner = choice.candidate.account.record;
  if (priority < winner.priority) return 'has a lower priority';
  if (tierRank(tier) > tierRank(winner.tier)) return 'is of a lower tier';
  return PASSED_OVER;
}

/** The chosen account, and those this request has tried, by id. */
function listedOf({
  index,
  usable,
  choice,
  tried,
}: SelectionLogOptions): ReadonlyMap<string, Candidate> {
  const listed = new Map<string, Candidate>();
  if (choice !== undefined) listed.set(choice.candidate.account.record.id, choice.candidate);
  for (const accountId of tried) {
    const candidate = index.peek(accountId);
    if (candidate !== undefined && usable.verdictOf(candidate) === TRIED) {
      listed.set(accountId, candidate);
    }
  }
  return listed;
}

function logGroups(
  { index, usable }: SelectionLogOptions,
  listed: ReadonlyMap<string, Candidate>,
): SelectionLogEntry[] {
  const entries: SelectionLogEntry[] = [];
  for (const { eligibility, accountIds } of index.unusableGroups()) {
    entries.push({
      count: accountIds.size,
      verdict: eligibility.verdict,
      accountIds: examplesOf(accountIds),
    });
  }
  const groups = [...index.groups()].filter(({ size }) => size > 0);
  const isOverloaded = (group: CandidateGroup): boolean => usable.groupOverloadMs(group) > 0;
  const passedOver = groups.filter((group) => !isOverloaded(group));
  return [
    ...entries,
    ...logEligible(groups.filter(isOverloaded), OVERLOADED, new Map()),
    ...logEligible(passedOver, PASSED_OVER, listed),
  ];
}

function logEligible(
  groups: readonly CandidateGroup[],
  verdict: string,
  listed: ReadonlyMap<string, Candidate>,
): SelectionLogEntry[] {
  const count = groups.reduce((sum, { size }) => sum + size, 0) - listed.size;
  if (count <= 0) return [];
  return [{ count, verdict, accountIds: examplesOf(unlistedOf(groups, listed)) }];
}

function* unlistedOf(
  groups: readonly CandidateGroup[],
  listed: ReadonlyMap<string, Candidate>,
): Iterable<string> {
  for (const { members } of groups.flatMap(({ tiers }) => tiers.flat())) {
    for (const { account } of members) if (!listed.has(account.record.id)) yield account.record.id;
  }
}

function examplesOf(accountIds: Iterable<string>): readonly string[] {
  const examples: string[] = [];
  for (const id of accountIds) if (examples.push(id) === EXAMPLES) break;
  return examples;
}
