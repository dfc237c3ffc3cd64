// Rules for drawing: which models draw, in which ratios and sizes, from how many pictures.
// Source: generate-content API, "Image generation", and the model card of Gemini 3 Pro Image.

import type { SandboxModel } from '../models.ts';
import { ASPECT_RATIOS, SIZE_CLASSES } from '../picture/picture-size.ts';
import { type ImageConfig, partsOf } from '../wire.ts';
import type { Report, Rule } from './rule.ts';

const AT = 'generation_config';
const MOST_PICTURES = 14;

export const checkPictures: Rule = ({ request, model }, report) => {
  const {
    responseModalities = [],
    imageConfig,
    candidateCount = 1,
  } = request.generationConfig ?? {};
  const possible = model.drawsImages === true ? ['TEXT', 'IMAGE'] : ['TEXT'];
  const other = responseModalities.find((modality) => !possible.includes(modality));
  if (other !== undefined) {
    const description = `${model.id} answers in ${possible.join(' and ')}, not in ${other}`;
    report(`${AT}.response_modalities`, description);
  }
  if (imageConfig !== undefined) checkImageConfig(imageConfig, model, report);
  if (model.drawsImages !== true) return;
  if (candidateCount > 1) {
    report(`${AT}.candidate_count`, `${model.id} gives one candidate at a time`);
  }
  const pictures = (request.contents ?? [])
    .flatMap((content) => partsOf(content))
    .filter(({ inlineData }) => inlineData?.mimeType?.startsWith('image/'));
  if (pictures.length > MOST_PICTURES) {
    report(
      'contents',
      `${model.id} takes at most ${MOST_PICTURES} pictures, not ${pictures.length}`,
    );
  }
};

function checkImageConfig(
  { aspectRatio, imageSize }: ImageConfig,
  model: SandboxModel,
  report: Report,
): void {
  const field = `${AT}.image_config`;
  if (model.drawsImages !== true) {
    report(field, `${model.id} draws no images`);
    return;
  }
  if (aspectRatio !== undefined && !ASPECT_RATIOS.includes(aspectRatio)) {
    report(`${field}.aspect_ratio`, `must be one of ${ASPECT_RATIOS.join(', ')}`);
  }
  if (imageSize !== undefined && !SIZE_CLASSES.includes(imageSize)) {
    report(`${field}.image_size`, `must be one of ${SIZE_CLASSES.join(', ')}`);
  }
}
