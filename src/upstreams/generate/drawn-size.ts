// The size of a picture as the model takes it.

import { told } from '../../canonical/receipt.ts';
import type { ImageOptions } from '../../canonical/request.ts';
import type { EncodeTarget } from '../upstream.ts';
import { traitsOf } from './capabilities.ts';

/** What models draw that know no other size. */
const ONLY_SIZE = '1K';

/** Undefined where the model draws in one size; a larger one that was asked for at `path` is in the receipt. */
export function drawnSize(
  size: ImageOptions['size'],
  { modelId, capabilities, receipt }: EncodeTarget,
  path: string,
): ImageOptions['size'] {
  if (!capabilities.drawsImages || traitsOf(modelId).drawsInSizes) return size;
  if (size !== undefined && size !== ONLY_SIZE) {
    receipt.add('approximated', path, told`This model draws pictures of ${ONLY_SIZE} only.`);
  }
  return undefined;
}
