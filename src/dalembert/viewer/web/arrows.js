// Forces as arrows, torques as arrows around their axes, with numbers: of joints, force elements, drivers and gravity, all on
// one scale.

import { Matrix4, Quaternion, Vector3 } from "three";
import { Solids } from "./solids.js";

// Colours are seen on light and dark pages alike: 3 to 1 on both.
export const KINDS = {
  reaction: { text: "joints", force: "#d9480f", torque: "#9259d6" },
  unsure: { text: "joints, not all unique", force: "#7c818a", torque: "#7c818a" }, // redundancy leaves a part of it undetermined
  load: { text: "loads", force: "#23893c", torque: "#23893c" }, // forces and torques of the model on bodies: shown at first
  applied: { text: "force elements", force: "#947325", torque: "#947325" },
  spring: { text: "springs", force: "#0d8397", torque: "#0d8397" },
  driver: { text: "drivers", force: "#c8418c", torque: "#c8418c" },
  gravity: { text: "weights", force: "#667aa8", torque: "#667aa8" },
};
const Z = new Vector3(0, 0, 1);
const Z_TO_X = new Quaternion().setFromUnitVectors(Z, new Vector3(1, 0, 0));

export class Arrows {
  constructor(stage, run, layer, visibility, runs) {
    Object.assign(this, { stage, run, visibility, runs });
    this.solids = new Solids(stage.scene, layer, visibility, run.scene.scale, true);
    this.kinds = { force: new Set(), torque: new Set() };
    this.factor = 1;
    this.all = [];
  }

  // Nothing is made before somebody wants to see it.
  #build() {
    const { run } = this;
    const { joints, scene } = run;
    const other = { force: "torque", torque: "force" }; // parts are such as "force along x"; none named: all of them
    const known = (joint, what) => joint.unique || (joint.undetermined.length && joint.undetermined.every((part) => part.startsWith(other[what])));
    const reaction = (joint, what) => (known(joint, what) ? "reaction" : "unsure");
    this.all = [
      ...joints.map((joint, j) => this.#made(`joint ${j}`, reaction(joint, "force"), "force", joint.second, joint.p_j, (t, out) => run.force(j, t, out))),
      ...scene.turning.map((j, k) => this.#made(`joint ${j}`, reaction(joints[j], "torque"), "torque", joints[j].second, joints[j].p_j, (t, out) => run.torque(k, t, out))),
      ...scene.loads.map(({ tag, kind, what, body, point }, k) => this.#made(tag, kind, what, body, point, (t, out) => run.load(k, t, out))),
    ];
    this.solids.build();
    this.solids.restyle();
  }

  #made(tag, kind, what, body, point, vector) {
    const { scale } = this.run.scene;
    const arrow = { run: this.run, half: this.runs.indexOf(this.run), tag, kind, what, body, point, vector, shaft: new Matrix4(), tip: new Matrix4(), begin: new Vector3(), end: new Vector3(), around: 0, value: 0, shown: false };
    const colour = KINDS[kind][what];
    const add = (solid, size, part) => this.solids.add({ kind: solid, size, colour, frame: () => (arrow.shown ? arrow[part] : null), tag });
    if (what === "torque") add("arc", [(0.0055 * scale) / (0.5 * this.runs[0].scene.longest)], "shaft");
    else add("shaft", [0.0055 * scale], "shaft");
    add("tip", [0.015 * scale, 0.04 * scale], "tip");
    return arrow;
  }

  // wanted: of "force", "torque"; kinds: of each a set of those in KINDS
  show(wanted, kinds, factor) {
    Object.assign(this, { wanted, kinds, factor });
    if (wanted.size && !this.all.length) this.#build();
    this.solids.visible = wanted.size > 0;
  }

  // Kinds that this run has, of those that are wanted.
  present(wanted) {
    return Object.keys(KINDS).filter((kind) => this.all.some((arrow) => arrow.kind === kind && wanted.has(arrow.what)));
  }

  // What a full arrow is where its scale is 1, in all runs.
  full(what) {
    return Math.max(...this.runs.map((run) => run.usual(what, this.kinds[what])));
  }

  update(t) {
    if (!this.wanted?.size) return;
    this.usual = { force: this.full("force"), torque: this.full("torque") };
    for (const arrow of this.all) {
      arrow.shown = this.wanted.has(arrow.what) && this.kinds[arrow.what].has(arrow.kind) && this.visibility.shows(arrow.tag);
      if (arrow.shown) this.#point(arrow, arrow.vector(t, along));
    }
    this.solids.update();
  }

  // Lengths are proportional, the usual largest of what is shown has the full one; a torque's circle is as wide.
  #point(arrow, vector) {
    const tip = 0.04 * this.run.scene.scale;
    const value = vector.length();
    const length = Math.min(1.5, (this.factor * value) / (this.usual[arrow.what] || 1)) * this.runs[0].scene.longest;
    arrow.shown = Number.isFinite(value) && length > 0.15 * tip;
    if (!arrow.shown) return;
    arrow.value = value;
    alongZ(turn, vector.divideScalar(value));
    arrow.begin.copy(this.run.point(arrow.body, arrow.point, from));
    const sharp = Math.min(1, length / (2 * tip));
    if (arrow.what === "torque") {
      arrow.shaft.compose(from, turn, size.setScalar(0.5 * length));
      arrow.around = 0.5 * length + 0.015 * this.run.scene.scale;
      arrow.end.set(0, -0.5 * length, 0).applyQuaternion(turn).add(from); // three quarters of a turn from x
      arrow.tip.compose(arrow.end, turn.multiply(Z_TO_X), size.setScalar(sharp));
      arrow.end.add(to.set(0, 0, sharp * tip).applyQuaternion(turn));
      return;
    }
    const body = length - sharp * tip;
    arrow.shaft.compose(from, turn, size.set(sharp, sharp, body));
    arrow.tip.compose(to.copy(from).addScaledVector(vector, body), turn, size.setScalar(sharp));
    arrow.end.copy(from).addScaledVector(vector, length);
  }
}

// Turns z into a direction, x across the axis of the world that is most across it: as pictures do (parts.py).
function alongZ(turn, z) {
  const sizes = z.toArray().map(Math.abs);
  x.set(0, 0, 0).setComponent(sizes.indexOf(Math.min(...sizes)), 1);
  x.crossVectors(z, x).normalize();
  return turn.setFromRotationMatrix(basis.makeBasis(x, y.crossVectors(z, x), z));
}

// Of action and reaction of an element in one place of the screen the first.
export function once(arrows, { axes: [right, upright], metre }) {
  const apart = (a, b) => Math.max(...[right, upright].map((axis) => Math.abs(axis.dot(at.subVectors(a.begin, b.begin)))));
  const same = (a, b) => a.run === b.run && a.tag === b.tag && a.what === b.what && apart(a, b) * metre < 1;
  return arrows.filter((arrow, k) => !arrows.slice(0, k).some((other) => same(arrow, other)));
}

// Where the number of an arrow begins: at its end, or outside its circle.
export function besideOf({ what, begin, end, around }, right) {
  if (what === "force") return end;
  const side = right.dot(at.subVectors(end, begin)) < 0 ? -1 : 1;
  return at.copy(begin).addScaledVector(right, side * around);
}

const at = new Vector3();
const x = new Vector3();
const y = new Vector3();
const basis = new Matrix4();
const from = new Vector3();
const to = new Vector3();
const along = new Vector3();
const size = new Vector3();
const turn = new Quaternion();
