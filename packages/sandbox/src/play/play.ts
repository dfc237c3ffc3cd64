// Plays one request: reads what it asks for and decides what each candidate holds.

import type { SandboxModel } from '../models.ts';
import { countPromptTokens, cutIntoTokens } from '../tokens.ts';
import type { GenerateRequest } from '../wire.ts';
import { type Answer, type Candidate, countOutputTokens, type IssuedCall } from './answer.ts';
import { type ChosenCalls, chooseCalls } from './choose-calls.ts';
import { composeText } from './compose-text.ts';
import type { Directives } from './directives.ts';
import { writeGrounding } from './grounding.ts';
import type { LastTurn } from './last-turn.ts';
import { describeOrder, draw, drawDrafts, readPictureOrder } from './picture.ts';
import { describeRequest } from './reflection.ts';
import { planThinking, type Thinking } from './thinking.ts';
import { writeUrlContext } from './url-context.ts';

export interface Play {
  readonly request: GenerateRequest;
  readonly model: SandboxModel;
  readonly turn: LastTurn;
  readonly directives: Directives;
  readonly cachedTokens: number;
  /** A fresh random id with the given prefix. */
  createId(prefix: string): string;
}

interface Scene extends Play {
  readonly thinking: Thinking;
  readonly chosen: ChosenCalls;
  readonly candidateCount: number;
  /** Room for each candidate, thoughts taken off. */
  readonly maxTokens: number;
}

/** Endings that come without any content. */
const EMPTY_ENDINGS = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'NO_IMAGE',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'IMAGE_OTHER',
]);
/** Endings that leave a picture whole: a limit cuts words alone. */
const DRAWING_ENDINGS = new Set(['STOP', 'MAX_TOKENS']);

/** The same request always gets the same answer, ids apart. */
export function play(input: Play): Answer {
  const { request, model, turn, directives } = input;
  const config = request.generationConfig ?? {};
  const thinking = planThinking(request, model, turn);
  const scene: Scene = {
    ...input,
    thinking,
    chosen: chooseCalls(request, turn),
    candidateCount: config.candidateCount ?? 1,
    maxTokens: (config.maxOutputTokens ?? Number.POSITIVE_INFINITY) - thinking.tokens,
  };
  const isBlocked = directives.blockReason !== undefined;
  return {
    modelId: model.id,
    family: model.family,
    responseId: input.createId(''),
    prompt: countPromptTokens(request),
    cachedTokens: input.cachedTokens,
    thinkingTokens: isBlocked ? 0 : thinking.tokens,
    blockReason: directives.blockReason,
    candidates: isBlocked
      ? []
      : Array.from({ length: scene.candidateCount }, (_, index) => playCandidate(scene, index)),
  };
}

function playCandidate(scene: Scene, index: number): Candidate {
  const forced = scene.directives.finishReason;
  const candidate = scene.chosen.calls.length > 0 ? playCalls(scene) : playText(scene, index);
  if (forced === undefined) return candidate;
  if (!EMPTY_ENDINGS.has(forced)) {
    if (DRAWING_ENDINGS.has(forced)) return { ...candidate, finishReason: forced };
    return { ...candidate, drafts: [], pictures: [], finishReason: forced };
  }
  const finishMessage = `The sandbox was told to end with ${forced}.`;
  return { thoughts: '', calls: [], text: '', finishReason: forced, finishMessage };
}

/** Calls that do not fit into the output limit are absent, never cut. */
function playCalls({ chosen, thinking, maxTokens, createId }: Scene): Candidate {
  const calls: IssuedCall[] = chosen.calls.map((call) => ({
    id: createId('fc_').slice(0, 15),
    ...call,
  }));
  const fits = countOutputTokens('', calls) <= maxTokens;
  return {
    thoughts: thinking.summary,
    calls: fits ? calls : [],
    text: '',
    finishReason: fits ? 'STOP' : 'MAX_TOKENS',
  };
}

function playText(scene: Scene, index: number): Candidate {
  const { request, model, turn, chosen, candidateCount } = scene;
  const order = readPictureOrder(request, model, turn);
  const numbering = candidateCount > 1 ? [`Candidate ${index + 1} of ${candidateCount}.`] : [];
  const drawn = order === undefined ? [] : [describeOrder(order)];
  const sentences = describeRequest({
    request,
    modelId: model.id,
    turn,
    notes: [...numbering, ...drawn, ...chosen.notes],
  });
  const { text, finishReason } = composeText({
    request,
    turn,
    sentences,
    words: scene.directives.words,
    maxTokens: scene.maxTokens,
  });
  const writesWords = request.generationConfig?.responseModalities?.includes('TEXT') ?? true;
  const said = order === undefined || writesWords ? text : '';
  const searches = request.tools?.some((tool) => tool.vendoraSearch !== undefined) === true;
  const opensPages = request.tools?.some((tool) => tool.urlContext !== undefined) === true;
  return {
    thoughts: scene.thinking.summary,
    calls: [],
    text: said,
    drafts: order !== undefined && showsThoughts(request) ? drawDrafts(order) : [],
    pictures: order === undefined ? [] : [draw(order)],
    logprobs: readLogprobs(request, said),
    finishReason,
    groundingMetadata: searches && said !== '' ? writeGrounding(turn.text, said) : undefined,
    urlContextMetadata: opensPages ? writeUrlContext(turn.text) : undefined,
  };
}

function readLogprobs({ generationConfig }: GenerateRequest, text: string): Candidate['logprobs'] {
  return generationConfig?.responseLogprobs === true ? { tokens: cutIntoTokens(text) } : undefined;
}

function showsThoughts({ generationConfig }: GenerateRequest): boolean {
  return generationConfig?.thinkingConfig?.includeThoughts === true;
}
