// What keys and buttons do.

import { Vector3 } from "three";
import { angles } from "./numbers.js";

// name: key, what it does, how; on() says whether it is lit
export function commandsOf(viewer) {
  const { settings } = viewer;
  const flip = (name) => () => {
    settings[name] = !settings[name];
    if (settings[name] && innerWidth <= 760 && name === "tree") settings.panel = false; // a phone has room for one of them
    if (settings[name] && innerWidth <= 760 && name === "panel") settings.tree = false;
    viewer.apply();
  };
  const lit = (name) => () => settings[name];
  const marked = viewer.runs[0].scene.trails.some((b) => viewer.runs[0].bodies[b].marker);
  const commands = {
    tree: { key: "E", text: "elements of the model", act: flip("tree"), on: lit("tree") },
    loop: { key: "L", text: "play in a loop", act: () => ((viewer.timeline.loop = !viewer.timeline.loop), viewer.apply()), on: () => viewer.timeline.loop },
    trails: {
      key: "T",
      text: `trails${marked ? " of markers" : ""}: recent, whole, none`,
      act: () => ((settings.trails = (settings.trails + 1) % 3), viewer.apply()),
      on: () => settings.trails > 0,
    },
    forces: { key: "F", text: "forces", act: () => (viewer.legend.more("force") ? viewer.apply() : flip("forces")()), on: lit("forces") },
    torques: { key: "M", text: "torques", act: () => (viewer.legend.more("torque") ? viewer.apply() : flip("torques")()), on: lit("torques") },
    joints: { key: "J", text: "joints", act: flip("joints"), on: lit("joints") },
    names: { key: "N", text: "names", act: flip("names"), on: lit("names") },
    grid: { key: "G", text: "ground", act: flip("grid"), on: lit("grid") },
    compare: {
      key: "B",
      text: "two runs: overlaid, side by side",
      act: () => {
        settings.side = !settings.side;
        viewer.apply();
        viewer.stage.eye.frame();
      },
      on: lit("side"),
    },
    camera: { key: "C", text: "see the whole motion again", act: () => viewer.home() },
    fit: { key: "Z", text: "fit what is shown now", act: () => viewer.stage.eye.fit(viewer.actors.flatMap((actor) => actor.bodies.corners())) },
    follow: { key: "K", text: "camera follows the chosen body", act: () => viewer.follow(), on: () => Boolean(viewer.followed) },
    orthographic: {
      key: "O",
      text: "perspective, orthographic",
      act: () => ((viewer.stage.eye.orthographic = !viewer.stage.eye.orthographic), viewer.page.update()),
      on: () => Boolean(viewer.stage?.eye.orthographic),
    },
    picture: { key: "S", text: "save a picture", act: () => viewer.save() },
    theme: { key: "D", text: "light, dark", act: flip("dark"), on: lit("dark") },
    panel: { key: "P", text: "plots and report", act: flip("panel"), on: lit("panel") },
    report: {
      key: "R",
      text: "trust report",
      act: (k = 0) => {
        if (!settings.panel || innerWidth <= 760) (settings.panel = false), commands.panel.act();
        const box = viewer.page.trusts[k];
        box.open = !box.open;
        box.scrollIntoView({ block: "nearest" });
      },
    },
    degrees: {
      key: "A",
      text: "angles: radians, degrees",
      act: () => {
        angles.degrees = !angles.degrees;
        viewer.dock.rebuild();
        viewer.inspector.write();
      },
    },
    worst: { key: "W", text: "go to the worst energy error", act: () => viewer.strip.goToWorst() },
    hide: { element: true, key: "H", text: "hide the chosen element", act: () => viewer.onChosen("hide") },
    clear: { element: true, key: "X", text: "see through the chosen element", act: () => viewer.onChosen("clear") },
    only: { element: true, key: "I", text: "show only the chosen element", act: () => viewer.onChosen("only") },
    unhide: { key: "U", text: "show all elements again", act: () => viewer.visibility.showAll() },
    help: { key: "?", text: "keys", act: () => viewer.page.help() },
  };
  if (viewer.runs.length < 2) delete commands.compare;
  if (!viewer.runs.some(({ scene }) => scene.turning.length || scene.loads.some(({ what }) => what === "torque"))) delete commands.torques;
  return commands;
}

const TURN = Math.PI / 36; // by an arrow key

// A key that was pressed: fields keep theirs, but for escape, which leaves them, buttons that have the focus are pressed by space, the picture is turned by arrows.
export function onKey(viewer, event) {
  const { target, key } = event;
  const { timeline, page } = viewer;
  const field = /INPUT|SELECT/.test(target.tagName) && target.type !== "range";
  if (field && key === "Escape") target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || field) return;
  if (page.sheet) {
    if (!["Escape", "?"].includes(key)) return;
    event.preventDefault();
    return page.help();
  }
  if (key === " " && target.closest("button, summary, [role=button]")) return;
  const span = timeline.end - timeline.start;
  const step = event.shiftKey ? span / 10 : timeline.frame;
  const { eye, up } = viewer.stage;
  const keys = {
    " ": () => timeline.toggle(),
    ArrowRight: () => (timeline.pause(), timeline.scrub(timeline.time + step)),
    ArrowLeft: () => (timeline.pause(), timeline.scrub(timeline.time - step)),
    Home: () => timeline.scrub(timeline.start),
    End: () => timeline.scrub(timeline.end),
    "+": () => timeline.faster(1),
    "=": () => timeline.faster(1),
    "-": () => timeline.faster(-1),
    1: () => eye.from(eye.front),
    2: () => eye.from(new Vector3().crossVectors(up, eye.front)),
    3: () => eye.from(up),
    Escape: () => viewer.inspector.choose(null),
  };
  const looks = target === page.canvas ? ofPicture(eye, event.shiftKey) : {};
  const command = Object.values(viewer.commands).find((one) => one.key.toLowerCase() === key.toLowerCase());
  const act = looks[key] ?? keys[key] ?? command?.act;
  if (!act) return;
  event.preventDefault();
  act();
  if ("+=-".includes(key)) viewer.apply();
}

// The camera by keys, while the picture has the focus.
function ofPicture(eye, shifted) {
  const move = (across, upright) => () => (shifted ? eye.move(across, upright) : eye.turn(TURN * across, TURN * upright));
  const nearer = () => eye.zoom(1 / 1.15);
  return { ArrowLeft: move(-1, 0), ArrowRight: move(1, 0), ArrowUp: move(0, 1), ArrowDown: move(0, -1), "+": nearer, "=": nearer, "-": () => eye.zoom(1.15) };
}
