// The corner triad: axes of the world as the camera sees them, negative ends hollow; a click looks from one of their ends, a
// second one from the other.

import { Vector3 } from "three";

const AXES = ["x", "y", "z"].map((name, k) => ({ name, at: new Vector3().setComponent(k, 1) }));
const REACH = 30;

export class Triad {
  constructor(parent, eye) {
    this.eye = eye;
    this.svg = make(parent, "svg", { class: "triad", viewBox: "-46 -46 92 92", role: "group", "aria-label": "standard views" });
    this.ends = AXES.flatMap(({ name, at }) =>
      [1, -1].map((sign) => {
        const text = `from ${sign > 0 ? "+" : "−"}${name}`;
        const group = make(this.svg, "g", { class: `${name} ${sign > 0 ? "plus" : "minus"}`, tabindex: 0, role: "button", "aria-label": text });
        make(group, "title", {}).textContent = text;
        const line = sign > 0 ? make(group, "line", { x1: 0, y1: 0 }) : null;
        const ball = make(group, "circle", { r: sign > 0 ? 9 : 6 });
        const label = sign > 0 ? make(group, "text", { "text-anchor": "middle", "dominant-baseline": "central" }) : null;
        if (label) label.textContent = name;
        const end = at.clone().multiplyScalar(sign);
        const look = () => this.eye.from(this.eye.direction.dot(end) > 0.9999 ? end.clone().negate() : end);
        group.addEventListener("click", look);
        group.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          look();
        });
        return { group, line, ball, label, at: end };
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
    const order = depths.sort(([a], [b]) => a - b).map(([, group]) => group);
    const at = order.indexOf(document.activeElement); // which would lose the focus if it were moved
    if (at < 0) this.svg.append(...order);
    else {
      order[at].before(...order.slice(0, at));
      order[at].after(...order.slice(at + 1));
    }
  }
}

function make(parent, tag, attributes) {
  const made = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
