// The grammars of image and transcription streams.

import type { StreamEnd } from './chat.ts';
import { readNamedFrames } from './frames.ts';
import { check, checkChatError, checkSum, countIn, idIn, objectIn, textIn } from './rule.ts';

/** Sources: `openai` resources/images: partial images, then one `completed` an image; nothing else. */
export function checkImageStream(text: string): StreamEnd {
  const frames = readNamedFrames(text);
  check(frames.length > 0, 'a stream says something');
  let partials = 0;
  for (const [index, frame] of frames.entries()) {
    const type = textIn(frame, 'type');
    if (type === 'error') {
      check(index === frames.length - 1, 'an error is the last word');
      check(partials === index, 'no finished image stands before an error');
      checkChatError(frame);
      return 'error';
    }
    const kind = /^image_(?:generation|edit)\.(partial_image|completed)$/.exec(type)?.[1];
    check(kind !== undefined, `${type} is an image event`);
    idIn(frame, 'b64_json');
    countIn(frame, 'created_at');
    idIn(frame, 'output_format');
    if (kind === 'partial_image') {
      countIn(frame, 'partial_image_index');
      partials += 1;
    } else checkUsage(objectIn(frame, 'usage'));
  }
  check(frames.at(-1)?.type !== undefined && partials < frames.length, 'an image is finished');
  return 'success';
}

/** Sources: `openai` resources/audio/transcriptions: deltas that add up to the text of `done`. */
export function checkTranscriptionStream(text: string): StreamEnd {
  const frames = readNamedFrames(text);
  let whole = '';
  for (const [index, frame] of frames.entries()) {
    const isLast = index === frames.length - 1;
    switch (frame.type) {
      case 'transcript.text.delta':
        whole += textIn(frame, 'delta');
        break;
      case 'transcript.text.done':
        check(isLast && textIn(frame, 'text') === whole, 'done is last and repeats the deltas');
        checkUsage(objectIn(frame, 'usage'));
        return 'success';
      case 'error':
        check(isLast, 'an error is the last word');
        checkChatError(frame);
        return 'error';
      default:
        throw new Error(`${String(frame.type)} is no transcription event`);
    }
  }
  throw new Error('The stream has no end.');
}

function checkUsage(usage: Parameters<typeof checkSum>[0]): void {
  checkSum(usage, ['input_tokens', 'output_tokens'], 'total_tokens');
}
