// The image routes of the OpenAI-style protocol, and their responses (`openai` resources/images.d.ts).

import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import { fold, type Reply } from '../../canonical/fold.ts';
import { blockMessage } from '../../canonical/text-forms.ts';
import { inputTokens, outputTokens, totalTokens, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writeImageErrorBody } from '../../protocols/chat/errors.ts';
import type {
  GenerateCall,
  ReplyContext,
  RouteInput,
  StreamWriter,
} from '../../protocols/protocol.ts';
import { EVENT_STREAM_TYPE, eventFrame, FRAME_END } from '../../stream/sse.ts';
import { type ImageRequest, type ImageSettings, readEdit, readGeneration } from './read-request.ts';

interface Drawing {
  readonly mediaType: string;
  readonly base64: string;
}

/** @throws GatewayError when the model drew nothing, saying what it said instead */
function writeImages(
  reply: Reply,
  { createdAt }: ReplyContext,
  settings: ImageSettings,
): JsonObject {
  const drawings = requireDrawing(reply);
  const [first] = drawings;
  return {
    created: createdAt,
    data: drawings.map((drawing) => writeDrawing(drawing, settings)),
    ...settings.echo,
    output_format: formatOf(first),
    usage: writeUsage(reply.usage, settings),
  };
}

/** @throws GatewayError when the model drew nothing, saying what it said instead */
function requireDrawing(reply: Reply): readonly [Drawing, ...Drawing[]] {
  const [first, ...rest] = drawingsOf(reply);
  if (first === undefined) throw nothingDrawn(reply);
  return [first, ...rest];
}

/**
 * Unfinished images as they come, as many of each image as were asked for; one `completed` event an
 * image when all are there.
 */
class ImageWriter implements StreamWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly #context: ReplyContext;
  readonly #settings: ImageSettings;
  readonly #events: CanonicalEvent[] = [];
  /** Unfinished images shown so far, by choice. */
  readonly #shown = new Map<number, number>();

  constructor(context: ReplyContext, settings: ImageSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  write(event: CanonicalEvent): string {
    if (event.kind === 'error') return writeFailure(event.error);
    if (event.kind === 'block-start' && isDraft(event.block)) {
      const { block, choice } = event;
      // Its place in the answer is kept, its bytes are not.
      this.#events.push({ ...event, block: { ...block, base64: '' } });
      return this.#showDraft(block, choice);
    }
    this.#events.push(event);
    return event.kind === 'finish' ? this.#finish() : '';
  }

  keepAlive(): string {
    return `: keep-alive${FRAME_END}`;
  }

  #showDraft(drawing: Drawing, choice: number): string {
    const index = this.#shown.get(choice) ?? 0;
    if (index >= this.#settings.drafts) return '';
    this.#shown.set(choice, index + 1);
    return this.#frame('partial_image', drawing, { partial_image_index: index });
  }

  #finish(): string {
    const reply = fold(this.#events);
    const drawings = drawingsOf(reply);
    if (drawings.length === 0) return writeFailure(nothingDrawn(reply));
    const usage = writeUsage(reply.usage, this.#settings);
    return drawings.map((drawing) => this.#frame('completed', drawing, { usage })).join('');
  }

  /** Both kinds of event carry the same facts (`ImageGenCompletedEvent`, `ImageGenPartialImageEvent`). */
  #frame(what: 'partial_image' | 'completed', drawing: Drawing, rest: JsonObject): string {
    const { kind, echo } = this.#settings;
    const type = `${kind === 'edit' ? 'image_edit' : 'image_generation'}.${what}`;
    const fields = {
      type,
      b64_json: drawing.base64,
      created_at: this.#context.createdAt,
      background: 'auto',
      quality: 'auto',
      size: 'auto',
      ...echo,
      output_format: formatOf(drawing),
      ...rest,
    };
    return eventFrame(type, JSON.stringify(fields));
  }
}

type MediaOpening = Extract<BlockOpening, { kind: 'media' }>;

function isDraft(block: BlockOpening): block is MediaOpening {
  return block.kind === 'media' && block.isDraft === true;
}

function writeFailure(error: GatewayError): string {
  return eventFrame('error', JSON.stringify({ type: 'error', ...writeImageErrorBody(error) }));
}

function drawingsOf(reply: Reply): readonly Drawing[] {
  return reply.choices.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.kind === 'media' && block.isDraft !== true && block.mediaType.startsWith('image/')
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

/** What part of the input was text is known where there was nothing else, or where the upstream says. */
function writeUsage(usage: Usage, { kind }: ImageSettings): JsonObject {
  const input = inputTokens(usage);
  const image = kind === 'generation' ? 0 : usage.media?.image;
  return {
    input_tokens: input,
    output_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
    ...(image === undefined
      ? {}
      : {
          input_tokens_details: { text_tokens: Math.max(0, input - image), image_tokens: image },
        }),
  };
}

const MAX_QUOTED = 300;

function nothingDrawn({ choices }: Reply): GatewayError {
  const refused = choices.find(
    ({ end }) => end.reason === 'safety' || end.reason === 'prompt-blocked',
  );
  if (refused !== undefined) {
    const because = blockMessage(refused.end);
    const told = because === undefined ? '' : ` ${because.text}`;
    return new GatewayError({
      kind: 'upstream-rejected',
      source: 'upstream',
      reason: 'content-policy',
      field: 'prompt',
      message: `The model refused to draw this; change the prompt.${told}`,
    });
  }
  const words = choices
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'text' ? block.text : [])))
    .join(' ')
    .trim();
  const said = words === '' ? '' : ` It said: ${words.slice(0, MAX_QUOTED)}`;
  return new GatewayError({
    kind: 'upstream-rejected',
    source: 'upstream',
    field: 'prompt',
    message: `The model answered without an image.${said}`,
  });
}

/** @throws GatewayError 400 naming the field */
export function readGenerationCall(input: RouteInput): GenerateCall {
  return toCall(readGeneration(input));
}

/** @throws GatewayError 400 naming the field */
export function readEditCall(input: RouteInput): GenerateCall {
  return toCall(readEdit(input));
}

/** @throws GatewayError 400 always: no upstream varies a picture without being told how */
export function refuseVariations(): never {
  throw invalidRequest(
    'image',
    'Variations without a prompt are not available; send the picture to /v1/images/edits with a ' +
      'prompt that says what to change.',
    'unsupported',
  );
}

/** Several images are several calls: the models that draw give one at a time. */
function toCall({ model, stream, user, requests, settings }: ImageRequest): GenerateCall {
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: user,
    request: requests[0],
    fanOut:
      requests.length === 1
        ? undefined
        : { requests, takesPartial: true, isStreamedApart: true, check: requireDrawing },
    createStreamWriter: (context) => new ImageWriter(context, settings),
    writeReply: (reply, context) => writeImages(reply, context, settings),
  };
}
