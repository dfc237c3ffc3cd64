// Writes media: bytes inline, addresses only where the upstream is known to read them.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import type { MediaPart } from '../../canonical/request.ts';
import type { WireBlob, WirePart } from '../../wire/generate.ts';
import { traitsOf } from './capabilities.ts';
import type { EncodeContext } from './encode-context.ts';
import { isVideoPage } from './profiles/profile.ts';

/** The wire's words for how much detail of a medium the model looks at. */
export const MEDIA_RESOLUTIONS = {
  low: 'MEDIA_RESOLUTION_LOW',
  medium: 'MEDIA_RESOLUTION_MEDIUM',
  high: 'MEDIA_RESOLUTION_HIGH',
} as const;

/** @throws GatewayError (invalid-request) for an address the upstream does not read. */
export function encodeMedia(part: MediaPart, context: EncodeContext): WirePart {
  const { source, mediaType } = part;
  switch (source.kind) {
    case 'base64':
      return { inlineData: encodeBlob(part, source.base64), ...resolutionOf(part, context) };
    case 'url':
    case 'file': {
      const fileUri = source.kind === 'url' ? source.url : source.uri;
      const { profile, target } = context;
      const webType = profile.webFileType?.(fileUri, target.modelId);
      if (webType === undefined && !profile.readsUri(fileUri)) throw unreadableAddress(part);
      const mimeType = isVideoPage(fileUri) ? videoType(context) : (webType ?? mediaType);
      const fileData = mimeType === undefined ? { fileUri } : { fileUri, mimeType };
      return { fileData, ...resolutionOf(part, context) };
    }
    default:
      return source satisfies never;
  }
}

/**
 * What a page is called whose video is read, whatever its client took it for. The public API wants no type
 * there (agentjido/req_llm#433), Vertex AI one everywhere ("empty mimeType parameter in fileData").
 */
function videoType({ profile }: EncodeContext): string | undefined {
  return profile.isVertex === true ? 'video/mp4' : undefined;
}

function encodeBlob(part: MediaPart, base64: string): WireBlob {
  if (part.mediaType === undefined || base64 === '') {
    throw invalidRequest('messages', `The ${part.modality} needs a media type and bytes.`);
  }
  return { mimeType: part.mediaType, data: base64 };
}

function resolutionOf(
  { resolution }: MediaPart,
  { target }: EncodeContext,
): Pick<WirePart, 'mediaResolution'> {
  if (resolution === undefined) return {};
  if (!traitsOf(target.modelId).takesPartResolution) {
    target.receipt.add(
      'dropped',
      'messages',
      told`This model takes no detail level for single media.`,
    );
    return {};
  }
  return { mediaResolution: { level: MEDIA_RESOLUTIONS[resolution] } };
}

function unreadableAddress({ modality, source }: MediaPart): Error {
  const path = (source.kind === 'base64' ? undefined : source.path) ?? 'messages';
  const message =
    source.kind === 'url'
      ? `${path}: this ${modality} URL is not fetched; send a data URI, or let the operator set proxy.fetch_remote_media.`
      : `${path}: the upstream cannot read this ${modality} file; send its bytes as base64.`;
  return invalidRequest(path, message, 'unsupported');
}
