// The why-this-account record: each account looked at, or each reason with its accounts, and a verdict.

import type { CandidateGroup, ModelIndex, Rank, UsableCandidates } from './model-index.ts';
import { type Candidate, type SelectionLogEntry, tierRank } from './pool.ts';
import type { Choice, ChosenBy } from './selection.ts';

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
const TRIED = 'already tried';
const LOWERED = 'fails more than others';
const OVERLOADED = 'upstream is overloaded';
const PASSED_OVER = 'another was preferred';

export function toSelectionLog(options: SelectionLogOptions): readonly SelectionLogEntry[] {
  const { index } = options;
  return index.size <= MAX_LISTED
    ? Array.from(index.all(), (candidate) => ({
        accountId: candidate.account.record.id,
        verdict: verdictOf(candidate, options),
      }))
    : [...oneByOne(options), ...inGroups(options)];
}

/** What was found at these alone, where no others were asked for. */
export function logOnly(
  candidates: readonly Candidate[],
  options: Pick<SelectionLogOptions, 'usable' | 'choice'>,
): readonly SelectionLogEntry[] {
  return candidates.map((candidate) => ({
    accountId: candidate.account.record.id,
    verdict: verdictOf(candidate, options),
  }));
}

function verdictOf(
  candidate: Candidate,
  { usable, choice }: Pick<SelectionLogOptions, 'usable' | 'choice'>,
): string {
  if (candidate === choice?.candidate) return CHOSEN[choice.by];
  const { eligibility } = candidate;
  if (eligibility.kind !== 'eligible') return eligibility.verdict;
  if (usable.overloadMs(candidate) > 0) return OVERLOADED;
  if (usable.isTried(candidate)) return TRIED;
  if (usable.isLowered(candidate)) return LOWERED;
  return choice?.by === 'most-room' ? lostBy(candidate, choice.candidate) : PASSED_OVER;
}

function lostBy({ account }: Candidate, { account: winner }: Candidate): string {
  if (account.record.priority < winner.record.priority) return 'has a lower priority';
  if (tierRank(account.record.tier) > tierRank(winner.record.tier)) return 'is of a lower tier';
  return PASSED_OVER;
}

/** The chosen account, and those this request has tried. */
function oneByOne(options: SelectionLogOptions): SelectionLogEntry[] {
  const { choice } = options;
  return Array.from(listedOf(options), (accountId) => ({
    accountId,
    verdict: accountId === choice?.candidate.account.record.id ? CHOSEN[choice.by] : TRIED,
  }));
}

function inGroups(options: SelectionLogOptions): SelectionLogEntry[] {
  const { index } = options;
  const found: SelectionLogEntry[] = [];
  for (const { eligibility, accountIds } of index.unusableGroups()) {
    const examples = take(accountIds, EXAMPLES);
    found.push({ count: accountIds.size, verdict: eligibility.verdict, accountIds: examples });
  }
  const lanes = [...index.groups()].filter(({ size }) => size > 0);
  const isOverloaded = (lane: CandidateGroup): boolean => options.usable.groupOverloadMs(lane) > 0;
  const passedOver = lanes.filter((lane) => !isOverloaded(lane));
  found.push(...eligibleGroup(lanes.filter(isOverloaded), OVERLOADED, new Set()));
  found.push(...eligibleGroup(passedOver, PASSED_OVER, listedOf(options)));
  return found;
}

function eligibleGroup(
  lanes: readonly CandidateGroup[],
  verdict: string,
  listed: ReadonlySet<string>,
): SelectionLogEntry[] {
  const count = lanes.reduce((sum, { size }) => sum + size, 0) - listed.size;
  if (count <= 0) return [];
  return [{ count, verdict, accountIds: take(unlisted(lanes, listed), EXAMPLES) }];
}

/** The eligible accounts that stand one by one already. */
function listedOf({ index, usable, choice, tried }: SelectionLogOptions): ReadonlySet<string> {
  const listed = new Set<string>();
  if (choice !== undefined) listed.add(choice.candidate.account.record.id);
  for (const accountId of tried) {
    if (isTriedAndEligible(index.peek(accountId), usable)) listed.add(accountId);
  }
  return listed;
}

function isTriedAndEligible(candidate: Candidate | undefined, usable: UsableCandidates): boolean {
  return candidate?.eligibility.kind === 'eligible' && usable.overloadMs(candidate) === 0;
}

function* unlisted(
  lanes: readonly CandidateGroup[],
  listed: ReadonlySet<string>,
): Iterable<string> {
  for (const { tiers } of lanes) {
    for (const levels of tiers) {
      for (const { account } of members(levels)) {
        if (!listed.has(account.record.id)) yield account.record.id;
      }
    }
  }
}

function* members(levels: readonly Rank[]): Iterable<Candidate> {
  for (const level of levels) yield* level.members;
}

function take(ids: Iterable<string>, count: number): readonly string[] {
  const taken: string[] = [];
  for (const id of ids) {
    if (taken.push(id) === count) break;
  }
  return taken;
}
