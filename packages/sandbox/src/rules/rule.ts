// What a semantic rule is: a check of one topic that reports every violation it finds.

import type { SandboxModel } from '../models.ts';
import type { Signatures } from '../signatures.ts';
import type { GenerateRequest } from '../wire.ts';

/** Adds one violation: the snake_case path of the field ('' for the whole request) and what is wrong. */
export type Report = (field: string, description: string) => void;

export interface RuleSubject {
  readonly request: GenerateRequest;
  readonly model: SandboxModel;
  readonly signatures: Signatures;
  /** True where the model is called as Vertex AI has it. */
  readonly isProjectPath?: boolean | undefined;
}

export type Rule = (subject: RuleSubject, report: Report) => void;
