// One answer of several: some upstreams send in pieces also what was asked for whole.

import type { JsonObject } from '../../lib/json.ts';
import { numberAt, objectAt, objectsAt } from './native-fields.ts';

interface Joined {
  /** Everything but the parts. */
  candidate: JsonObject;
  readonly parts: JsonObject[];
}

/** A single answer stays as it is. Of several the parts are put together, of everything else the last word counts. */
export function joinAnswers(answers: readonly JsonObject[]): JsonObject {
  const [first = {}, ...rest] = answers;
  if (rest.length === 0) return first;
  const joined = new Map<number, Joined>();
  for (const answer of answers) {
    for (const candidate of objectsAt(answer, 'candidates')) addCandidate(joined, candidate);
  }
  const candidates = [...joined]
    .sort(([left], [right]) => left - right)
    .map(([, { candidate, parts }]) => ({
      ...candidate,
      content: { role: 'model', ...objectAt(candidate, 'content'), parts },
    }));
  const whole: JsonObject = Object.assign({}, ...answers);
  return candidates.length === 0 ? whole : { ...whole, candidates };
}

function addCandidate(joined: Map<number, Joined>, added: JsonObject): void {
  const index = numberAt(added, 'index') ?? 0;
  const known = joined.get(index) ?? { candidate: {}, parts: [] };
  joined.set(index, known);
  known.candidate = { ...known.candidate, ...added };
  for (const part of objectsAt(objectAt(added, 'content'), 'parts')) addPart(known.parts, part);
}

/** Text that goes on is one part with the signature of any of its pieces (decision 018); two signed ones stay two. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const isOnePart =
    last !== undefined && isText(last) && isText(part) && last.thought === part.thought;
  const areSigned = last?.thoughtSignature !== undefined && part.thoughtSignature !== undefined;
  if (!isOnePart || areSigned) parts.push(part);
  else parts[parts.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` };
}

function isText({ text, functionCall }: JsonObject): boolean {
  return typeof text === 'string' && functionCall === undefined;
}
