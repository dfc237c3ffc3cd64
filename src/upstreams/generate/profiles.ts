// The profiles: how to reach each upstream that speaks the generate-content wire.

import { type GatewayError, gatewayError } from '../../canonical/error.ts';
import type { ModelCapabilities } from '../../canonical/model.ts';
import type { Optional } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import {
  HEADER_SPELLINGS,
  neutralModelName,
  realModelName,
  type Vocabulary,
} from '../../wire/vocabulary.ts';
import type { AccountAccess } from '../upstream.ts';
import { trimBaseUrl, userAgentOf } from '../wire-parts.ts';

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
const NEUTRAL_EXTRA_FIELDS: readonly ExtraField[] = [
  ...OUTSIDE_VERTEX_FIELDS,
  ...OUTSIDE_PUBLIC_FIELDS,
];

/** Those of the public API. */
const PUBLIC_EXTRA_FIELDS: readonly ExtraField[] = [
  ...EVERYWHERE_FIELDS,
  ...OUTSIDE_VERTEX_FIELDS,
  ...PUBLIC_FIELDS,
];

/** Those of Vertex AI. */
const VERTEX_EXTRA_FIELDS: readonly ExtraField[] = [
  ...EVERYWHERE_FIELDS,
  ...OUTSIDE_PUBLIC_FIELDS,
  ...VERTEX_FIELDS,
];

const VERSION_PATH = '/v1beta';

/** The paths of an upstream whose models stand right below its version segment. */
const PLAIN_PATHS: Pick<
  GenerateProfile,
  'modelPath' | 'listPath' | 'listPageSize' | 'mayRefuseList'
> = {
  modelPath: (_access, modelId, method) =>
    `${VERSION_PATH}/models/${encodeURIComponent(modelId)}:${method}`,
  listPath: `${VERSION_PATH}/models`,
  listPageSize: 1000,
  mayRefuseList: false,
};

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
function unlistedRealId(name: string): string {
  return UNLISTED_IDS.get(neutralModelName(name)) ?? realModelName(name);
}

/** The spellings of a name, that of the upstream's vocabulary first. */
function spellingsIn(vocabulary: Vocabulary, name: string): readonly string[] {
  const [own, other] =
    vocabulary === 'real'
      ? [realModelName(name), neutralModelName(name)]
      : [neutralModelName(name), realModelName(name)];
  return [...new Set([own, name, other])];
}

export interface GenericProfileOptions {
  readonly baseUrl: string;
  readonly vocabulary: Vocabulary;
  /** How an API key travels; access tokens are always Bearer. */
  readonly auth: 'bearer' | 'header' | 'query';
  /** `generic` unless several such upstreams are configured. */
  readonly id?: string | undefined;
  readonly version?: string | undefined;
  readonly quotaPath?: string | undefined;
}

/** Any other upstream of the wire, as the operator describes it. */
export function createGenericProfile(options: GenericProfileOptions): GenerateProfile {
  const { vocabulary, auth } = options;
  const isReal = vocabulary === 'real';
  return {
    id: options.id ?? 'generic',
    vocabulary,
    baseUrl: trimBaseUrl(options.baseUrl, VERSION_PATH),
    userAgent: userAgentOf(options.version),
    authHeaders({ credentialKind, credential }) {
      if (auth === 'bearer' || credentialKind === 'access-token') {
        return { authorization: `Bearer ${credential}` };
      }
      if (auth === 'query') return {};
      const [real, neutral] = HEADER_SPELLINGS.generateApiKey;
      return { [isReal ? real : neutral]: credential };
    },
    ...(auth === 'query' && {
      authQuery: ({ credentialKind, credential }: AccountAccess) =>
        credentialKind === 'api-key' ? { key: credential } : {},
    }),
    ...PLAIN_PATHS,
    hasProjectInBody: true,
    modelIds: (name) => spellingsIn(vocabulary, name),
    ...(isReal ? { unlistedId: unlistedRealId } : {}),
    capabilityOverrides: {},
    extraFields: isReal ? PUBLIC_EXTRA_FIELDS : NEUTRAL_EXTRA_FIELDS,
    countForm: 'whole-or-contents',
    quotaPath: options.quotaPath ?? `${VERSION_PATH}/quota`,
    readsUri: () => false,
  };
}

/** The embedded sandbox: the catalogue's own names, Bearer, project in the body. */
export function createSandboxProfile({
  id = 'sandbox',
  baseUrl,
  version,
}: Pick<GenericProfileOptions, 'id' | 'baseUrl' | 'version'>): GenerateProfile {
  return {
    ...createGenericProfile({ id, baseUrl, version, vocabulary: 'neutral', auth: 'bearer' }),
    isSandbox: true,
    modelIds: (name) => [name],
    capabilityOverrides: { takesJsonSchema: true },
    countForm: 'whole-request',
  };
}

const PUBLIC_BASE_URL = 'https://generativelanguage.googleapis.com';

