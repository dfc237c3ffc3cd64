// The arguments a native call goes up with: those its signature vouches for, where its client means the same by others.

import { type PlacedSignature, tellReissued } from '../../canonical/refused-signatures.ts';
import { declaresDefaults, meansTheSame } from '../../canonical/returned-arguments.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';

/** What calls are remembered by. */
export type CallName = NonNullable<PlacedSignature['call']>;

interface Declared {
  /** As the client declared them. */
  readonly tools: JsonValue | undefined;
  readonly target: PatchTarget;
}

/** In place of the arguments the client returned; undefined where those go up. */
export function issuedInput(
  named: CallName,
  { args }: JsonObject,
  { tools, target }: Declared,
): JsonObject | undefined {
  const { recall, signatures, receipt } = target;
  const returned = isJsonObject(args) ? args : {};
  if (signatures !== 'reissued') {
    const schema = schemaOf(named.name, tools);
    const shown = recall.input({ ...named, schema }, returned);
    return shown ?? withoutDefaults(named, returned, { schema, target });
  }
  const issued = recall.issuedInput(named, returned);
  if (issued !== undefined) receipt.add('approximated', 'contents', tellReissued(named.name));
  return issued;
}

/** What the model wrote, where the client filled in nothing but defaults: native answers go out as they come. */
function withoutDefaults(
  named: CallName,
  returned: JsonObject,
  { schema, target }: { readonly schema: JsonValue | undefined; readonly target: PatchTarget },
): JsonObject | undefined {
  if (!declaresDefaults(schema)) return undefined;
  const issued = target.recall.issuedInput(named, returned);
  return issued !== undefined && meansTheSame(returned, issued, schema) ? issued : undefined;
}

function schemaOf(name: string, tools: JsonValue | undefined): JsonValue | undefined {
  const declarations = (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isJsonObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [],
  );
  const declared = declarations.filter(isJsonObject).find((one) => one.name === name);
  return declared?.parametersJsonSchema ?? declared?.parameters;
}
