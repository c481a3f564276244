/** The least contrast at which text is read (WCAG 2.2, 1.4.3). */
export const READABLE = 4.5;

/** Contrast of two colours as `#rrggbb`, from 1 to 21 (WCAG 2.2). */
export function contrastOf(one: string, other: string): number {
  const [brighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((first, second) => second - first);
  return (brighter + 0.05) / (darker + 0.05);
}

/** A colour for what is written on another: the wanted one where that is read there, else white or black, one of which always is. */
export function writingOn(colour: string, wanted: string): string {
  return [wanted, '#ffffff'].find((it) => contrastOf(colour, it) >= READABLE) ?? '#000000';
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
