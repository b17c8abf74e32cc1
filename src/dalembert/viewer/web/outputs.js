// Every output of a run that can be plotted, by name: groups of curves over time.

export function outputsOf(run) {
  const groups = run.groups.map((group) => ({ ...group, times: () => run.channelTimes, data: () => group.series.map((s) => s.values) }));
  // three columns and their length, of a table with `width` columns
  const vectors = (name, unit, table, width, first, times = "channelTimes") =>
    groups.push({
      name,
      unit,
      log: false,
      series: [{ name: "x" }, { name: "y" }, { name: "z" }],
      size: true,
      times: () => run[times],
      data: () => [0, 1, 2].map((axis) => column(run[table], width(), first + axis)),
    });
  const { scene, joints, bodies } = run;
  joints.forEach((joint, j) => vectors(`reaction at ${joint.name}`, "N", "reactions", () => 3 * joints.length, 3 * j));
  scene.turning.forEach((j, k) => vectors(`reaction torque at ${joints[j].name}`, "N m", "torques", () => 3 * scene.turning.length, 3 * k));
  bodies.forEach(({ name }, b) => {
    vectors(`position of ${name}`, "m", "poses", () => 7 * bodies.length, 7 * b, "times");
    vectors(`velocity of ${name}`, "m/s", "twists", () => 6 * bodies.length, 6 * b);
    vectors(`angular velocity of ${name}`, "rad/s", "twists", () => 6 * bodies.length, 6 * b + 3);
  });
  scene.loads.forEach(({ tag, what, body, value }, k) => {
    if (value) return; // a weight is constant
    vectors(`${what} of ${nameOf(run, tag)} on ${bodies[body].name}`, what === "force" ? "N" : "N m", "loads", () => 3 * run.loadCount, 3 * run.columns[k]);
  });
  if (run.stepEnds.length) groups.push({ name: "step size", unit: "s", log: true, series: [{ name: "step" }], times: () => run.stepEnds, data: () => [run.stepSizes] });
  return groups;
}

// What an element is called.
export function nameOf(run, tag) {
  const [kind, index] = tag.split(" ");
  return { body: run.bodies, joint: run.joints, force: run.scene.forces, driver: run.scene.drivers }[kind][Number(index)].name;
}

// Outputs that belong to an element, the first one first.
export function outputsFor(run, tag) {
  const name = nameOf(run, tag);
  const [kind] = tag.split(" ");
  const wanted = {
    body: [`position of ${name}`, `velocity of ${name}`],
    joint: [`coordinate of ${name}`, `reaction at ${name}`],
    force: [`effort of ${name}`, `power of ${name}`],
    driver: [`effort of ${name}`, `power of ${name}`],
  };
  return wanted[kind];
}

function column(values, width, offset) {
  return Float32Array.from({ length: values.length / width }, (_, k) => values[k * width + offset]);
}
