// Writes drawn images, whole and streamed (`openai` resources/images.d.ts).

import { GatewayError } from '../../../canonical/error.ts';
import type { CanonicalEvent } from '../../../canonical/event.ts';
import { fold, type Reply } from '../../../canonical/fold.ts';
import { inputTokens, outputTokens, totalTokens, type Usage } from '../../../canonical/usage.ts';
import { EVENT_STREAM_TYPE, eventFrame, FRAME_END } from '../../../lib/event-stream.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReplyContext, StreamWriter } from '../../protocol.ts';
import { writeImageErrorBody } from '../errors.ts';
import type { ImageSettings } from './read-request.ts';

interface Drawing {
  readonly mediaType: string;
  readonly base64: string;
}

/** @throws GatewayError when the model drew nothing, saying what it said instead */
export function writeImages(
  reply: Reply,
  { createdAt }: ReplyContext,
  settings: ImageSettings,
): JsonObject {
  const drawings = drawingsOf(reply);
  const [first] = drawings;
  if (first === undefined) throw nothingDrawn(reply);
  return {
    created: createdAt,
    data: drawings.map((drawing) => writeDrawing(drawing, settings)),
    ...settings.echo,
    output_format: formatOf(first),
    usage: writeUsage(reply.usage, settings),
  };
}

/** One `completed` event an image when all are there: upstreams send no unfinished ones. */
export function createImageWriter(context: ReplyContext, settings: ImageSettings): StreamWriter {
  const events: CanonicalEvent[] = [];
  const name = settings.kind === 'edit' ? 'image_edit.completed' : 'image_generation.completed';
  const completed = (drawing: Drawing, usage: Usage): string =>
    eventFrame(
      name,
      JSON.stringify({
        type: name,
        b64_json: drawing.base64,
        created_at: context.createdAt,
        ...settings.echo,
        output_format: formatOf(drawing),
        usage: writeUsage(usage, settings),
      }),
    );
  const finish = (): string => {
    const reply = fold(events);
    const drawings = drawingsOf(reply);
    if (drawings.length === 0) return writeFailure(nothingDrawn(reply));
    return drawings.map((drawing) => completed(drawing, reply.usage)).join('');
  };
  return {
    contentType: EVENT_STREAM_TYPE,
    write(event) {
      if (event.kind === 'error') return writeFailure(event.error);
      events.push(event);
      return event.kind === 'finish' ? finish() : '';
    },
    keepAlive: () => `: keep-alive${FRAME_END}`,
  };
}

function writeFailure(error: GatewayError): string {
  return eventFrame('error', JSON.stringify({ type: 'error', ...writeImageErrorBody(error) }));
}

function drawingsOf(reply: Reply): readonly Drawing[] {
  return reply.choices.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.kind === 'media' && block.mediaType.startsWith('image/')
        ? [{ mediaType: block.mediaType, base64: block.base64 }]
        : [],
    ),
  );
}

function writeDrawing(drawing: Drawing, { form }: ImageSettings): JsonObject {
  const { mediaType, base64 } = drawing;
  return form === 'url' ? { url: `data:${mediaType};base64,${base64}` } : { b64_json: base64 };
}

function formatOf({ mediaType }: Drawing): string {
  return mediaType.slice('image/'.length);
}

/** What part of the input was text is known only where there was nothing else. */
function writeUsage(usage: Usage, { kind }: ImageSettings): JsonObject {
  const input = inputTokens(usage);
  return {
    input_tokens: input,
    output_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
    ...(kind === 'generation'
      ? { input_tokens_details: { text_tokens: input, image_tokens: 0 } }
      : {}),
  };
}

const MOST_QUOTED = 300;

function nothingDrawn({ choices }: Reply): GatewayError {
  const isRefused = choices.some(
    ({ end }) => end.reason === 'safety' || end.reason === 'prompt-blocked',
  );
  if (isRefused) {
    return new GatewayError({
      kind: 'upstream-rejected',
      source: 'upstream',
      reason: 'content-policy',
      message: 'The model refused to draw this; change the prompt.',
    });
  }
  const words = choices
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'text' ? block.text : [])))
    .join(' ')
    .trim();
  const said = words === '' ? '' : ` It said: ${words.slice(0, MOST_QUOTED)}`;
  return new GatewayError({
    kind: 'upstream-rejected',
    source: 'upstream',
    field: 'prompt',
    message: `The model answered without an image.${said}`,
  });
}
