// What the arrows mean: kinds by colour, to show or hide, their scale, and numbers at their tips.

import { KINDS, besideOf, once } from "./arrows.js";
import { short } from "./numbers.js";
import { nameOf } from "./outputs.js";
import { element } from "./page.js";
import { Scale } from "./scale.js";

const ALL = () => new Set(Object.keys(KINDS).filter((kind) => kind !== "gravity"));
const LOADS = () => new Set(["load"]);
const MOST = 24; // numbers at a time, the largest arrows first

export class Legend {
  constructor(page, places, actors, changed) {
    const [actor] = actors;
    Object.assign(this, { places, actors, actor, changed });
    const loaded = (what) => actor.run.scene.loads.some((load) => load.what === what && load.kind === "load");
    this.kinds = { force: loaded("force") ? LOADS() : ALL(), torque: loaded("torque") ? LOADS() : ALL() };
    this.factor = 1;
    this.box = element(page.head, "section", "key");
    this.box.setAttribute("aria-label", "arrows");
    this.labels = element(page.stage, "div", "labels");
    page.labels.after(this.labels); // below all panels
    this.spans = [];
  }

  // Beside loads, all other arrows; whether there are more now.
  more(what) {
    const { kinds, actor } = this;
    if (!actor.arrows.present(new Set([what])).some((kind) => ALL().has(kind) && !kinds[what].has(kind)) || !kinds[what].has("load") || kinds[what].size > 1) return false;
    kinds[what] = ALL();
    return true;
  }

  // wanted: of "force", "torque"
  show(wanted) {
    this.wanted = wanted;
    this.box.hidden = !wanted.size;
    this.box.replaceChildren();
    if (!wanted.size) return;
    const { run, arrows } = this.actor;
    this.perMetre = Object.fromEntries([...wanted].map((what) => [what, arrows.full(what) / this.factor / run.scene.longest]));
    this.scale = new Scale(this.box);
    const line = element(this.box, "div", "sizes");
    for (const [text, title, factor] of [["−", "shorter arrows", 0.5], ["+", "longer arrows", 2]]) {
      const button = element(line, "button", "small", text);
      Object.assign(button, { type: "button", title });
      button.setAttribute("aria-label", title);
      button.addEventListener("click", () => {
        this.factor *= factor;
        this.changed();
      });
    }
    for (const kind of this.actor.arrows.present(wanted)) {
      const { text, force, torque } = KINDS[kind];
      const button = element(this.box, "button", "kind");
      button.type = "button";
      const on = [...wanted].some((what) => this.kinds[what].has(kind));
      button.setAttribute("aria-pressed", on);
      button.title = on ? "shown: hide" : "hidden: show";
      for (const [what, colour] of [["force", force], ["torque", torque]]) {
        if (wanted.has(what) && (what === "force" || torque !== force || !wanted.has("force"))) element(button, "i").style.background = colour;
      }
      button.append(text);
      button.addEventListener("click", () => {
        for (const what of wanted) this.kinds[what][on ? "delete" : "add"](kind);
        this.changed();
      });
    }
  }

  // What tells the scale of the picture, if there are arrows.
  get keys() {
    return this.wanted?.size ? this.scale.keys : [];
  }

  update(now) {
    if (this.wanted?.size) this.scale.update(this.perMetre, this.places.stage.eye.metre);
    const shown = this.places.stage.sideBySide ? this.actors : [this.actor];
    const arrows = this.wanted?.size ? shown.flatMap((actor) => actor.arrows.all.filter((arrow) => arrow.shown)) : [];
    const { eye } = this.places.stage;
    const largest = once(arrows.sort((a, b) => b.value - a.value), eye).slice(0, MOST * shown.length);
    while (this.spans.length < largest.length) this.spans.push(element(this.labels, "span", "number"));
    const write = !now || !(now - this.written < 100);
    if (write) this.written = now;
    this.spans.forEach((span, k) => {
      const arrow = largest[k];
      span.hidden = !arrow;
      if (!arrow || !write) return;
      span.textContent = `${this.named ? `${nameOf(arrow.run, arrow.tag)} ` : ""}${short(arrow.value)} ${arrow.what === "force" ? "N" : "N m"}`;
      span.style.borderLeftColor = KINDS[arrow.kind][arrow.what];
    });
    const [right] = eye.axes;
    largest.forEach((arrow, k) => this.places.place(this.spans[k], besideOf(arrow, right), -8, { from: arrow.begin, half: shown.length > 1 ? arrow.half : 0 }));
  }
}
