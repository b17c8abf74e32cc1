// One run: times, poses between frames, channels. Arrays grow while a run is still being computed.

import { Quaternion, Vector3 } from "three";

export function decode(text, Kind = Float32Array) {
  return new Kind((Uint8Array.fromBase64?.(text) ?? bytesOf(atob(text))).buffer);
}

function bytesOf(binary) {
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

function joined(a, b) {
  const both = new a.constructor(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

// Index k and fraction f so that t lies between times[k] and times[k + 1]; clamped to the ends.
export function locate(times, t) {
  const last = times.length - 1;
  if (last < 1 || t <= times[0]) return [0, 0];
  if (t >= times[last]) return [last - 1, 1];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

export class Run {
  constructor(scene) {
    this.scene = scene;
    this.bodies = scene.bodies;
    this.joints = scene.joints;
    this.times = new Float64Array();
    this.poses = new Float32Array();
    this.channelTimes = new Float64Array();
    this.reactions = new Float32Array();
    this.torques = new Float32Array();
    this.twists = new Float32Array();
    this.loads = new Float32Array();
    this.stepEnds = new Float64Array();
    this.stepSizes = new Float32Array();
    let at = 0; // gravity does not change: it is no column of this.loads
    this.columns = scene.loads.map(({ value }) => (value ? -1 : at++));
    this.groups = scene.groups.map(({ series, ...group }) => ({
      ...group,
      series: series.map(({ name, signal }) => ({ name, signal, values: new Float32Array() })),
    }));
    this.position = scene.bodies.map(() => new Vector3());
    this.rotation = scene.bodies.map(() => new Quaternion());
    this.layers = scene.bodies.map(({ layer }) => new Vector3().fromArray(layer)); // from where a body is to where it is drawn
    this.drawn = scene.bodies.map(() => new Vector3());
    this.append(scene);
  }

  append(part) {
    this.times = joined(this.times, decode(part.times, Float64Array));
    this.poses = joined(this.poses, decode(part.poses));
    this.channelTimes = joined(this.channelTimes, decode(part.channel_times, Float64Array));
    this.reactions = joined(this.reactions, decode(part.reactions));
    this.torques = joined(this.torques, decode(part.torques));
    this.twists = joined(this.twists, decode(part.twists));
    this.loads = joined(this.loads, decode(part.load_values));
    this.stepEnds = joined(this.stepEnds, decode(part.step_ends, Float64Array));
    this.stepSizes = joined(this.stepSizes, decode(part.step_sizes));
    part.groups.forEach((group, g) => {
      group.series.forEach(({ values }, s) => {
        const series = this.groups[g].series[s];
        series.values = joined(series.values, decode(values));
      });
    });
    this.sizes = { force: { reaction: large(this.reactions), ...this.#sizes("force") }, torque: { reaction: large(this.torques), ...this.#sizes("torque") } };
    const [v, w, size] = [large(this.twists, 0, 6), large(this.twists, 3, 6), this.scene.scale];
    Object.assign(this.sizes, { velocity: Math.max(v, w * size), spin: Math.max(w, v / size) }); // what turns moves, and what moves might turn
  }

  get start() {
    return this.times[0];
  }

  get end() {
    return this.times[this.times.length - 1];
  }

  // Poses of all bodies at time t, into this.position, this.drawn and this.rotation.
  moveTo(t) {
    const [k, f] = locate(this.times, t);
    const width = 7 * this.bodies.length;
    const next = Math.min(k + 1, this.times.length - 1) * width;
    const { poses } = this;
    for (let b = 0, i = k * width, j = next; b < this.bodies.length; b++, i += 7, j += 7) {
      const q = this.rotation[b];
      this.position[b].set(
        poses[i] + f * (poses[j] - poses[i]),
        poses[i + 1] + f * (poses[j + 1] - poses[i + 1]),
        poses[i + 2] + f * (poses[j + 2] - poses[i + 2]),
      );
      this.drawn[b].addVectors(this.position[b], this.layers[b]);
      next_rotation.fromArray(poses, j + 3);
      q.fromArray(poses, i + 3).slerp(next_rotation, f);
    }
  }

  // Where a point on a body (or on the ground, -1) is drawn in the current pose.
  point(body, local, out) {
    out.fromArray(local);
    return body < 0 ? out : out.applyQuaternion(this.rotation[body]).add(this.drawn[body]);
  }

  // How far the middle of the bodies has gone along a floor since the start.
  way(normal) {
    const middle = this.position.reduce((sum, at) => sum.add(at), new Vector3()).divideScalar(this.position.length);
    this.begin ??= this.bodies.reduce((sum, _, b) => sum.add(new Vector3().fromArray(this.poses, 7 * b)), new Vector3()).divideScalar(this.bodies.length);
    const gone = middle.sub(this.begin);
    return gone.addScaledVector(normal, -gone.dot(normal));
  }

  value(series, t) {
    return interpolated(this.channelTimes, series.values, 1, 0, t);
  }

  force(joint, t, out) {
    return this.#vector(this.reactions, this.joints.length, joint, t, out);
  }

  // k counts the joints that have torques, scene.turning.
  torque(k, t, out) {
    return this.#vector(this.torques, this.scene.turning.length, k, t, out);
  }

  // k counts scene.loads.
  load(k, t, out) {
    const { value } = this.scene.loads[k];
    return value ? out.fromArray(value) : this.#vector(this.loads, this.loadCount, this.columns[k], t, out);
  }

  // Whether there are values of one of scene.loads: functions of the program are not in a stored run.
  knows(k) {
    const first = 3 * this.columns[k];
    return this.columns[k] < 0 || !this.loads.length || this.loads.some((v, i) => i % (3 * this.loadCount) === first && Number.isFinite(v));
  }

  get loadCount() {
    return this.columns.filter((column) => column >= 0).length;
  }

  // Usual size of the largest arrow of some kinds, 0 where there is none.
  usual(what, kinds) {
    return Math.max(0, ...Array.from(kinds, (kind) => this.sizes[what][kind === "unsure" ? "reaction" : kind] ?? 0));
  }

  #sizes(what) {
    const sizes = {};
    this.scene.loads.forEach((load, k) => {
      if (load.what !== what) return;
      const size = load.value ? Math.hypot(...load.value) : large(this.loads, 3 * this.columns[k], 3 * this.loadCount);
      sizes[load.kind] = Math.max(sizes[load.kind] ?? 0, size);
    });
    return sizes;
  }

  // "velocity" or "angular velocity" of a body, world axes.
  twist(body, what, t, out) {
    const width = 6 * this.bodies.length;
    const first = 6 * body + (what === "velocity" ? 0 : 3);
    const at = (axis) => interpolated(this.channelTimes, this.twists, width, first + axis, t);
    return out.set(at(0), at(1), at(2));
  }

  #vector(values, count, k, t, out) {
    const at = (axis) => interpolated(this.channelTimes, values, 3 * count, 3 * k + axis, t);
    return out.set(at(0), at(1), at(2));
  }
}

const next_rotation = new Quaternion();

function interpolated(times, values, width, offset, t) {
  const [k, f] = locate(times, t);
  const a = values[k * width + offset];
  const b = values[Math.min(k + 1, times.length - 1) * width + offset];
  return a + f * (b - a);
}

// What 98 of 100 vectors stay below, of those that are not zero but for rounding: peaks do not shrink all other arrows.
function large(values, first = 0, width = 3) {
  const sizes = [];
  const stride = width * Math.max(1, Math.floor(values.length / width / 20000));
  for (let k = first; k + 2 < values.length; k += stride) {
    const size = Math.hypot(values[k], values[k + 1], values[k + 2]);
    if (Number.isFinite(size)) sizes.push(size);
  }
  sizes.sort((a, b) => a - b);
  const acting = sizes.filter((size) => size > 1e-6 * sizes[sizes.length - 1]);
  return acting[Math.floor(0.98 * (acting.length - 1))] || 0;
}
