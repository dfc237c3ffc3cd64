// The sizes in which image models draw: aspect ratios and size classes to pixels and tokens.
// Source: generate-content API, "Image generation", table of Gemini 3 Pro Image.

export type SizeClass = '1K' | '2K' | '4K';

export interface PixelArea {
  readonly width: number;
  readonly height: number;
}

export const DEFAULT_RATIO = '1:1';
export const DEFAULT_SIZE: SizeClass = '1K';

/** Pixels of the class 1K; the larger classes have twice and four times the sides. */
const AREAS: ReadonlyMap<string, PixelArea> = new Map([
  ['1:1', { width: 1024, height: 1024 }],
  ['2:3', { width: 848, height: 1264 }],
  ['3:2', { width: 1264, height: 848 }],
  ['3:4', { width: 896, height: 1200 }],
  ['4:3', { width: 1200, height: 896 }],
  ['4:5', { width: 928, height: 1152 }],
  ['5:4', { width: 1152, height: 928 }],
  ['9:16', { width: 768, height: 1376 }],
  ['16:9', { width: 1376, height: 768 }],
  ['21:9', { width: 1584, height: 672 }],
]);

export const ASPECT_RATIOS: readonly string[] = [...AREAS.keys()];

/** How often the sides of the class 1K go into those of the others. */
const SCALES: ReadonlyMap<string, 1 | 2 | 4> = new Map([
  ['1K', 1],
  ['2K', 2],
  ['4K', 4],
]);

export const SIZE_CLASSES: readonly string[] = [...SCALES.keys()];

/** Pixels of the class 1K; square for a ratio that is none. */
export function areaOf(ratio: string): PixelArea {
  return AREAS.get(ratio) ?? { width: 1024, height: 1024 };
}

export function scaleOf(size: string): 1 | 2 | 4 {
  return SCALES.get(size) ?? 1;
}

/** Output tokens of one picture. */
export function pictureTokens(size: string): number {
  return size === '4K' ? 2000 : 1120;
}

/** The ratio whose picture is most like this one in shape. */
export function nearestRatio({ width, height }: PixelArea): string {
  const distance = (ratio: string): number => {
    const area = areaOf(ratio);
    return Math.abs(Math.log((area.width * height) / (area.height * width)));
  };
  return ASPECT_RATIOS.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}
