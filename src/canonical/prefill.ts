// What stands behind a prefill (an assistant message the model is to continue) where the user must be last.

export const CONTINUE_PROMPT =
  'Continue your last message exactly where it ends. Repeat none of it and put nothing before it.';

export const CONTINUE_REASON =
  'The upstream wants the user last: a turn was added that asks to continue the answer.';
