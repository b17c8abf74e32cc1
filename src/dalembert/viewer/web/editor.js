// Below the head of a plot: a field that adds any output by its name, and fields for the ends of its axes.

import { element } from "./page.js";

const AXES = [["y", ""], ["right", ", right axis"]];

export class Editor {
  constructor(plot) {
    this.plot = plot;
    this.box = document.createElement("div");
    this.box.className = "editor";
    plot.told.before(this.box);
    const name = this.#field("add an output, by name", () => name.value && plot.add(name.value.trim()) && (name.value = ""));
    name.setAttribute("list", "outputs");
    this.fields = AXES.map(([axis, of]) => {
      const ends = ["from", "to"].map((label) => this.#field(label + of, () => this.#set(axis, ends)));
      for (const input of ends) Object.assign(input, { className: `limit ${axis}`, inputMode: "decimal" });
      return { axis, ends };
    });
    this.write();
    name.focus();
  }

  #field(label, act) {
    const input = element(this.box, "input");
    input.placeholder = input.title = label;
    input.setAttribute("aria-label", label);
    input.addEventListener("change", act);
    let before;
    input.addEventListener("focus", () => (before = input.value));
    input.addEventListener("keydown", ({ key }) => key === "Escape" && (input.value = before)); // it is left as it was
    return input;
  }

  // Both ends as they stand in the fields, unless they are none.
  #set(axis, fields) {
    const { plot } = this;
    const texts = fields.map(({ value }) => value.trim().replace("−", "-"));
    const [from, to] = texts.map((text) => (text === "" ? null : Number(text)));
    const wrong = [from, to].findIndex((end) => end !== null && !Number.isFinite(end));
    if (wrong >= 0) return plot.tell(`“${texts[wrong]}” is no number`);
    if (from !== null && to !== null && from >= to) return plot.tell(`from ${texts[0]} to ${texts[1]}: the first has to be smaller`);
    if (plot.log && axis === "y" && [from, to].some((end) => end !== null && end <= 0)) return plot.tell("a logarithmic axis has no end at 0 or below");
    plot.own = true;
    plot.limits[axis] = [from, to].map((end) => (end === null ? null : end / plot.factors[axis]));
    plot.draw();
  }

  // What the axes have; those of the right one while there is one.
  write() {
    const { limits, factors } = this.plot;
    for (const { axis, ends } of this.fields) {
      ends.forEach((input, k) => {
        input.hidden = !factors[axis];
        input.value = limits[axis][k] === null ? "" : String(Number((limits[axis][k] * factors[axis]).toPrecision(12)));
      });
    }
  }
}

// What there is instead of an output that there is not.
export function alike(groups, text) {
  const names = groups.flatMap(({ series }) => series.flatMap(({ name, signal }) => [name, signal])).filter(Boolean);
  const asked = text.toLowerCase();
  const gaps = new Map(names.map((name) => [name, name.toLowerCase().includes(asked) ? 0 : edits(asked, name.toLowerCase())]));
  return `there is ${[...gaps].sort(([, a], [, b]) => a - b).slice(0, 4).map(([name]) => name).join(", ")}`;
}

// How many letters one has to put in, take away or change to come from a word to another one.
function edits(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, k) => k);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (let k = 0; k < to.length; k++) next.push(Math.min(row[k] + (letter === to[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1));
    row = next;
  }
  return row[to.length];
}
