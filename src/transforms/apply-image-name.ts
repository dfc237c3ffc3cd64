// Takes ratio and size of a drawn image from the model name where the request itself is silent.

import { told } from '../canonical/receipt.ts';
import type { ImageOptions } from '../canonical/request.ts';
import type { Transform, TransformContext } from './transform.ts';

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
  const size = sizeOf(request.image, variant.image, context);
  return {
    ...request,
    image: {
      ...(aspectRatio === undefined ? {} : { aspectRatio }),
      ...(size === undefined ? {} : { size }),
    },
  };
};

function sizeOf(
  asked: ImageOptions | undefined,
  named: ImageOptions,
  { receipt }: TransformContext,
): ImageOptions['size'] {
  if (asked?.size === undefined) return named.size;
  if (asked.isSizeDefault !== true || named.size === undefined) return asked.size;
  if (asked.size !== named.size) {
    receipt.add('approximated', 'size', told`The size in the model name wins.`);
  }
  return named.size;
}
