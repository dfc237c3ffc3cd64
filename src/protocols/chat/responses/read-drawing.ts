// Reads the tool `image_generation`: a model that draws needs no tool, but takes its settings.

import { objectShape } from '../../../canonical/field-shapes.ts';
import { readImageOptions } from '../../../canonical/image-options.ts';
import { told } from '../../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../../canonical/request.ts';
import { readNumberIn, readString, unknownWord } from '../fields.ts';
import { noteUnreadFields } from '../note-fields.ts';
import type { ResponsesContext } from './responses-context.ts';

/** Source: `openai` resources/responses, `Tool.ImageGeneration`. */
const KNOWN = objectShape(['type', 'size', 'quality', 'partial_images', 'action']);
/** Values of fields without a counterpart that ask for what happens anyway. */
const DEFAULTS = new Set(['auto', 'png', 'opaque', 'low']);
const MOST_DRAFTS = 3;

/**
 * Present, if empty, whenever the tool is: a model that does not draw so says that it leaves it out.
 * @throws GatewayError 400 naming the field
 */
export function readDrawing(
  { drawing, receipt, ...context }: ResponsesContext,
  stream: boolean,
): Pick<CanonicalRequest, 'image' | 'imageDrafts' | 'mustDraw' | 'outputModalities'> {
  if (drawing === undefined) return {};
  const { tool, path } = drawing;
  const image = readImageOptions(
    {
      size: readString(tool, 'size', path),
      quality: readString(tool, 'quality', path),
      imageSize: undefined,
    },
    { receipt, unknownWord: (key, words) => unknownWord(`${path}.${key}`, words) },
  );
  const rest = Object.fromEntries(
    Object.entries(tool).filter(
      ([, value]) => typeof value !== 'string' || !DEFAULTS.has(value.toLowerCase()),
    ),
  );
  noteUnreadFields(rest, { known: KNOWN, path, context: { ...context, receipt } });
  const range = { min: 0, max: MOST_DRAFTS, integer: true };
  const asked = readNumberIn(tool.partial_images, `${path}.partial_images`, range) ?? 0;
  if (asked > 0 && !stream) {
    const reason = told`Unfinished pictures are shown in streams only.`;
    receipt.add('dropped', `${path}.partial_images`, reason);
  }
  const demand =
    drawing.isDemanded === true ? { mustDraw: true, outputModalities: ['image' as const] } : {};
  return { image: image ?? {}, imageDrafts: stream ? asked : 0, ...demand };
}
