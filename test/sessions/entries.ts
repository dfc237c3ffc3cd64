// A conversation as an agent's client keeps it, whatever the protocol, and what the client may do to it.

import type { JsonObject } from '../../src/lib/json.ts';
import type { Random } from '../fuzz/random.ts';

export type Entry = UserEntry | SystemEntry | AssistantEntry | ResultsEntry;

interface UserEntry {
  readonly kind: 'user';
  readonly text: string;
  readonly hasImage?: boolean;
}

/** An instruction in mid-conversation. */
interface SystemEntry {
  readonly kind: 'system';
  readonly text: string;
}

interface AssistantEntry {
  readonly kind: 'assistant';
  /** What the gateway answered, in the protocol's own form; several when each chunk was kept. */
  readonly messages: readonly JsonObject[];
  readonly calls: readonly Call[];
}

export interface ResultsEntry {
  readonly kind: 'results';
  readonly results: readonly Result[];
  /** What the user adds to the results. */
  readonly note?: string;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface Result {
  readonly call: Call;
  readonly text: string;
  readonly isError: boolean;
  readonly hasImage: boolean;
  /** Native clients may leave the id out. */
  readonly hasId: boolean;
}

/** How a protocol's client tampers with its own assistant messages. */
export interface Tampering {
  /** Drops thoughts, signatures, extra content …, each one way. */
  readonly messageEdits: readonly ((message: JsonObject) => JsonObject)[];
  dropCall(message: JsonObject, id: string): JsonObject;
  /** A message of the assistant with this text. */
  say(text: string): JsonObject;
  readonly takesSystemTurns: boolean;
}

type Edit = (entries: readonly Entry[], random: Random, tampering: Tampering) => readonly Entry[];

/** One random change of the history; what is asked last stays last. */
export const editHistory: Edit = (entries, random, tampering) => {
  const last = entries.at(-1);
  if (last === undefined || entries.length < 3) return entries;
  return random.pick(EDITS)(entries, random, tampering);
};

const EDITS: readonly Edit[] = [
  tamperWithMessages,
  tamperWithMessages,
  truncateKeepingPairs,
  truncateAnywhere,
  rewind,
  duplicateResult,
  dropCall,
  reorderResults,
  loseResult,
  insertInstruction,
  repeatRole,
  compact,
];

function tamperWithMessages(entries: readonly Entry[], random: Random, tampering: Tampering) {
  const edit = random.pick(tampering.messageEdits);
  const share = random.pick([0.3, 1]);
  return mapAssistant(entries, (entry) =>
    random.chance(share) ? { ...entry, messages: entry.messages.map(edit) } : entry,
  );
}

function truncateKeepingPairs(entries: readonly Entry[], random: Random): readonly Entry[] {
  const starts = entries.flatMap((entry, index) => (entry.kind === 'user' ? [index] : []));
  return starts.length === 0 ? entries : entries.slice(random.pick(starts));
}

function truncateAnywhere(entries: readonly Entry[], random: Random): readonly Entry[] {
  return entries.slice(random.below(entries.length));
}

/** Back to an earlier question, which is asked again. */
function rewind(entries: readonly Entry[], random: Random): readonly Entry[] {
  const questions = entries.flatMap((entry, index) => (entry.kind === 'user' ? [index] : []));
  return questions.length === 0 ? entries : entries.slice(0, random.pick(questions) + 1);
}

function duplicateResult(entries: readonly Entry[], random: Random): readonly Entry[] {
  return mapOneResults(entries, random, (entry) => ({
    ...entry,
    results: [...entry.results, ...entry.results.slice(0, 1)],
  }));
}

function reorderResults(entries: readonly Entry[], random: Random): readonly Entry[] {
  return entries.map((entry) =>
    entry.kind === 'results' && entry.results.every(({ hasId }) => hasId)
      ? { ...entry, results: random.shuffle(entry.results) }
      : entry,
  );
}

function loseResult(entries: readonly Entry[], random: Random): readonly Entry[] {
  return mapOneResults(entries, random, (entry) => ({ ...entry, results: entry.results.slice(1) }));
}

/** The call goes, its result stays: the client's own mistake. */
function dropCall(
  entries: readonly Entry[],
  random: Random,
  tampering: Tampering,
): readonly Entry[] {
  const withCalls = entries.filter((entry) => isAssistant(entry) && entry.calls.length > 0);
  if (withCalls.length === 0) return entries;
  const chosen = random.pick(withCalls);
  return mapAssistant(entries, (entry) => {
    const [call] = entry.calls;
    if (entry !== chosen || call === undefined) return entry;
    const messages = entry.messages.map((message) => tampering.dropCall(message, call.id));
    return { ...entry, messages, calls: entry.calls.slice(1) };
  });
}

function insertInstruction(
  entries: readonly Entry[],
  random: Random,
  { takesSystemTurns }: Tampering,
): readonly Entry[] {
  if (!takesSystemTurns) return entries;
  const at = random.below(entries.length);
  return entries.toSpliced(at, 0, { kind: 'system', text: 'From now on, be brief.' });
}

/** Two messages of one role in a row, as retries and queued prompts leave them. */
function repeatRole(
  entries: readonly Entry[],
  random: Random,
  tampering: Tampering,
): readonly Entry[] {
  const at = random.below(entries.length - 1);
  const entry = entries[at];
  if (entry?.kind === 'user') {
    return entries.toSpliced(at, 0, { kind: 'user', text: 'One more thing.' });
  }
  if (entry?.kind !== 'assistant') return entries;
  const more: AssistantEntry = {
    kind: 'assistant',
    messages: [tampering.say('And so on.')],
    calls: [],
  };
  return entries.toSpliced(at + 1, 0, more);
}

/** A summary instead of everything before the step in progress. */
function compact(entries: readonly Entry[]): readonly Entry[] {
  const summary: Entry = {
    kind: 'user',
    text: 'Summary of the conversation so far: it went well.',
  };
  const keep = entries.at(-1)?.kind === 'results' ? 2 : 1;
  return [summary, ...entries.slice(-keep)];
}

function mapAssistant(
  entries: readonly Entry[],
  edit: (entry: AssistantEntry) => AssistantEntry,
): readonly Entry[] {
  return entries.map((entry) => (isAssistant(entry) ? edit(entry) : entry));
}

function mapOneResults(
  entries: readonly Entry[],
  random: Random,
  edit: (entry: ResultsEntry) => ResultsEntry,
): readonly Entry[] {
  const found = entries.filter((entry) => entry.kind === 'results');
  if (found.length === 0) return entries;
  const chosen = random.pick(found);
  return entries.map((entry) => (entry === chosen ? edit(chosen) : entry));
}

function isAssistant(entry: Entry): entry is AssistantEntry {
  return entry.kind === 'assistant';
}
