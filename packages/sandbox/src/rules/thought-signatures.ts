// Rules for thought signatures: required on the first call of each step of the current turn, genuine wherever given.

import { type Content, functionResponsesOf, partsOf } from '../wire.ts';
import type { Report, Rule, RuleSubject } from './rule.ts';

export const checkSignatures: Rule = (subject, report) => {
  const contents = subject.request.contents ?? [];
  const turnStart = findTurnStart(contents);
  contents.forEach((content, index) => {
    checkGenuine(content, { subject, at: `contents[${index}]`, report });
    if (index > turnStart) checkFirstCall(content, index, report);
  });
};

/** The last user content without function responses: everything behind it is the current turn. */
function findTurnStart(contents: readonly Content[]): number {
  return contents.findLastIndex(
    (content) => content.role === 'user' && functionResponsesOf(content).length === 0,
  );
}

function checkGenuine(
  content: Content,
  { subject, at, report }: { subject: RuleSubject; at: string; report: Report },
): void {
  partsOf(content).forEach((part, index) => {
    const field = `${at}.parts[${index}].thought_signature`;
    const call = part.functionCall;
    const where = call === undefined ? 'this part' : `function call \`${call.name}\``;
    const verdict = subject.signatures.check(part, subject.model.family);
    if (verdict === 'invalid') report(field, `Corrupted thought signature for ${where}`);
    if (verdict === 'other-family') {
      report(
        field,
        `Invalid thought signature for ${where}: it was issued by another model family`,
      );
    }
  });
}

function checkFirstCall(content: Content, index: number, report: Report): void {
  const first = partsOf(content).findIndex((part) => part.functionCall !== undefined);
  const part = partsOf(content)[first];
  if (part === undefined || part.thoughtSignature) return;
  report(
    `contents[${index}].parts[${first}].thought_signature`,
    `function call \`${part.functionCall?.name}\` in content ${index + 1} is missing a thought_signature`,
  );
}
