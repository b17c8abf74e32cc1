// One run on the stage: bodies, joints, springs, trails and reaction arrows, moved to any time.

import { Matrix4, Quaternion, Vector3 } from "three";
import { glyph } from "./glyphs.js";
import { Solids } from "./solids.js";
import { Trails } from "./trails.js";

const Z = new Vector3(0, 0, 1);
const ONE = new Vector3(1, 1, 1);
const ARROW = "#d9480f";
const MOMENT = "#7a3fc4";
const UNSURE_ARROW = "#8d929b"; // redundancy leaves this reaction undetermined

export class Actor {
  constructor(stage, run, layer) {
    this.stage = stage;
    this.run = run;
    const { scale } = run.scene;
    this.bodyFrames = run.bodies.map(() => new Matrix4());
    this.jointFrames = run.joints.map(() => ({ i: new Matrix4(), j: new Matrix4() }));
    this.locals = run.joints.map(({ p_i, p_j, E_i, E_j }) => ({ i: pose(p_i, E_i), j: pose(p_j, E_j) }));
    this.bodies = new Solids(stage.scene, layer);
    this.glyphs = new Solids(stage.scene, layer);
    this.arrows = new Solids(stage.scene, layer, true);
    this.links = [];
    this.moments = new Solids(stage.scene, layer, true);
    const arrow = () => ({ shaft: new Matrix4(), tip: new Matrix4(), second: new Matrix4(), shown: false });
    this.forces = run.joints.map(arrow);
    this.torques = run.scene.turning.map(arrow);
    run.bodies.forEach(({ parts, colour }, b) => {
      for (const part of parts) this.bodies.add({ colour, ...plain(part), frame: () => this.bodyFrames[b], tag: `body ${b}` });
    });
    const still = new Matrix4();
    for (const part of run.scene.ground) this.glyphs.add({ ...plain(part), frame: () => still });
    run.moveTo(run.start);
    run.joints.forEach((joint, j) => this.#addJoint(joint, j, scale));
    run.scene.springs.forEach((spring) => {
      const length = run.point(spring.first, spring.p_i, from).distanceTo(run.point(spring.second, spring.p_j, to)) || scale;
      const frame = this.#link(spring, length);
      this.glyphs.add({ kind: "spring", size: [0.016 * scale, 0.0032 * scale, length], colour: "#8a94a3", frame: () => frame });
    });
    run.scene.turning.forEach((j, k) => this.#addArrow(this.moments, this.torques[k], run.joints[j].unique ? MOMENT : UNSURE_ARROW, scale, ["tip", "second"], `joint ${j}`));
    for (const solids of [this.bodies, this.glyphs, this.arrows, this.moments]) solids.build();
    this.trails = new Trails(stage, run, run.scene.trails, layer, layer === 2);
    this.showArrows(false, false);
  }

  #addJoint(joint, j, scale) {
    const tag = `joint ${j}`;
    for (const part of glyph(joint)) {
      this.glyphs.add({ ...part, frame: () => this.jointFrames[j][part.frame], tag });
    }
    if (joint.type === "distance") {
      const frame = this.#link(joint, 1);
      this.glyphs.add({ kind: "bar", size: [0.4 * joint.radius], colour: "#9aa2ae", frame: () => frame, tag });
    }
    this.#addArrow(this.arrows, this.forces[j], joint.unique ? ARROW : UNSURE_ARROW, scale, ["tip"], tag);
  }

  // tips: one for a force, two behind each other for a torque
  #addArrow(solids, arrow, colour, scale, tips, tag) {
    const thick = 0.0055 * scale;
    solids.add({ kind: "shaft", size: [thick], colour, frame: () => (arrow.shown ? arrow.shaft : null), tag });
    for (const name of tips) {
      solids.add({ kind: "tip", size: [0.015 * scale, 0.04 * scale], colour, frame: () => (arrow.shown ? arrow[name] : null), tag });
    }
  }