/** The public Gemini API: real words, API key or OAuth token, project as a header. */
export function createGeminiApiProfile({
  id = 'gemini-api',
  baseUrl = PUBLIC_BASE_URL,
  version,
}: Optional<GenericProfileOptions> = {}): GenerateProfile {
  const trimmed = trimBaseUrl(baseUrl, VERSION_PATH);
  const fileHomes = [PUBLIC_BASE_URL, trimmed].map((home) => `${home}${VERSION_PATH}/files/`);
  return {
    id,
    vocabulary: 'real',
    baseUrl: trimmed,
    userAgent: userAgentOf(version),
    authHeaders,
    ...PLAIN_PATHS,
    modelIds: (name) => spellingsIn('real', name),
    unlistedId: unlistedRealId,
    capabilityOverrides: { takesJsonSchema: true },
    extraFields: PUBLIC_EXTRA_FIELDS,
    countForm: 'whole-request',
    // Uploaded files and public videos: ai.google.dev, "Files API" and "Video understanding".
    readsUri: (uri) => isVideoPage(uri) || fileHomes.some((home) => uri.startsWith(home)),
    webFileType,
  };
}

function authHeaders(access: AccountAccess): Record<string, string> {
  if (access.credentialKind === 'api-key') return { 'x-goog-api-key': access.credential };
  const authorization = `Bearer ${access.credential}`;
  if (!access.projectId) return { authorization };
  return { authorization, 'x-goog-user-project': access.projectId };
}

/** By file extension; the types that the public API fetches itself. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
  ['pdf', 'application/pdf'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['webm', 'video/webm'],
]);

/**
 * Undefined for what is not fetched, and for addresses that do not tell their type, which the API wants to
 * be told. ai.google.dev, "File input methods", external URLs; `@ai-sdk/google`, `supportedUrls`: https
 * alone, and no models before generation 2.5.
 */
function webFileType(uri: string, modelId: string): string | undefined {
  if (!uri.startsWith('https://') || !/^gemini-(?!1\.|2\.0)/.test(modelId)) return undefined;
  const [, ending = ''] = /\.(\w+)$/.exec(URL.parse(uri)?.pathname ?? '') ?? [];
  return TYPES.get(ending.toLowerCase());
}

export interface VertexProfileOptions {
  readonly id?: string | undefined;
  /** Undefined for the address of the location. */
  readonly baseUrl?: string | undefined;
  /** A region, a multi-region (`us`, `eu`) or `global`, which is the default. */
  readonly location?: string | undefined;
  readonly version?: string | undefined;
}

/** Locations of several regions, whose addresses look different. */
const MULTI_REGIONS = ['us', 'eu'];

/**
 * Vertex AI: real words, project and location in the path, Bearer tokens or API keys.
 * Sources: Vertex AI, "Method: endpoints.generateContent", "Locations" and "Express mode REST API
 * reference"; the official SDK for JavaScript for the model list and the multi-regions.
 */
export function createVertexProfile(options: VertexProfileOptions = {}): GenerateProfile {
  const { location = 'global' } = options;
  const versionPath = '/v1';
  return {
    id: options.id ?? 'vertex',
    vocabulary: 'real',
    baseUrl: trimBaseUrl(options.baseUrl ?? addressOf(location), versionPath),
    userAgent: userAgentOf(options.version),
    // The project is in the path.
    authHeaders: (access) => authHeaders({ ...access, projectId: undefined }),
    modelPath: (access, modelId, method) =>
      `${versionPath}/${parentOf(access, location)}publishers/google/models/` +
      `${encodeURIComponent(modelId)}:${method}`,
    // The list stands at this version only, and takes no project.
    listPath: '/v1beta1/publishers/google/models',
    listPageSize: 100,
    mayRefuseList: true,
    modelIds: (name) => spellingsIn('real', name),
    unlistedId: unlistedRealId,
    capabilityOverrides: { takesJsonSchema: true },
    extraFields: VERTEX_EXTRA_FIELDS,
    isVertex: true,
    countForm: 'request-fields',
    embedForm,
    // Cloud Storage and public videos: Vertex AI, "Content", `fileData.fileUri`.
    readsUri: (uri) => isVideoPage(uri) || uri.startsWith('gs://'),
  };
}

/**
 * Text models of the first generation answer `:predict` only, the others `:embedContent` only; the
 * line is drawn as the official SDK for JavaScript draws it (`models.embedContent`).
 */
function embedForm(modelId: string): EmbedFormName {
  const isContent =
    (modelId.includes('gemini') && modelId !== 'gemini-embedding-001') || modelId.includes('maas');
  return isContent ? 'configured-content' : 'prediction';
}

function addressOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  return MULTI_REGIONS.includes(location)
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`;
}

/** Express mode: API keys without a project are served, by the global address only. */
function parentOf(
  { accountId, credentialKind, projectId }: AccountAccess,
  location: string,
): string {
  if (projectId) {
    const [project, place] = [projectId, location].map(encodeURIComponent);
    return `projects/${project}/locations/${place}/`;
  }
  if (credentialKind === 'api-key' && location === 'global') return '';
  throw missingProject(accountId, credentialKind);
}

/** Nothing is wrong with the credential; the account is only left out for a while, until it has one. */
function missingProject(
  accountId: string,
  credentialKind: AccountAccess['credentialKind'],
): GatewayError {
  const message =
    credentialKind === 'api-key'
      ? told`Account ${accountId} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment), or use the location global.`
      : told`Account ${accountId} has no project, which Vertex AI needs. Set the project of the account (ISTHMUS_UPSTREAM_PROJECT for accounts of the environment).`;
  return gatewayError('upstream-auth', message, {
    failure: { kind: 'unauthenticated', detail: message },
  });
}
