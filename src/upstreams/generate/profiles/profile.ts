// What a profile says: how to reach one upstream that speaks the generate-content wire.

import type { ModelCapabilities } from '../../../canonical/model.ts';
import { neutralModelName, realModelName, type Vocabulary } from '../../../wire/vocabulary.ts';
import type { AccountAccess } from '../../upstream.ts';

export interface GenerateProfile {
  readonly id: string;
  /** The words this upstream has for tool keys and headers. */
  readonly vocabulary: Vocabulary;
  /** True where the answers are made up. */
  readonly isSandbox?: boolean | undefined;
  /** Without a slash or a version at the end. */
  readonly baseUrl: string;
  readonly userAgent: string;
  /** Headers that carry the credential, and the project where it is a header. */
  authHeaders(access: AccountAccess): Record<string, string>;
  /** Query parameters that carry the credential; absent for most profiles. */
  authQuery?(access: AccountAccess): Record<string, string>;
  /**
   * Path of one method of one model below the base URL, percent-encoded.
   * @throws GatewayError when the account lacks what the path needs; nothing is sent then.
   */
  modelPath(access: AccountAccess, modelId: string, method: ModelMethod): string;
  /** Path of the model list below the base URL. */
  readonly listPath: string;
  readonly listPageSize: number;
  /** True where an account may use models without being let see the list: a refusal is an empty list. */
  readonly mayRefuseList: boolean;
  /** True where the body names the project of the account. */
  readonly hasProjectInBody?: true | undefined;
  /** The spellings under which the upstream may know a model, best first; never empty. */
  modelIds(name: string): readonly string[];
  /** The id to ask for while the upstream's list is unknown; the first of `modelIds` where the profile does not say. */
  unlistedId?(name: string): string;
  /** What this upstream does differently from the built-in model data. */
  readonly capabilityOverrides: Partial<ModelCapabilities>;
  /** The request fields beyond the common ones that this upstream documents. */
  readonly extraFields: readonly ExtraField[];
  readonly countForm: CountForm;
  /** How a model takes what it embeds; `content` where the profile does not say. */
  embedForm?(modelId: string): EmbedFormName;
  /** Path below the base URL that answers with quota figures; absent when there is none. */
  readonly quotaPath?: string | undefined;
  /** True where models take what the public API refuses for them. */
  readonly isVertex?: true | undefined;
  /** True for file addresses the upstream itself can read. */
  readsUri(uri: string): boolean;
  /** The type of a public file that the upstream fetches for this model; absent where it fetches none. */
  webFileType?(uri: string, modelId: string): string | undefined;
}

export type ModelMethod =
  | 'generateContent'
  | 'streamGenerateContent'
  | 'countTokens'
  | 'embedContent'
  | 'batchEmbedContents'
  | 'predict';

/**
 * `content`: one or several contents with their settings beside them; `configured-content`: one
 * content with its settings in an object; `prediction`: plain text for a `:predict` call.
 */
export type EmbedFormName = 'content' | 'configured-content' | 'prediction';

/**
 * What token counting takes: a whole request in a field of its own, the request's own fields that
 * bear on the count, or whichever it turns out to take, a whole request or nothing but its contents.
 */
type CountForm = 'whole-request' | 'request-fields' | 'whole-or-contents';

/** What both the public API and Vertex AI have, and upstreams with the neutral words not. `@google/genai`, `google-genai`. */
const EVERYWHERE_FIELDS = [
  'serviceTier',
  'contents.parts.inlineData.displayName',
  'contents.parts.fileData.displayName',
  'contents.parts.functionResponse.parts.inlineData.displayName',
  'contents.parts.functionResponse.parts.fileData.displayName',
  'contents.parts.audioTranscription',
  'contents.parts.mediaProcessing',
  'contents.parts.speechMetadata',
  'contents.parts.documentMetadata',
  'contents.parts.spreadsheetMetadata',
  'contents.parts.audioMetadata',
  'contents.parts.videoMetadata.contentLayers',
  'contents.parts.functionResponse.parts.documentMetadata',
  'contents.parts.functionResponse.parts.spreadsheetMetadata',
  'contents.parts.functionResponse.parts.audioMetadata',
  'contents.parts.functionResponse.parts.videoMetadata',
  'contents.parts.functionResponse.parts.mediaResolution',
  'tools.computerUse.enablePromptInjectionDetection',
  'tools.computerUse.disabledSafetyPolicies',
  'generationConfig.speechConfig.voiceConfig.replicatedVoiceConfig',
  'generationConfig.speechConfig.voiceConfig.voice',
  'generationConfig.speechConfig.multiSpeakerVoiceConfig.speakerVoiceConfigs.voiceConfig.replicatedVoiceConfig',
  'generationConfig.speechConfig.multiSpeakerVoiceConfig.speakerVoiceConfigs.voiceConfig.voice',
] as const;

