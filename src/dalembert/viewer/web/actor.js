// One run on the stage: bodies, joints, springs, trails and arrows, moved to any time.

import { Matrix4, Quaternion, Vector3 } from "three";
import { Arrows } from "./arrows.js";
import { Solids } from "./solids.js";
import { Trails } from "./trails.js";

const Z = new Vector3(0, 0, 1);
const ONE = new Vector3(1, 1, 1);

export class Actor {
  // runs: all, whose arrows have one scale
  constructor(stage, run, layer, visibility, runs) {
    Object.assign(this, { stage, run, visibility });
    const { scale } = run.scene;
    this.bodyFrames = run.bodies.map(() => new Matrix4());
    this.bodies = new Solids(stage.scene, layer, visibility, scale);
    this.glyphs = new Solids(stage.scene, layer, visibility, scale);
    this.dots = new Solids(stage.scene, layer, visibility, scale, true); // markers
    this.links = [];
    run.bodies.forEach(({ parts, colour, marker }, b) => {
      for (const part of parts) (marker ? this.dots : this.bodies).add({ colour, ...plain(part), frame: () => this.bodyFrames[b], tag: `body ${b}` });
    });
    const still = new Matrix4();
    for (const part of run.scene.ground) this.glyphs.add({ ...plain(part), frame: () => still, held: true });
    run.moveTo(run.start);
    for (const line of run.scene.lines) {
      const { colour, radius, tag } = line;
      const coil = line.kind === "spring";
      const length = coil ? run.point(line.first, line.p_i, from).distanceTo(run.point(line.second, line.p_j, to)) || scale : 1;
      const frame = this.#link(line, length);
      const form = coil ? { kind: "spring", size: [0.016 * scale, 0.0032 * scale, length] } : { kind: "bar", size: [radius] };
      this.glyphs.add({ ...form, colour, frame: () => frame, tag });
    }
    for (const { tag, body, part } of run.scene.fittings) {
      const frame = body < 0 ? still : this.bodyFrames[body];
      this.glyphs.add({ ...plain(part), frame: () => frame, tag, shiny: part.kind === "sphere" });
    }
    for (const solids of [this.bodies, this.glyphs, this.dots]) solids.build();
    this.arrows = new Arrows(stage, run, layer, visibility, runs);
    this.trails = new Trails(stage, run, run.scene.trails, run.scene.trail_points, layer, layer === 2);
    visibility.onChange(() => this.restyle());
  }

  // A frame between two points of two bodies, stretched by how much longer than `length` their distance is.
  #link({ first, second, p_i, p_j, reach = Infinity }, length) {
    const frame = new Matrix4();
    this.links.push(() => {
      this.run.point(first, p_i, from);
      this.run.point(second, p_j, to).sub(from).clampLength(0, reach).add(from);
      const distance = along.subVectors(to, from).length();
      turn.setFromUnitVectors(Z, distance > 0 ? along.divideScalar(distance) : Z);
      frame.compose(from.add(to).multiplyScalar(0.5), turn, size.set(1, 1, Math.max(distance / length, 1e-9)));
    });
    return frame;
  }

  moveTo(t) {
    const { run } = this;
    run.moveTo(t);
    this.bodyFrames.forEach((frame, b) => frame.compose(run.drawn[b], run.rotation[b], ONE));
    for (const stretch of this.links) stretch();
    this.bodies.update();
    this.dots.update();
    if (this.glyphs.meshes[0]?.visible) this.glyphs.update();
    this.arrows.update(t);
    this.trails.shared.now.value = Math.max(run.start, Math.min(t, run.end));
  }

  restyle() {
    for (const solids of [this.bodies, this.glyphs, this.dots, this.arrows.solids]) solids.restyle();
    this.trails.restyle(this.visibility);
    this.stage.invalidate();
  }

  get pickable() {
    return [...this.bodies.pickable, ...this.glyphs.pickable, ...this.dots.pickable];
  }

  corners(tag) {
    return [...this.bodies.corners(tag), ...this.glyphs.corners(tag), ...this.dots.corners(tag)];
  }
}

// What has a colour of its own does not spin: no darker quarters, no round edges.
function plain(part) {
  return part.colour ? { ...part, kind: { cylinder: "pin", sphere: "ball", box: "cube" }[part.kind] ?? part.kind } : part;
}

const from = new Vector3();
const to = new Vector3();
const along = new Vector3();
const size = new Vector3();
const turn = new Quaternion();
