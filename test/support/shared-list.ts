// A list as it is where many requests brought the same one.

import { JSON_LIMITS, JsonLimitScanner } from '../../src/lib/json.ts';
import { parseWithSharedTools, shareAs } from '../../src/lib/shared-json.ts';

const origin = readTwice(
  Buffer.from(JSON.stringify({ tools: ['a tool of many requests '.repeat(80)] })),
);

/** The same list, shared from now on; it must never be changed. */
export function sharedList<List extends object>(list: List): List {
  return shareAs(origin, list);
}

function readTwice(body: Buffer): object {
  for (let nth = 0; nth < 2; nth += 1) {
    const survey = new JsonLimitScanner(JSON_LIMITS);
    survey.read(body);
    const { toolsPlace } = survey;
    const tools = toolsPlace && parseWithSharedTools(body, toolsPlace, survey)?.tools;
    if (typeof tools === 'object' && tools !== null) return tools;
  }
  throw new Error('The list of a second body was not shared.');
}
