// Names on hover, a card with live values on click, names of all bodies on demand.

import { Box3, Raycaster, Vector3 } from "three";
import { Chosen } from "./chosen.js";
import { beside, inUnit, short, vector } from "./numbers.js";
import { element } from "./page.js";

export class Inspector {
  // loads(tag): called when an element is chosen
  constructor(stage, page, places, actors, visibility, loads) {
    Object.assign(this, { stage, page, places, actors, visibility, loads });
    this.marks = new Chosen(stage);
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
      if (tag) return { actor, tag, what: describe(actor, tag), x: event.offsetX, y: event.offsetY };
    }
    return null;
  }

  #hover(found) {
    if (found?.tag !== this.hovered?.tag || found?.actor !== this.hovered?.actor) {
      for (const [one, on] of [[this.hovered, false], [found, true]]) {
        one?.actor.bodies.highlight(one.tag, on);
        one?.actor.glyphs.highlight(one.tag, on);
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
    this.choose({ actor, tag, what: describe(actor, tag) });
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
    this.marks.show(found?.actor, found?.tag.startsWith("body") ? Number(found.tag.split(" ")[1]) : null);
    this.marks.update();
    this.stage.invalidate();
    const { card } = this.page;
    card.hidden = !found;
    if (!found) return;
    this.loads(found.tag);
    card.replaceChildren();
    const close = Object.assign(element(card, "button", "small close", "×"), { type: "button", title: "close (escape)" });
    close.setAttribute("aria-label", "close");
    close.addEventListener("click", () => this.choose(null));
    element(card, "h2", "", found.what.title);
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

  showNames(value) {
    const { labels } = this.page;
    labels.replaceChildren();
    const { run } = this.actors[0];
    const named = (kind, all, at) => all.map((one, k) => ({ tag: `${kind} ${k}`, label: element(labels, "span", kind, one.name), at: () => at(one, k) }));
    const drawn = run.joints.map((joint, j) => run.scene.fittings.find(({ tag }) => tag === `joint ${j}`) ?? { body: joint.second, part: { at: joint.p_j } });
    const joint = (_, j) => run.point(drawn[j].body, drawn[j].part.at, point);
    this.names = value ? [...named("body", run.bodies, (_, b) => run.drawn[b]), ...named("joint", run.joints, joint)] : [];
  }

  update(t, now) {
    if (this.pending) {
      this.#hover(this.#at(this.pending));
      if (!this.hovered) this.stage.canvas.style.cursor = "";
      this.pending = null;
    }
    this.time = t;
    if (this.chosen && (!now || now - this.written > 80)) this.write(now);
    this.marks.update();
    for (const { tag, label, at } of this.names) {
      label.hidden = !this.visibility.shows(tag);
      if (!label.hidden) this.places.place(label, at(), 6);
    }
  }
}

const point = new Vector3();

function describe({ run }, tag) {
  const [kind, index] = tag.split(" ");
  const k = Number(index);
  if (kind === "body") return describeBody(run, k);
  if (kind === "force" || kind === "driver") return describeLoad(run, tag, kind, k);
  const joint = run.joints[k];
  const turning = run.scene.turning.indexOf(k);
  const name = (b) => (b < 0 ? "ground" : run.bodies[b].name);
  const coordinates = run.groups
    .filter((group) => group.tag === tag && ["m", "rad"].includes(group.unit))
    .flatMap(({ unit, series }) => series.map((one) => [one.name.slice(0, -` of ${joint.name}`.length), (t) => told(run.value(one, t), unit)]));
  return {
    title: joint.name,
    text: `${joint.type.replaceAll("_", " ")} joint, ${name(joint.first)} to ${name(joint.second)}`,
    values: [
      ...coordinates,
      ["reaction force", (t) => `${vector(run.force(k, t, point), run.sizes.force.reaction)} N`],
      ["its size", (t) => `${beside(run.force(k, t, point).length(), run.sizes.force.reaction)} N`],
      ...(turning < 0 ? [] : [["reaction torque", (t) => `${vector(run.torque(turning, t, point), run.sizes.torque.reaction)} N m`]]),
      ...(joint.unique ? [] : [["not unique", () => joint.undetermined.join(", ") || (turning < 0 ? "all of it" : "reaction and torque")]]),
    ],
  };
}

function describeBody(run, k) {
  const body = run.bodies[k];
  const moments = body.moments ?? [];
  return {
    title: body.name,
    text: body.marker ? "marker" : `body, ${short(body.mass)} kg`,
    values: [
      [body.marker ? "position" : "centre of mass", () => `${vector(run.position[k])} m`],
      ["velocity", (t) => `${vector(run.twist(k, "velocity", t, point))} m/s`],
      ["speed", (t) => `${short(run.twist(k, "velocity", t, point).length())} m/s`],
      ["angular velocity", (t) => toldVector(run.twist(k, "angular velocity", t, point), "rad/s")],
      ...(moments.some((I) => I > 0) ? [["inertia, principal", () => `${moments.map((I) => short(I)).join(", ")} kg m²`]] : []),
    ],
  };
}

function describeLoad(run, tag, kind, k) {
  const { name, noun, joint } = (kind === "force" ? run.scene.forces : run.scene.drivers)[k];
  const arrows = run.scene.loads.map((load, n) => ({ ...load, n })).filter((load) => load.tag === tag);
  return {
    title: name,
    text: noun ?? `driver${joint ? ` of ${joint}` : ""}`,
    values: arrows.map(({ what, body, n }) => [`${what} on ${run.bodies[body].name}`, (t) => `${vector(run.load(n, t, point))} ${what === "force" ? "N" : "N m"}`]),
  };
}

function told(value, unit) {
  const [factor, shown] = inUnit(unit);
  return `${short(factor * value)} ${shown}`;
}

function toldVector(value, unit) {
  const [factor, shown] = inUnit(unit);
  return `${vector(value.multiplyScalar(factor))} ${shown}`;
}
