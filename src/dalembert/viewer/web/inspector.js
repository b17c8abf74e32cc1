// Names on hover, a card with live values on click, names of all bodies on demand.

import { Raycaster, Vector3 } from "three";
import { element } from "./page.js";
import { short } from "./plots.js";

export class Inspector {
  constructor(stage, page, actors) {
    this.stage = stage;
    this.page = page;
    this.actors = actors;
    this.ray = new Raycaster();
    this.ray.layers.enableAll();
    this.hovered = null;
    this.chosen = null;
    this.names = [];
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
  }

  #at(event) {
    const pointer = this.stage.pointer(event);
    this.ray.setFromCamera(pointer.at, this.stage.camera);
    const actors = this.stage.sideBySide ? [this.actors[pointer.half]] : this.actors;
    for (const actor of actors) {
      const [hit] = this.ray.intersectObjects(actor.pickable, false);
      const tag = hit && hit.object.userData.solids[hit.instanceId].tag;
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

  choose(found) {
    this.chosen = found;
    const { card } = this.page;
    card.hidden = !found;
    if (!found) return;
    card.replaceChildren();
    element(card, "h2", "", found.what.title);
    element(card, "p", "", found.what.text);
    const table = element(card, "table");
    this.cells = found.what.values.map(([name]) => {
      const row = element(table, "tr");
      element(row, "th", "", name);
      return element(row, "td");
    });
    this.written = 0;
    this.wake();
  }

  showNames(value) {
    const { labels } = this.page;
    labels.replaceChildren();
    this.names = value ? this.actors[0].run.bodies.map(({ name }) => element(labels, "span", "", name)) : [];
  }

  update(t, now) {
    if (this.pending) {
      this.#hover(this.#at(this.pending));
      if (!this.hovered) this.stage.canvas.style.cursor = "";
      this.pending = null;
    }
    if (this.chosen && (!now || now - this.written > 80)) {
      this.written = now;
      this.chosen.what.values.forEach(([, value], k) => (this.cells[k].textContent = value(t)));
    }
    const { width, height } = this.stage.size;
    const w = this.stage.sideBySide ? width / 2 : width;
    this.names.forEach((label, b) => {
      point.copy(this.actors[0].run.position[b]).project(this.stage.camera);
      label.style.transform = `translate(${((point.x + 1) / 2) * w}px, ${((1 - point.y) / 2) * height}px)`;
    });
  }
}

const point = new Vector3();

const vector = (v) => `${short(v.x)}, ${short(v.y)}, ${short(v.z)}`;

function describe({ run }, tag) {
  const [kind, index] = tag.split(" ");
  const k = Number(index);
  if (kind === "body") {
    const body = run.bodies[k];
    return {
      title: body.name,
      text: `body, ${short(body.mass)} kg`,
      values: [
        ["position", () => `${vector(run.position[k])} m`],
        ["speed", (t) => `${short(run.speed(k, t))} m/s`],
      ],
    };
  }
  const joint = run.joints[k];
  const turning = run.scene.turning.indexOf(k);
  const name = (b) => (b < 0 ? "ground" : run.bodies[b].name);
  const group = run.groups.find((one) => one.name === `coordinate of ${joint.name}`);
  const coordinates = (group?.series ?? []).map((series) => [series.name, (t) => `${short(run.value(series, t))} ${unitOf(series.name)}`]);
  return {
    title: joint.name,
    text: `${joint.type.replaceAll("_", " ")} joint, ${name(joint.first)} to ${name(joint.second)}`,
    values: [
      ...coordinates,
      [joint.unique ? "reaction" : "reaction, not unique", (t) => `${short(run.force(k, t, point).length())} N`],
      ["", (t) => `${vector(run.force(k, t, point))} N`],
      ...(turning < 0 ? [] : [["torque", (t) => `${vector(run.torque(turning, t, point))} N m`]]),
    ],
  };
}

function unitOf(coordinate) {
  return ["translation", "length", "x", "y"].includes(coordinate) ? "m" : "rad";
}
