// Rules for toolConfig: modes that need declarations, and the names calls may be limited to.

import { declarationsOf } from '../wire.ts';
import type { Rule } from './rule.ts';

const AT = 'tool_config.function_calling_config';

export const checkFunctionCalling: Rule = ({ request }, report) => {
  const config = request.toolConfig?.functionCallingConfig;
  if (config === undefined) return;
  const declared = new Set(declarationsOf(request).map(({ name }) => name));
  const allowed = config.allowedFunctionNames ?? [];
  if ((config.mode === 'ANY' || config.mode === 'VALIDATED') && declared.size === 0) {
    report(`${AT}.mode`, `${config.mode} needs function declarations`);
  }
  if (allowed.length > 0 && config.mode !== 'ANY' && config.mode !== 'VALIDATED') {
    report(`${AT}.allowed_function_names`, 'is accepted with mode ANY or VALIDATED only');
  }
  for (const name of allowed) {
    if (!declared.has(name)) {
      report(`${AT}.allowed_function_names`, `${JSON.stringify(name)} is not a declared function`);
    }
  }
};
