// Rules for generationConfig: ranges of numbers, stop sequences, and speech, which the sandbox does not make.

import type { Report, Rule } from './rule.ts';

type NumericField = 'temperature' | 'topP' | 'topK' | 'candidateCount' | 'logprobs' | Penalty;
type Penalty = 'presencePenalty' | 'frequencyPenalty';

interface Range {
  readonly field: NumericField;
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

const RANGES: readonly Range[] = [
  { field: 'temperature', path: 'temperature', from: 0, to: 2 },
  { field: 'topP', path: 'top_p', from: 0, to: 1 },
  { field: 'topK', path: 'top_k', from: 1, to: 1000 },
  { field: 'candidateCount', path: 'candidate_count', from: 1, to: 8 },
  { field: 'logprobs', path: 'logprobs', from: 0, to: 20 },
  { field: 'presencePenalty', path: 'presence_penalty', from: -2, to: 2 },
  { field: 'frequencyPenalty', path: 'frequency_penalty', from: -2, to: 2 },
];

const MAX_STOP_SEQUENCES = 5;

export const checkGenerationConfig: Rule = ({ request, model }, report) => {
  const config = request.generationConfig;
  if (config === undefined) return;
  for (const { field, path, from, to } of RANGES) {
    const value = config[field];
    if (value !== undefined && !(value >= from && value <= to)) {
      report(`generation_config.${path}`, `${value} is outside ${from} to ${to}`);
    }
  }
  checkOutputLimit(config.maxOutputTokens, model.outputTokenLimit, report);
  checkStopSequences(config.stopSequences ?? [], report);
  if (config.logprobs !== undefined && config.responseLogprobs !== true) {
    report('generation_config.logprobs', 'needs response_logprobs');
  }
  if (config.speechConfig !== undefined) {
    report('generation_config.speech_config', 'the sandbox speaks no audio');
  }
};

function checkOutputLimit(asked: number | undefined, limit: number, report: Report): void {
  if (asked === undefined || (asked >= 1 && asked <= limit)) return;
  report(
    'generation_config.max_output_tokens',
    `${asked} is outside 1 to ${limit}, the limit of this model`,
  );
}

function checkStopSequences(sequences: readonly string[], report: Report): void {
  const field = 'generation_config.stop_sequences';
  if (sequences.length > MAX_STOP_SEQUENCES) {
    report(field, `at most ${MAX_STOP_SEQUENCES} sequences, not ${sequences.length}`);
  }
  if (sequences.includes('')) report(field, 'must not hold an empty sequence');
}
