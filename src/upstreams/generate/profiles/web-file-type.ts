// The type of a file on the web by the ending of its address, of the types the public API fetches itself.

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
export function webFileType(uri: string, modelId: string): string | undefined {
  if (!uri.startsWith('https://') || !/^gemini-(?!1\.|2\.0)/.test(modelId)) return undefined;
  const [, ending = ''] = /\.(\w+)$/.exec(URL.parse(uri)?.pathname ?? '') ?? [];
  return TYPES.get(ending.toLowerCase());
}
