// Rules for the order of turns: user first, calls after a user turn, results right behind their calls.

import {
  type Content,
  type FunctionCall,
  type FunctionResponse,
  functionCallsOf,
  functionResponsesOf,
} from '../wire.ts';
import type { Report, Rule } from './rule.ts';

export const checkTurnOrder: Rule = ({ request }, report) => {
  const contents = request.contents ?? [];
  if (contents[0]?.role !== 'user') report('contents[0].role', 'a conversation starts with "user"');
  contents.forEach((content, index) => {
    const at = `contents[${index}]`;
    const previous = contents[index - 1];
    if (functionCallsOf(content).length > 0) {
      if (previous !== undefined && previous.role !== 'user') {
        report(at, 'a function call turn must directly follow a user or function response turn');
      }
      checkCallIds(content, at, report);
      checkAnswered(content, contents[index + 1], { at: `contents[${index + 1}]`, report });
    }
    if (functionResponsesOf(content).length > 0 && functionCallsOf(previous).length === 0) {
      report(at, 'a function response turn must directly follow its function call turn');
    }
  });
};

function checkCallIds(content: Content, at: string, report: Report): void {
  const ids = functionCallsOf(content).flatMap((call) => call.id ?? []);
  if (new Set(ids).size < ids.length) report(at, 'two function calls carry the same id');
}

function checkAnswered(
  callTurn: Content,
  next: Content | undefined,
  { at, report }: { readonly at: string; readonly report: Report },
): void {
  const calls = functionCallsOf(callTurn);
  const responses = functionResponsesOf(next);
  if (responses.length !== calls.length) {
    report(
      at,
      `${calls.length} function calls need as many function responses in the turn right behind them, not ${responses.length}`,
    );
    return;
  }
  const open = new Set(calls);
  responses.forEach((response, index) => {
    const call = findCall(response, calls, index);
    if (call === undefined || !open.delete(call)) {
      const id = JSON.stringify(response.id ?? null);
      report(at, `function_response.id ${id} matches no open call of the turn before`);
    } else if (call.name !== response.name) {
      report(
        at,
        `function_response.name ${JSON.stringify(response.name)} is not the called function ${JSON.stringify(call.name)}`,
      );
    }
  });
}

/** By id when the response gives one, else by position. */
function findCall(
  response: FunctionResponse,
  calls: readonly FunctionCall[],
  index: number,
): FunctionCall | undefined {
  return response.id === undefined
    ? calls[index]
    : calls.find((candidate) => candidate.id === response.id);
}
