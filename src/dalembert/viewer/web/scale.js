// Arrows of round sizes that tell how long arrows are in the picture, as pictures have them (arrows.py: keys_of, raster.py).

import { element } from "./page.js";

const UNITS = { force: "N", torque: "N m" };
const WIDEST = { force: 90, torque: 34 }; // [px]
const PREFIXES = [[1e6, "M"], [1e3, "k"], [1, ""]];

// perMetre: what a metre of arrows means, by what it is; metre: of the picture [px]
export function keysOf(perMetre, metre) {
  return Object.keys(UNITS)
    .filter((what) => perMetre[what])
    .map((what) => {
      const most = (perMetre[what] * WIDEST[what]) / metre;
      const power = 10 ** Math.floor(Math.log10(most));
      const value = [5, 2, 1].map((k) => k * power).find((one) => one <= most * (1 + 1e-9));
      const [factor, prefix] = PREFIXES.find(([f, p]) => value >= 9.9999 * f || !p);
      return { what, pixels: (value / perMetre[what]) * metre, text: `${Number((value / factor).toPrecision(6))} ${prefix}${UNITS[what]}` };
    });
}

// The paths of its shaft and of its tip, from x = 0 about y = 0 [px].
export function outline({ what, pixels: wide }) {
  const r = wide / 2;
  return what === "force" ? [`M0 0H${wide - 8}`, `M${wide} 0l-9 4v-8z`] : [`M${r} ${-r}A${r} ${r} 0 1 0 ${wide} 0`, `M${wide - 5} 2h8l-4 -9z`];
}

export class Scale {
  constructor(parent) {
    this.box = element(parent, "p", "scale", "no arrows");
  }

  update(perMetre, metre) {
    const keys = keysOf(perMetre, metre);
    const told = JSON.stringify(keys);
    if (told === this.told) return;
    this.told = told;
    this.keys = keys;
    this.box.replaceChildren(keys.length ? "" : "no arrows");
    for (const key of keys) {
      const high = key.what === "force" ? 10 : key.pixels + 10;
      const svg = this.box.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
      for (const [name, value] of Object.entries({ width: key.pixels + 6, height: high, viewBox: `-2 ${-high / 2} ${key.pixels + 6} ${high}`, "aria-hidden": true })) svg.setAttribute(name, value);
      for (const path of outline(key)) svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path")).setAttribute("d", path);
      element(this.box, "span", "", key.text);
    }
  }
}
