// The corner triad: axes of the world as the camera sees them; a click looks along one.

import { Vector3 } from "three";

const AXES = [
  { name: "x", at: new Vector3(1, 0, 0), colour: "#b3261e" },
  { name: "y", at: new Vector3(0, 1, 0), colour: "#1f7a34" },
  { name: "z", at: new Vector3(0, 0, 1), colour: "#1f5fb0" },
];
const REACH = 30;

export class Triad {
  constructor(parent, eye) {
    this.eye = eye;
    this.svg = make(parent, "svg", { class: "triad", viewBox: "-46 -46 92 92", role: "group", "aria-label": "standard views" });
    this.ends = AXES.flatMap(({ name, at, colour }) =>
      [1, -1].map((sign) => {
        const text = `look along ${sign > 0 ? "" : "−"}${name}`;
        const group = make(this.svg, "g", { tabindex: 0, role: "button", "aria-label": text });
        make(group, "title", {}).textContent = text;
        const line = sign > 0 ? make(group, "line", { x1: 0, y1: 0, stroke: colour, "stroke-width": 2.5 }) : null;
        const ball = make(group, "circle", { r: sign > 0 ? 9 : 6.5, fill: colour, "fill-opacity": sign > 0 ? 1 : 0.35 });
        const label = sign > 0 ? make(group, "text", { "text-anchor": "middle", "dominant-baseline": "central" }) : null;
        if (label) label.textContent = name;
        const look = () => this.eye.from(at.clone().multiplyScalar(sign));
        group.addEventListener("click", look);
        group.addEventListener("keydown", (event) => event.key === "Enter" && look());
        return { group, line, ball, label, at: at.clone().multiplyScalar(sign) };
      }),
    );
  }

  update() {
    const [right, upright, towards] = this.eye.axes;
    const seen = `${right.toArray()} ${upright.toArray()}`;
    if (seen === this.seen) return;
    this.seen = seen;
    const depths = this.ends.map(({ group, line, ball, label, at }) => {
      const [x, y] = [REACH * at.dot(right), -REACH * at.dot(upright)];
      for (const [name, value] of [["x2", x], ["y2", y]]) line?.setAttribute(name, value);
      for (const [name, value] of [["cx", x], ["cy", y]]) ball.setAttribute(name, value);
      for (const [name, value] of [["x", x], ["y", y]]) label?.setAttribute(name, value);
      return [at.dot(towards), group];
    });
    const held = document.activeElement; // an element that is moved loses the focus
    if (!this.svg.contains(held)) this.svg.append(...depths.sort(([a], [b]) => a - b).map(([, group]) => group));
  }
}

function make(parent, tag, attributes) {
  const made = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
