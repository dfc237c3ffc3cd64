// What a model is told of an output format that cannot be sent to it as one.

import type { ModelCapabilities } from './model.ts';
import { type Sentence, told } from './receipt.ts';
import type { OutputFormat } from './request.ts';

/** Why a format cannot be sent as one to this model; undefined where it can. */
export function refusedFormat(
  { outputFormats }: ModelCapabilities,
  hasTools: boolean,
): Sentence | undefined {
  if (outputFormats === 'nowhere') {
    return told`This model takes no output format: it is told in words.`;
  }
  const isRefused = outputFormats === 'without-tools' && hasTools;
  return isRefused
    ? told`This model takes no output format beside tools: it is told in words.`
    : undefined;
}

export function formatInWords(format: OutputFormat): string {
  const only = 'When you answer, answer with one JSON value and nothing else around it.';
  switch (format.kind) {
    case 'text':
    case 'json':
      return only;
    case 'json-schema':
      return `${only} It must follow this JSON Schema:\n${JSON.stringify(format.schema)}`;
    case 'enum':
      return `When you answer, answer with one value of this schema and nothing else around it:\n${JSON.stringify(format.schema)}`;
    default:
      return format satisfies never;
  }
}
