// Takes ratio and size of a drawn image from the model name where the request itself is silent.

import { told } from '../canonical/receipt.ts';
import type { Transform } from './transform.ts';

/** Source: the product's order: `imageSize`, `quality`, then the suffix of the model name. */
export const applyImageName: Transform = (request, context) => {
  const { capabilities, receipt, variant } = context;
  if (variant.image === undefined) return request;
  if (!capabilities.drawsImages) {
    receipt.add(
      'dropped',
      'model',
      told`This model draws no images; the suffix of its name has no use.`,
    );
    return request;
  }
  const aspectRatio = request.image?.aspectRatio ?? variant.image.aspectRatio;
  const named = variant.image.size;
  const size = request.image?.size ?? named;
  if (named !== undefined && size !== named) {
    receipt.add(
      'approximated',
      'model',
      told`The size in the request wins over the one in the model name.`,
    );
  }
  return {
    ...request,
    image: {
      ...(aspectRatio === undefined ? {} : { aspectRatio }),
      ...(size === undefined ? {} : { size }),
    },
  };
};
