// Model names as clients write them.

/** Without surrounding white space and without the resource prefix some SDKs add. */
export function plainModelName(text: string): string {
  return text.trim().replace(/^models\//, '');
}
