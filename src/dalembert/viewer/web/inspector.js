// Names on hover, a card with live values on click, names of all bodies on demand.

import { Box3, Raycaster, Vector3 } from "three";
import { Chosen } from "./chosen.js";
import { describe } from "./describe.js";
import { element } from "./page.js";

export class Inspector {
  // names: of the runs; loads(tag): called when an element is chosen
  constructor(stage, page, places, actors, names, visibility, loads) {
    Object.assign(this, { stage, page, places, actors, runNames: names, visibility, loads });
    this.marks = actors.map((actor, k) => new Chosen(stage, actor, k + 1));
    this.ray = new Raycaster();
    this.ray.layers.enableAll();
    this.hovered = null;
    this.chosen = null;
    this.names = [];
    this.time = 0;
    const { canvas } = stage;
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) return;
      this.pending = event;
      this.wake();
    });
    canvas.addEventListener("pointerleave", () => {
      this.pending = null;
      this.#hover(null);
    });
    let pressed = null;
    canvas.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      const still = pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4;
      if (still) this.choose(this.#at(event));
    });
    canvas.addEventListener("dblclick", (event) => {
      const found = this.#at(event);
      if (found) this.focusOn(found.tag, found.actor);
    });
  }

  #at(event) {
    const pointer = this.stage.pointer(event);
    this.ray.setFromCamera(pointer.at, this.stage.camera);
    const actors = this.stage.sideBySide ? [this.actors[pointer.half]] : this.actors;
    for (const actor of actors) {
      const [hit] = this.ray.intersectObjects(actor.pickable, false);
      const tag = hit && (hit.object.userData.tag ?? hit.object.userData.solids[hit.instanceId].tag);
      if (tag) return { actor, tag, what: describe(actor.run, tag), x: event.offsetX, y: event.offsetY };
    }
    return null;
  }

  #hover(found) {
    if (found?.tag !== this.hovered?.tag || found?.actor !== this.hovered?.actor) {
      for (const [one, on] of [[this.hovered, false], [found, true]]) {
        for (const solids of one ? [one.actor.bodies, one.actor.glyphs, one.actor.dots] : []) solids.highlight(one.tag, on);
      }
      this.stage.invalidate();
    }
    this.hovered = found;
    const { tip } = this.page;
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = found.what.title;
    tip.style.transform = `translate(${found.x + 14}px, ${found.y + 12}px)`;
    this.stage.canvas.style.cursor = found ? "pointer" : "";
  }

  chooseTag(tag) {
    const [actor] = this.actors;
    this.choose({ actor, tag, what: describe(actor.run, tag) });
  }

  focusOn(tag, actor = this.actors[0]) {
    const corners = actor.corners(tag);
    if (!corners.length) return;
    const middle = new Box3().setFromPoints(corners).getCenter(new Vector3());
    this.stage.eye.focus(middle, Math.max(...corners.map((at) => at.distanceTo(middle))));
  }

  choose(found) {
    this.chosen = found;
    this.visibility.choose(found?.tag ?? null);
    for (const mark of this.marks) mark.show(found?.tag.startsWith("body") ? Number(found.tag.split(" ")[1]) : null);
    this.#mark();
    this.stage.invalidate();
    const { card } = this.page;
    card.hidden = !found;
    if (!found) return;
    this.loads(found.tag);
    card.replaceChildren();
    element(card, "h2", "", found.what.title);
    const close = Object.assign(element(card, "button", "small close", "×"), { type: "button", title: "close (escape)" });
    close.setAttribute("aria-label", "close");
    close.addEventListener("click", () => this.choose(null));
    if (this.actors.length > 1) element(card, "p", "", `in ${this.runNames[this.actors.indexOf(found.actor)]}`);
    element(card, "p", "", found.what.text);
    const table = element(card, "table");
    this.cells = found.what.values.map(([name]) => {
      const row = element(table, "tr");
      element(row, "th", "", name);
      return element(row, "td");
    });
    this.write();
    this.wake();
  }

  write(now = 0) {
    this.written = now;
    this.chosen?.what.values.forEach(([, value], k) => (this.cells[k].textContent = value(this.time)));
  }

  // Of what is chosen: in the run in which it was, in both halves beside each other.
  #mark() {
    for (const mark of this.marks) mark.update(this.stage.sideBySide || mark.actor === this.chosen?.actor);
  }

  showNames(value) {
    const { labels } = this.page;
    labels.replaceChildren();
    this.names = value ? this.actors.slice(0, this.stage.sideBySide ? 2 : 1).flatMap(({ run }, half) => this.#namesOf(run, half)) : [];
  }

  #namesOf(run, half) {
    const { labels } = this.page;
    const named = (kind, all, at) => all.map((one, k) => ({ half, tag: `${kind} ${k}`, label: element(labels, "span", kind, one.name), at: () => at(one, k) }));
    const drawn = run.joints.map((joint, j) => run.scene.fittings.find(({ tag }) => tag === `joint ${j}`) ?? { body: joint.second, part: { at: joint.p_j } });
    const joint = (_, j) => run.point(drawn[j].body, drawn[j].part.at, point);
    return [...named("body", run.bodies, (_, b) => run.drawn[b]), ...named("joint", run.joints, joint)];
  }

  update(t, now) {
    if (this.pending) {
      this.#hover(this.#at(this.pending));
      if (!this.hovered) this.stage.canvas.style.cursor = "";
      this.pending = null;
    }
    this.time = t;
    if (this.chosen && (!now || now - this.written > 80)) this.write(now);
    this.#mark();
    for (const { half, tag, label, at } of this.names) {
      label.hidden = !this.visibility.shows(tag);
      if (!label.hidden) this.places.place(label, at(), 6, { half });
    }
  }
}

const point = new Vector3();
