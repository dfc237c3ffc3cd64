// Which region's way of writing dates goes with the language of the console.

/**
 * English alone would be the United States': a browser that reads British English gets `21 Nov 2026`.
 * Numbers stay as the language has them, for that is how they are typed into fields.
 */
export function regionOf(language: string, preferred = navigator.languages): string {
  if (language !== 'en') return language;
  return preferred.find((tag) => /^en(-|$)/.test(tag)) ?? language;
}
