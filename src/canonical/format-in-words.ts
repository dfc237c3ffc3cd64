// What a model is told of an output format that cannot be sent to it as one.

import type { OutputFormat } from './request.ts';

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
