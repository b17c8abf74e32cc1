// Every output of a run that can be plotted, by the names of signals: groups of curves over time.

import { inUnit } from "./numbers.js";

export function outputsOf(run) {
  const groups = run.groups.map((group) => made({ ...group, times: () => run.channelTimes, data: () => group.series.map((s) => s.values) }));
  const tables = {
    poses: () => [run.poses, 7 * run.bodies.length],
    reactions: () => [run.reactions, 3 * run.joints.length],
    torques: () => [run.torques, 3 * run.scene.turning.length],
    twists: () => [run.twists, 6 * run.bodies.length],
    loads: () => [run.loads, 3 * run.loadCount],
  };
  const usual = {
    reactions: () => () => run.sizes.force.reaction,
    torques: () => () => run.sizes.torque.reaction,
    twists: (at) => () => (at % 6 ? run.sizes.spin : run.sizes.velocity),
  };
  for (const { table, at, axes, series, signals, ...group } of run.scene.vectors) {
    if (!known(...tables[table](), at)) continue;
    const columns = () => [0, 1, 2].map((axis) => column(...tables[table](), at + axis));
    groups.push(
      made({
        ...group,
        log: false,
        usual: usual[table]?.(at),
        series: series.map((name, k) => ({ name, signal: signals[k], asked: k >= axes.length })), // the size is drawn for who asks
        times: () => (table === "poses" ? run.times : run.channelTimes),
        data: () => {
          const all = columns();
          return [...axes.map((axis) => all[axis]), ...(series.length > axes.length ? [size(all)] : [])];
        },
      }),
    );
  }
  if (run.stepEnds.length) groups.push(made({ name: "step size", unit: "s", log: true, series: [{ name: "step size" }], times: () => run.stepEnds, data: () => [run.stepSizes] }));
  return groups;
}

// With its data in the units that are shown.
function made(group) {
  return {
    ...group,
    get shownUnit() {
      return inUnit(group.unit)[1];
    },
    data: () => {
      const [factor] = inUnit(group.unit);
      return factor === 1 ? group.data() : group.data().map((values) => values.map((v) => factor * v));
    },
  };
}

// What an element is called.
export function nameOf(run, tag) {
  const [kind, index] = tag.split(" ");
  return { body: run.bodies, joint: run.joints, force: run.scene.forces, driver: run.scene.drivers }[kind][Number(index)].name;
}

function column(values, width, offset) {
  return Float32Array.from({ length: values.length / width }, (_, k) => values[k * width + offset]);
}

function size([x, y, z]) {
  return x.map((_, k) => Math.hypot(x[k], y[k], z[k]));
}

// Whether a column has values at all; what is a function of the program has none in a stored run.
function known(values, width, offset) {
  for (let k = offset; k < values.length; k += width) if (Number.isFinite(values[k])) return true;
  return !values.length;
}
