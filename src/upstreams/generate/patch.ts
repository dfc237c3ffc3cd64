// Edits a native body for one upstream model: only what that model needs different is touched.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';
import { applyVariant } from './apply-variant.ts';
import { editFields } from './edits.ts';
import type { PatchContext } from './patch-context.ts';
import { patchExtraFields } from './patch-extra-fields.ts';
import { patchGenerationConfig } from './patch-generation-config.ts';
import { patchOutputFormat } from './patch-output-format.ts';
import { patchResponseMedia } from './patch-response-media.ts';
import { patchSignatures } from './patch-signatures.ts';
import { patchToolConfig, patchTools } from './patch-tools.ts';
import { startContents } from './start-contents.ts';

/**
 * The body to send: everything that stays as it was is shared, and it is the same object when nothing
 * changes. Expects camelCase keys in their official words. Patching a patched body changes nothing.
 */
export function patch(
  body: JsonObject,
  target: PatchTarget,
  profile: PatchContext['profile'],
): JsonObject {
  const context: PatchContext = { target, profile };
  const asked = patchExtraFields(applyVariant(body, target), context);
  const tools = editedTools(asked, context);
  const told = patchOutputFormat(asked, tools.tools ?? [], target);
  const { contents, generationConfig } = told;
  return editFields(told, {
    // The path names the model, the account the project.
    model: undefined,
    project: undefined,
    contents: Array.isArray(contents)
      ? startContents(
          patchResponseMedia(patchSignatures(contents, asked.tools, target), target),
          target.receipt,
        )
      : contents,
    ...tools,
    generationConfig: isJsonObject(generationConfig)
      ? patchGenerationConfig(generationConfig, target)
      : generationConfig,
  });
}

function editedTools({ tools, toolConfig }: JsonObject, context: PatchContext) {
  const patched = Array.isArray(tools) ? patchTools(tools, context) : undefined;
  const config = isJsonObject(toolConfig) ? toolConfig : undefined;
  return {
    tools: patched,
    toolConfig: patchToolConfig(config, patched ?? [], context),
  };
}
