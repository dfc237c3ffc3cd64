// Texts as PostgreSQL takes them, which has no place for the character U+0000.

/** A noncharacter, which texts of people do not hold; what holds it comes back whole all the same. */
const ESCAPE = '\uFDD0';
const CODES: Readonly<Record<string, string>> = {
  '\0': `${ESCAPE}0`,
  [ESCAPE]: `${ESCAPE}1`,
};

/** Halves of characters become U+FFFD, as in every text that is stored. */
export function writeText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  if (!whole.includes('\0') && !whole.includes(ESCAPE)) return whole;
  return whole.replace(/[\0\uFDD0]/g, (character) => CODES[character] ?? character);
}

export function readText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(/\uFDD0([01])/g, (_, code) => (code === '0' ? '\0' : ESCAPE));
}
