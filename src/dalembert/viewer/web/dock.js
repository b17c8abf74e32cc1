// The plot dock: plots in a column that can be made wider, one window of time for all, curves of what is chosen.

import { angles } from "./numbers.js";
import { element } from "./page.js";
import { outputsOf } from "./outputs.js";
import { Plot } from "./plot.js";

export class Dock {
  // names: of the runs; shown: groups at first, each with curves beside; seek(t): called when the user points into a plot; degrees(): when they are asked for
  constructor(parent, runs, names, shown, seek, degrees) {
    Object.assign(this, { runs, names, seek, time: 0, window: null, difference: false });
    this.groups = runs.map(outputsOf);
    const bar = element(parent, "div", "dock");
    const button = (text, title, act) => {
      const made = element(bar, "button", "small", text);
      made.type = "button";
      made.title = title;
      made.setAttribute("aria-label", title);
      made.addEventListener("click", act);
      return made;
    };
    button("+ plot", "add a plot", () => this.add(this.known.find((name) => this.plots.every(({ choice }) => choice.value !== name)) ?? this.known[0], true));
    const [over] = runs[0].scene.over;
    element(bar, "span", "", over === "t" ? "time" : over);
    button("−", "show more time (Ctrl and wheel over a plot)", () => this.zoom(2));
    button("+", "show less time (Ctrl and wheel over a plot)", () => this.zoom(0.5));
    this.all = button("all", "show the whole time", () => this.setWindow(null));
    this.turned = button("deg", "angles in degrees (A)", degrees);
    if (runs.length > 1) {
      this.differs = button("Δ", "difference of the two runs", () => {
        this.difference = !this.difference;
        this.rebuild();
      });
    }
    this.outputs = element(parent, "datalist");
    this.outputs.id = "outputs";
    this.space = element(parent, "div", "plots");
    this.box = parent;
    this.over = runs[0].scene.over;
    this.plots = [];
    this.#list();
    for (const [name, ...beside] of shown.filter(([name]) => this.known.includes(name))) this.add(name, false, beside);
    this.#fold();
  }

  // One pose has no curves.
  #fold() {
    const [start, end] = this.span;
    this.box.hidden = !(end > start);
  }

  // Names of all groups, and of single curves for who adds one to a plot.
  #list() {
    this.known = this.groups[0].map(({ name }) => name);
    const curves = this.groups[0].flatMap(({ series }) => series);
    this.outputs.replaceChildren(...curves.map(({ name, signal }) => Object.assign(document.createElement("option"), { value: name, label: signal || name })));
  }

  // beside: names of further curves in it
  add(name, first, beside = []) {
    const plot = new Plot(this, name);
    plot.extra = beside;
    this.plots.push(plot);
    this.space.append(plot.box);
    if (first) this.#front(plot);
    plot.draw();
    return plot;
  }

  #front(plot) {
    this.plots = [plot, ...this.plots.filter((other) => other !== plot)];
    this.space.prepend(plot.box);
  }

  remove(plot) {
    this.plots = this.plots.filter((other) => other !== plot);
    plot.box.remove();
    if (plot === this.selected) this.selected = null;
  }

  // Curves of an element first: those that are there, or in a plot of their own, which the next element takes over unless its
  // reader has put something into it.
  load(tag) {
    const own = this.groups[0].filter((group) => group.tag === tag);
    const name = (own.find(({ unit }) => unit !== "W") ?? own[0])?.name; // what it does before its power
    if (!name || this.box.hidden) return;
    const there = this.plots.find((plot) => plot.choice.value === name);
    this.#still(there ?? this.selected, () => {
      if (there) return this.#front(there);
      if (this.selected && !this.selected.own) this.selected.choose(name);
      else this.selected = this.add(name, true);
      this.selected.own = false;
      this.#front(this.selected);
    });
  }

  // Where the panel is scrolled, what is read stays where it is, while a plot goes to the top.
  #still(moved, act) {
    const panel = this.space.closest(".panel");
    const end = panel.getBoundingClientRect().top + 40;
    const read = panel.scrollTop > 0 && this.plots.find((plot) => plot !== moved && plot.box.getBoundingClientRect().bottom > end);
    const before = read && read.box.getBoundingClientRect().top;
    act();
    if (read) queueMicrotask(() => (panel.scrollTop += read.box.getBoundingClientRect().top - before)); // charts get their size in one
  }

  rebuild() {
    this.differs?.setAttribute("aria-pressed", this.difference);
    this.turned.setAttribute("aria-pressed", angles.degrees);
    for (const plot of this.plots) plot.draw();
  }

  grow() {
    if (this.groups.some((groups, r) => groups.length !== outputsOf(this.runs[r]).length)) {
      this.groups = this.runs.map(outputsOf);
      this.#list();
    }
    this.#fold();
    this.rebuild();
  }

  get span() {
    return [Math.min(...this.runs.map((run) => run.start)), Math.max(...this.runs.map((run) => run.end))];
  }

  // Wider or narrower about a time.
  zoom(factor, at = this.time) {
    const [start, end] = this.span;
    const [low, high] = this.window ?? [start, end];
    const least = 1e-6 * (end - start);
    const [a, b] = [Math.max(start, at - (at - low) * factor), Math.min(end, at + (high - at) * factor)];
    if (b - a > least) this.setWindow(b - a > 0.999 * (end - start) ? null : [a, b]);
  }

  setWindow(window) {
    this.window = window;
    this.all.setAttribute("aria-pressed", window === null);
    for (const plot of this.plots) plot.view();
  }

  moveTo(t, now) {
    this.time = t;
    for (const plot of this.plots) plot.moveTo(t, now);
  }

  resize() {
    for (const plot of this.plots) plot.resize();
  }

  state() {
    return this.plots.map((plot) => plot.state());
  }
}
