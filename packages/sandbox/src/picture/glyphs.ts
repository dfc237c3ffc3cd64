// A bitmap font of five by seven pixels for what can be typed on a plain keyboard.

export const GLYPH_WIDTH = 5;
export const GLYPH_HEIGHT = 7;

/** Each word: a character, then its seven rows from the top as digits of base 32, left pixel first. */
const DRAWN = [
  'A4ahhvhh Buhhuhhu Cehggghe Dsihhhis Evgguggv Fvgguggg Gehgnhhf Hhhhvhhh Ie44444e J72222ic Khikokih',
  'Lggggggv Mhrllhhh Nhhpljhh Oehhhhhe Puhhuggg Qehhhlid Ruhhukih Sfgge11u Tv444444 Uhhhhhhe Vhhhhha4',
  'Whhhllla Xhha4ahh Yhhha444 Zv1248gv a00e1fhf bggmphhu c00egghe d11djhhf e00ehvge f698s888 g0fhhf1e',
  'hggmphhh i40c444e j20622ic kggikoki lc44444e m00qllhh n00mphhh o00ehhhe p00uhugg q00fhf11 r00mpggg',
  's00fge1u t88s8896 u00hhhjd v00hhha4 w00hhlla x00ha4ah y0hhhf1e z00v248v 0ehjlphe 14c4444e 2eh1248v',
  '3v2421he 426aiv22 5vgu11he 668guhhe 7v124888 8ehhehhe 9ehhf12c !4444004 "aaa0000 #aavavaa $4fke5u4',
  "%op248j3 &cik8lid 'c480000 (2488842 )8422248 *04lel40 +044v440 ,0000c48 -000v000 .00000cc /01248g0",
  ':0cc0cc0 ;0cc0c48 <248g842 =00v0v00 >8421248 ?eh12404 @eh1dlle [e88888e \\0g84210 ]e22222e ^4ah0000',
  '_000000v {2448442 |4444444 }8442448 ~0008l20',
  '`8420000',
];

const GLYPHS: ReadonlyMap<string, readonly number[]> = new Map(
  DRAWN.flatMap((line) => line.split(' ')).map((word) => [word.charAt(0), readRows(word.slice(1))]),
);
/** What stands for a character the font does not have. */
const BOX = readRows('vhhhhhv');

/** The rows of a character from the top; the highest of five bits is the left pixel. */
export function glyphOf(character: string): readonly number[] {
  return GLYPHS.get(character) ?? (character === ' ' ? [] : BOX);
}

/** The text in characters of the font: accents and typographic forms are left out. */
export function asPlainCharacters(text: string): string {
  return text
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\u2010-\u2015]/g, '-')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function readRows(digits: string): readonly number[] {
  return Array.from(digits, (digit) => Number.parseInt(digit, 32));
}
