// The ordered list of what a well-formed request must also satisfy by its meaning.

import { badRequest, type Violation } from '../errors.ts';
import { checkContents } from './contents.ts';
import { checkFunctionCalling } from './function-calling.ts';
import { checkGenerationConfig } from './generation-config.ts';
import { checkOutputFormat } from './output-format.ts';
import { checkPictures } from './pictures.ts';
import type { Rule, RuleSubject } from './rule.ts';
import { checkSafetySettings } from './safety-settings.ts';
import { checkThinking } from './thinking.ts';
import { checkSignatures } from './thought-signatures.ts';
import { checkTools } from './tools.ts';
import { checkTurnOrder } from './turn-order.ts';

/** Later stages rely on what earlier ones have checked; the first stage with violations ends the check. */
const STAGES: readonly (readonly Rule[])[] = [
  [checkContents],
  [
    checkTurnOrder,
    checkTools,
    checkFunctionCalling,
    checkGenerationConfig,
    checkPictures,
    checkThinking,
    checkOutputFormat,
    checkSafetySettings,
  ],
  [checkSignatures],
];

/** @throws SandboxError 400 listing the violations. */
export function checkRequest(subject: RuleSubject): void {
  for (const stage of STAGES) {
    const violations: Violation[] = [];
    for (const rule of stage) {
      rule(subject, (field, description) => violations.push({ field, description }));
    }
    if (violations.length > 0) throw badRequest(violations);
  }
}
