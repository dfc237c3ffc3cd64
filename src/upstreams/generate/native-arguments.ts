// The arguments a native call goes up with: those its signature vouches for, where its client means the same by others.

import { type PlacedSignature, tellReissued } from '../../canonical/refused-signatures.ts';
import {
  type ArgumentSchema,
  type ArgumentSchemas,
  argumentSchemas,
  meansTheSame,
} from '../../canonical/returned-arguments.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';

/** What calls are remembered by. */
export type CallName = NonNullable<PlacedSignature['call']>;

interface Declared {
  /** Of the functions as the client declared them. */
  readonly schemas: () => ArgumentSchemas;
  readonly target: PatchTarget;
}

/** In place of the arguments the client returned; undefined where those go up. */
export function issuedInput(
  named: CallName,
  { args }: JsonObject,
  { schemas, target }: Declared,
): JsonObject | undefined {
  const { recall, signatures, receipt } = target;
  const returned = isJsonObject(args) ? args : {};
  if (signatures !== 'reissued') {
    const declared = schemas().get(named.name);
    const shown = recall.input({ ...named, schema: declared?.schema }, returned);
    return shown ?? withoutDefaults(named, returned, { declared, target });
  }
  const issued = recall.issuedInput(named, returned);
  if (issued !== undefined) receipt.add('approximated', 'contents', tellReissued(named.name));
  return issued;
}

/** What the model wrote, where the client filled in nothing but defaults: native answers go out as they come. */
function withoutDefaults(
  named: CallName,
  returned: JsonObject,
  {
    declared,
    target,
  }: { readonly declared: ArgumentSchema | undefined; readonly target: PatchTarget },
): JsonObject | undefined {
  if (declared?.hasDefaults() !== true) return undefined;
  const issued = target.recall.issuedInput(named, returned);
  return issued !== undefined && meansTheSame(returned, issued, declared.schema)
    ? issued
    : undefined;
}

export function nativeArguments(tools: JsonValue | undefined): ArgumentSchemas {
  const declarations = (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isJsonObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [],
  );
  return argumentSchemas(
    declarations.filter(isJsonObject).flatMap(({ name, parametersJsonSchema, parameters }) => {
      return typeof name === 'string' ? [[name, parametersJsonSchema ?? parameters]] : [];
    }),
  );
}
