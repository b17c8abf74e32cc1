// Numbers as text: few digits, real minus signs.

export function short(value, digits = 3) {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e5) return value.toExponential(size < 1e-3 && digits < 4 ? 0 : 2).replace("e+", "e").replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replaceAll("-", "−");
}

export const vector = (v) => `${short(v.x)}, ${short(v.y)}, ${short(v.z)}`;

// Minus signs of numbers in a text as in the plots; hyphens stay.
export function typeset(text) {
  return text.replace(/(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)/g, "−");
}