/** What the wire has of old, and Vertex AI not. `@google/genai`, types of requests: "not supported in Vertex AI". */
const OUTSIDE_VERTEX_FIELDS = [
  'contents.parts.partMetadata',
  'contents.parts.toolCall',
  'contents.parts.toolResponse',
  'contents.parts.functionResponse.willContinue',
  'systemInstruction.parts.partMetadata',
  'tools.fileSearch',
  'tools.googleSearch.timeRangeFilter',
  'toolConfig.includeServerSideToolInvocations',
  'generationConfig.enableEnhancedCivicAnswers',
] as const;

/** ai.google.dev, "GenerateContent API reference"; `@google/genai`: "not supported in Vertex AI". */
const PUBLIC_FIELDS = [
  ...['store', 'continuationToken', 'tools.mcpServers'],
  'contents.parts.functionResponse.parts.mediaProcessing',
] as const;

/** What the wire has, and the public API not. `@google/genai`, `imageConfigToMldev`. */
const OUTSIDE_PUBLIC_FIELDS = ['generationConfig.imageConfig.personGeneration'] as const;

/** `@google/genai`, types of requests: "not supported in Gemini API". */
const VERTEX_FIELDS = [
  'labels',
  'modelArmorConfig',
  'outputConfig',
  'tools.retrieval',
  'tools.enterpriseWebSearch',
  'tools.exaAiSearch',
  'tools.parallelAiSearch',
  'tools.googleSearch.excludeDomains',
  'tools.googleSearch.blockingConfidence',
  'tools.googleMaps.authConfig',
  'tools.googleMaps.groundingTypes',
  'toolConfig.functionCallingConfig.streamFunctionCallArguments',
  'safetySettings.method',
  'generationConfig.audioTimestamp',
  'generationConfig.routingConfig',
  'generationConfig.modelConfig',
  'generationConfig.enableAffectiveDialog',
  'generationConfig.imageConfig.prominentPeople',
  'generationConfig.imageConfig.imageOutputOptions',
] as const;

/** Request fields that not every upstream takes, by the keys that lead to them; lists are gone through. */
export const EXTRA_FIELDS = [
  ...EVERYWHERE_FIELDS,
  ...OUTSIDE_VERTEX_FIELDS,
  ...PUBLIC_FIELDS,
  ...OUTSIDE_PUBLIC_FIELDS,
  ...VERTEX_FIELDS,
] as const;
export type ExtraField = (typeof EXTRA_FIELDS)[number];

/** Those of upstreams with the neutral words. */
export const NEUTRAL_EXTRA_FIELDS: readonly ExtraField[] = [
  ...OUTSIDE_VERTEX_FIELDS,
  ...OUTSIDE_PUBLIC_FIELDS,
];

/** Those of the public API. */
export const PUBLIC_EXTRA_FIELDS: readonly ExtraField[] = [
  ...EVERYWHERE_FIELDS,
  ...OUTSIDE_VERTEX_FIELDS,
  ...PUBLIC_FIELDS,
];

/** Those of Vertex AI. */
export const VERTEX_EXTRA_FIELDS: readonly ExtraField[] = [
  ...EVERYWHERE_FIELDS,
  ...OUTSIDE_PUBLIC_FIELDS,
  ...VERTEX_FIELDS,
];

/** The paths of an upstream whose models stand right below its version segment, such as `/v1beta`. */
export function plainPaths(
  versionPath: string,
): Pick<GenerateProfile, 'modelPath' | 'listPath' | 'listPageSize' | 'mayRefuseList'> {
  return {
    modelPath: (_access, modelId, method) =>
      `${versionPath}/models/${encodeURIComponent(modelId)}:${method}`,
    listPath: `${versionPath}/models`,
    listPageSize: 1000,
    mayRefuseList: false,
  };
}

const VIDEO_PAGES = [
  'https://www.youtube.com/watch?',
  'https://youtube.com/watch?',
  'https://youtu.be/',
];

/** Pages of a public video, which is read instead of the page (ai.google.dev, "Video understanding"). */
export function isVideoPage(uri: string): boolean {
  return VIDEO_PAGES.some((page) => uri.startsWith(page));
}

const FLASH = 'gemini-3-flash-preview';
const PRO = 'gemini-3.1-pro-preview';

/** What stands for the catalogue's names where an account's list is unknown, so that none can be chosen from it. */
const UNLISTED_IDS: ReadonlyMap<string, string> = new Map([
  ['alpha-3-flash', FLASH],
  ['alpha-3-pro-high', PRO],
  ['alpha-3-pro-low', PRO],
  ['alpha-3-pro-image', 'gemini-3-pro-image-preview'],
  ['beta-sonnet-4-6', PRO],
  ['beta-sonnet-4-6-thinking', PRO],
  ['beta-opus-4-6-thinking', PRO],
]);

/** The id to ask an upstream of the real models for while its list is unknown. */
export function unlistedRealId(name: string): string {
  return UNLISTED_IDS.get(neutralModelName(name)) ?? realModelName(name);
}

/** The spellings of a name, that of the upstream's vocabulary first. */
export function spellingsIn(vocabulary: Vocabulary, name: string): readonly string[] {
  const [own, other] =
    vocabulary === 'real'
      ? [realModelName(name), neutralModelName(name)]
      : [neutralModelName(name), realModelName(name)];
  return [...new Set([own, name, other])];
}
