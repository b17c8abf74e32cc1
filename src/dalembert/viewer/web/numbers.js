// Numbers as text: few digits, real minus signs, angles in the unit that is asked for.

export const angles = { degrees: false };

// What to multiply by, and the unit then: rad, rad/s and rad/s^2 become deg, deg/s and deg/s^2 for who asks, as in figures.
export function inUnit(unit) {
  return angles.degrees && unit.startsWith("rad") ? [180 / Math.PI, unit.replace("rad", "deg")] : [1, unit];
}

export function short(value, digits = 3) {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const [digitsOf, power] = value.toExponential(digits - 1).split("e");
  if (size < 1e-3 || size >= 1e5) return `${Number(digitsOf)}e${Number(power)}`.replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replaceAll("-", "−");
}

// 0 for what is rounding beside a usual value.
export const nearZero = (value, usual) => (Math.abs(value) < 1e-10 * usual ? 0 : value);

export const beside = (value, usual, digits) => short(nearZero(value, usual), digits);

export function vector({ x, y, z }, usual = 0) {
  const largest = Math.max(Math.abs(x), Math.abs(y), Math.abs(z), usual);
  return [x, y, z].map((v) => beside(v, largest)).join(", ");
}

// Numbers in a text as in the plots: minus signs, no zero before an exponent; hyphens stay.
export function typeset(text) {
  return text.replace(/(?<=\b\d[\d.]*e)(-?)\+?0*(?=\d+\b)/g, "$1").replace(/(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)/g, "−");
}