  // A frame between two points of two bodies, stretched by how much longer than `length` their distance is.
  #link({ first, second, p_i, p_j }, length) {
    const frame = new Matrix4();
    this.links.push(() => {
      this.run.point(first, p_i, from);
      this.run.point(second, p_j, to);
      const distance = along.subVectors(to, from).length();
      turn.setFromUnitVectors(Z, distance > 0 ? along.divideScalar(distance) : Z);
      frame.compose(from.add(to).multiplyScalar(0.5), turn, size.set(1, 1, Math.max(distance / length, 1e-9)));
    });
    return frame;
  }

  moveTo(t) {
    const { run } = this;
    run.moveTo(t);
    this.bodyFrames.forEach((frame, b) => frame.compose(run.position[b], run.rotation[b], ONE));
    run.joints.forEach(({ first, second }, j) => {
      const { i, j: other } = this.jointFrames[j];
      place(i, first < 0 ? null : this.bodyFrames[first], this.locals[j].i);
      place(other, second < 0 ? null : this.bodyFrames[second], this.locals[j].j);
    });
    for (const stretch of this.links) stretch();
    this.bodies.update();
    if (this.glyphs.meshes[0]?.visible) this.glyphs.update();
    if (this.forcesShown) this.#pointForces(t);
    if (this.torquesShown) this.#pointTorques(t);
    this.trails.shared.now.value = Math.max(run.start, Math.min(t, run.end));
  }

  #pointForces(t) {
    this.run.joints.forEach((joint, j) => this.#point(this.forces[j], joint, this.run.force(j, t, along), this.run.largestForce));
    this.arrows.update();
  }

  #pointTorques(t) {
    const { run } = this;
    run.scene.turning.forEach((j, k) => this.#point(this.torques[k], run.joints[j], run.torque(k, t, along), run.largestTorque));
    this.moments.update();
  }

  // Lengths are proportional to reactions; the largest usual one is a fifth of the picture.
  #point(arrow, joint, vector, largest) {
    const { scale, camera } = this.run.scene;
    const longest = 0.22 * Math.min(2 * camera.radius, 1.6 * scale);
    const tip = 0.04 * scale;
    const value = vector.length();
    const length = Math.min(1.5, value / (largest || 1)) * longest;
    arrow.shown = Number.isFinite(value) && length > 0.15 * tip;
    if (!arrow.shown) return;
    turn.setFromUnitVectors(Z, vector.divideScalar(value));
    this.run.point(joint.second, joint.p_j, from);
    const body = Math.max(length - tip, 1e-3 * tip);
    const thin = Math.min(1, length / (1.5 * tip));
    const sharp = Math.min(1, length / (2 * tip));
    arrow.shaft.compose(from, turn, size.set(thin, thin, body));
    arrow.tip.compose(to.copy(from).addScaledVector(vector, body), turn, size.setScalar(Math.min(1, length / tip)));
    arrow.second.compose(to.copy(from).addScaledVector(vector, body - 0.75 * sharp * tip), turn, size.setScalar(sharp));
  }

  showArrows(forces, torques) {
    this.forcesShown = this.arrows.visible = forces;
    this.torquesShown = this.moments.visible = torques;
  }

  get pickable() {
    return [...this.bodies.meshes, ...this.glyphs.meshes.filter((mesh) => mesh.visible)];
  }
}

// What has a colour of its own does not spin: no darker quarters, no round edges.
function plain(part) {
  return part.colour ? { ...part, kind: { cylinder: "pin", sphere: "ball", box: "cube" }[part.kind] ?? part.kind } : part;
}

function pose(at, rotation) {
  return new Matrix4().compose(new Vector3().fromArray(at), new Quaternion().fromArray(rotation), ONE);
}

function place(out, body, local) {
  if (body === null) out.copy(local);
  else out.multiplyMatrices(body, local);
}

const from = new Vector3();
const to = new Vector3();
const along = new Vector3();
const size = new Vector3();
const turn = new Quaternion();
