// The newest spelling of output options, `responseFormat`, folded into the fields all models know.

import { told } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectAt, textAt } from './native-fields.ts';
import type { Place } from './place.ts';

/** Number words of the enum values (`@google/genai` AspectRatio, ImageSize). */
const NUMBER_WORDS = new Map([
  ['ONE', '1'],
  ['TWO', '2'],
  ['THREE', '3'],
  ['FOUR', '4'],
  ['FIVE', '5'],
  ['EIGHT', '8'],
  ['NINE', '9'],
  ['SIXTEEN', '16'],
  ['TWENTY_ONE', '21'],
  ['FIVE_TWELVE', '512'],
]);

/**
 * The members of generationConfig that the formats amount to. A member the config has already wins.
 * What has no older field (audio formats, delivery, media types of images) goes to the receipt.
 */
export function foldResponseFormats(
  formats: readonly JsonObject[],
  config: JsonObject,
  place: Place,
): JsonObject {
  const folded: JsonObject = {};
  formats.forEach((format, index) => {
    const inner = { path: `${place.path}.responseFormat[${index}]`, receipt: place.receipt };
    const text = objectAt(format, 'text');
    const image = objectAt(format, 'image');
    if (text !== undefined) foldText(text, config, folded);
    if (image !== undefined) folded.imageConfig = foldImage(image, config, inner);
    if (format.audio !== undefined) {
      place.receipt.add(
        'dropped',
        `${inner.path}.audio`,
        told`No model takes an audio format here.`,
      );
    }
  });
  return folded;
}

function foldText(text: JsonObject, config: JsonObject, folded: JsonObject): void {
  const hasSchema = config.responseSchema !== undefined || config.responseJsonSchema !== undefined;
  if (text.schema !== undefined && !hasSchema) folded.responseJsonSchema = text.schema;
  const implied = text.schema === undefined ? undefined : 'application/json';
  const mimeType = textAt(config, 'responseMimeType') ?? textAt(text, 'mimeType') ?? implied;
  if (mimeType !== undefined) folded.responseMimeType = spellMimeType(mimeType);
}

function foldImage(image: JsonObject, config: JsonObject, place: Place): JsonObject {
  for (const member of ['mimeType', 'delivery']) {
    if (image[member] === undefined) continue;
    const reason = told`Images come inline, in the format the model draws.`;
    place.receipt.add('dropped', `${place.path}.image.${member}`, reason);
  }
  const folded: JsonObject = {};
  const ratio = spellAspectRatio(textAt(image, 'aspectRatio'));
  const size = spellImageSize(textAt(image, 'imageSize'));
  if (ratio !== undefined) folded.aspectRatio = ratio;
  if (size !== undefined) folded.imageSize = size;
  return { ...folded, ...objectAt(config, 'imageConfig') };
}

/** `APPLICATION_JSON` and the like are accepted for `application/json`. */
function spellMimeType(value: string): string {
  return /^[A-Z]+_[A-Z]+$/.test(value) ? value.toLowerCase().replace('_', '/') : value;
}

/** `ASPECT_RATIO_SIXTEEN_BY_NINE` → `16:9`; plain ratios stay. */
function spellAspectRatio(value: string | undefined): string | undefined {
  const words = /^ASPECT_RATIO_(\w+)_BY_(\w+)$/.exec(value ?? '');
  if (words === null) return value?.endsWith('_UNSPECIFIED') ? undefined : value;
  const [width, height] = [words[1], words[2]].map((word) => NUMBER_WORDS.get(word ?? '') ?? word);
  return `${width}:${height}`;
}

/** `IMAGE_SIZE_TWO_K` → `2K`; plain sizes stay. */
function spellImageSize(value: string | undefined): string | undefined {
  const words = /^IMAGE_SIZE_(\w+?)(_K)?$/.exec(value ?? '');
  if (words === null) return value;
  const [, word = '', thousands] = words;
  if (word === 'UNSPECIFIED') return undefined;
  return `${NUMBER_WORDS.get(word) ?? word}${thousands === undefined ? '' : 'K'}`;
}
