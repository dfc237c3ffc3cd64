// What a request settles about the form of its answer.

import type { ChatExtensionKey } from '../../wire/chat.ts';

export interface AnswerOptions {
  /** True when the stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  /** The vendor word thought signatures are put under. */
  readonly extensionKey: ChatExtensionKey;
  /** Names of the tools that take free text: their calls are written as custom calls. */
  readonly freeformTools: ReadonlySet<string>;
  /** `function_call` for requests with the deprecated `functions`. */
  readonly callForm: 'tool_calls' | 'function_call';
}
