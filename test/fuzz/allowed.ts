// Refusals that are rightly the upstream's own, each with its reason; any other is a fault of the gateway.

import type { Lane } from './verdict.ts';

interface AllowedRefusal {
  /** Matches one line of the sandbox's answer. */
  readonly line: RegExp;
  readonly why: string;
  /** Absent for both lanes. */
  readonly lane?: 'relay';
}

const NATIVE_WORDS =
  'The relay lane hands native words on: which of them a model takes, only the upstream knows.';
const NATIVE_ORDER =
  'A native history out of order is the client’s own; what it lacks is added, nothing is moved.';

const ALLOWED: readonly AllowedRefusal[] = [
  {
    line: /the sandbox (speaks no audio|does not offer the tool)/,
    why: 'A limit of the sandbox, not of the API.',
  },
  {
    line: /^generation_config\.response_modalities: .* not in (IMAGE|AUDIO)/,
    why: 'A picture or speech was asked for of a model that only writes.',
  },
  { lane: 'relay', line: /^generation_config\.image_config/, why: NATIVE_WORDS },
  {
    line: /nested too deeply/,
    why: 'Proto parsers take 100 levels; the gateway carries JSON of 200.',
  },
  {
    line: /^tools\[\d+\]\.function_declarations\[\d+\]\.name: "[\w.:-]{65,}" is not a function name/,
    why: 'Two limits are documented, 64 and 128; the sandbox has the narrower one.',
  },
  {
    line: /^safety_settings\[\d+\]\./,
    why: 'Categories and thresholds are handed on: new ones appear without notice.',
  },
  { line: /is not a supported media type/, why: 'Media types are handed on: new ones appear.' },
  {
    line: /^generation_config\.response_schema: text\/x\.enum needs a STRING schema with enum/,
    why: 'An enum answer without an enum; only native clients can ask for it.',
  },
  {
    lane: 'relay',
    line: /^contents\[\d+\]: .*(function call|function_response)/,
    why: NATIVE_ORDER,
  },
  { lane: 'relay', line: /^tools.*(json_schema|declared twice|at most 512)/, why: NATIVE_WORDS },
  { lane: 'relay', line: /^tools\[\d+\].*(\.name|\.response): /, why: NATIVE_WORDS },
  { lane: 'relay', line: /^tool_config\.function_calling_config\./, why: NATIVE_WORDS },
  {
    lane: 'relay',
    line: /^generation_config\.(response_|logprobs|media_resolution|seed|candidate_count|top_k)/,
    why: NATIVE_WORDS,
  },
  { lane: 'relay', line: /^generation_config\.(temperature|top_p|\w+_penalty)/, why: NATIVE_WORDS },
  { lane: 'relay', line: /^system_instruction\.parts: only text/, why: NATIVE_WORDS },
  { lane: 'relay', line: /file_uri: must be an http/, why: NATIVE_WORDS },
  { lane: 'relay', line: /: must be one of [A-Z_, ]+, not "/, why: NATIVE_WORDS },
  { lane: 'relay', line: /^generation_config\.stop_sequences: at most/, why: NATIVE_WORDS },
];

/** The lines of a sandbox refusal that nothing allows. */
export function unexpectedLines(message: string, lane: Lane): readonly string[] {
  const isAllowed = (line: string): boolean =>
    ALLOWED.some((entry) => entry.line.test(line) && (entry.lane ?? lane) === lane);
  return message.split('\n').filter((line) => !isAllowed(line));
}
