// What the card of an element says: title, text, and values by name, each a function of time.

import { Vector3 } from "three";
import { beside, inUnit, short, vector } from "./numbers.js";

const UNKNOWN = "not in the file: a function of the program";
const point = new Vector3();

export function describe(run, tag) {
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
  if (joint.type === "coupling") {
    const own = run.groups.filter((group) => group.tag === tag).flatMap(({ unit, series }) => series.map((one) => [one.name.replace(` of ${joint.name}`, ""), (t) => told(run.value(one, t), unit)]));
    return { title: joint.name, text: `${joint.kind}, ${joint.joins.join(" – ")}`, values: own };
  }
  return {
    title: joint.name,
    text: `${joint.kind} joint, ${joint.joins.join(" to ")}; reactions act on ${name(joint.second)}, in axes of the world`,
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
      [body.marker ? "position" : "centre of mass", () => `${vector(run.position[k], run.scene.scale)} m`],
      ["velocity", (t) => `${vector(run.twist(k, "velocity", t, point), run.sizes.velocity)} m/s`],
      ["speed", (t) => `${beside(run.twist(k, "velocity", t, point).length(), run.sizes.velocity)} m/s`],
      ["angular velocity", (t) => toldVector(run.twist(k, "angular velocity", t, point), "rad/s", run.sizes.spin)],
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
    values: arrows.map(({ what, body, n }) => [`${what} on ${run.bodies[body].name}`, (t) => (run.knows(n) ? `${vector(run.load(n, t, point))} ${what === "force" ? "N" : "N m"}` : UNKNOWN)]),
  };
}

function told(value, unit) {
  const [factor, shown] = inUnit(unit);
  return `${short(factor * value)} ${shown}`;
}

function toldVector(value, unit, usual) {
  const [factor, shown] = inUnit(unit);
  return `${vector(value.multiplyScalar(factor), factor * usual)} ${shown}`;
}
