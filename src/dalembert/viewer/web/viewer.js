// The viewer: puts the parts together, and says what follows from keys, buttons and time.

import { Vector3 } from "three";
import { Actor } from "./actor.js";
import { commandsOf, onKey } from "./commands.js";
import { Dock } from "./dock.js";
import { Inspector } from "./inspector.js";
import { Labels } from "./labels.js";
import { Legend } from "./legend.js";
import { angles, short } from "./numbers.js";
import { Page } from "./page.js";
import { Run } from "./run.js";
import { save } from "./save.js";
import { still } from "./still.js";
import { OUTLINE } from "./solids.js";
import { Stage } from "./stage.js";
import { Strip } from "./strip.js";
import { Timeline } from "./timeline.js";
import { Tree } from "./tree.js";
import { Triad } from "./triad.js";
import { Visibility } from "./visibility.js";

const TRAILS = ["none", "recent", "whole"];

export class Viewer {
  constructor(scenes) {
    this.runs = scenes.map((scene) => new Run(scene));
    this.names = namesOf(scenes);
    const start = Math.min(...this.runs.map((run) => run.start));
    const end = Math.max(...this.runs.map((run) => run.end));
    this.timeline = new Timeline(start, end, scenes[0].speed);
    const wide = innerWidth > 760;
    const loaded = (wanted) => scenes[0].loads.some(({ what, kind }) => what === wanted && kind === "load");
    this.settings = { trails: 1, forces: loaded("force"), torques: loaded("torque"), joints: true, grid: true, names: false, panel: wide, tree: innerWidth > 1400, dark: prefers("dark"), side: false };
    this.visibility = new Visibility();
    this.commands = commandsOf(this);
    this.page = new Page(scenes, this.names, this.timeline, this.commands);
    this.stage = new Stage(this.page.canvas, framed(scenes));
    this.actors = this.runs.map((run, k) => new Actor(this.stage, run, k + 1, this.visibility, this.runs));
    this.stage.onResize = () => this.#resized();
    this.stage.wake = () => this.wake();
    const changed = () => {
      this.moved = true;
      this.wake();
    };
    this.visibility.onChange(changed);
    this.timeline.onChange(changed);
    this.scriptTime = [];
    this.#paint();
    this.stage.eye.frame();
    changed();
  }

  // What stands around the picture: built when that is seen.
  furnish() {
    const { runs, page, stage, actors, visibility, timeline } = this;
    const seek = (t) => {
      timeline.pause();
      timeline.scrub(t);
    };
    this.dock = new Dock(page.plots, runs, this.names, runs[0].scene.plots, seek, this.commands.degrees.act);
    this.labels = new Labels(stage);
    this.inspector = new Inspector(stage, page, this.labels, actors, this.names, visibility, (tag) => this.dock.load(tag));
    this.inspector.wake = () => this.wake();
    this.tree = new Tree(page.side, runs[0], visibility, (tag) => this.inspector.chooseTag(tag));
    this.tree.focusOn = (tag) => this.inspector.focusOn(tag);
    this.legend = new Legend(page, this.labels, actors, () => this.apply());
    this.strip = new Strip(page.track, runs, this.names, timeline);
    this.triad = new Triad(page.stage, stage.eye);
    addEventListener("keydown", (event) => onKey(this, event));
    // what the mouse pressed does not keep the focus: space plays, arrows move in time; text fields keep it
    addEventListener("click", (event) => event.detail && document.activeElement.closest("button, summary, canvas, [role=button], [type=range]")?.blur());
    this.furnished = true;
    this.theme = this.settings.dark;
    this.apply();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches && timeline.end > timeline.start) timeline.play();
  }

  #resized() {
    const { width, height } = this.stage.half;
    for (const actor of this.actors) actor.trails.shared.resolution.value.set(width, height);
    OUTLINE.uniforms.pixel.value.set(2 / width, 2 / height);
    this.dock?.resize();
  }

  // Ask for one more frame; a page in which nothing moves asks for none.
  wake() {
    if (this.awake) return;
    this.awake = true;
    requestAnimationFrame((now) => {
      this.awake = false;
      this.step(now);
    });
  }

  onChosen(act) {
    if (this.visibility.chosen) this.tree.act(act, this.visibility.chosen);
  }

  // The camera goes along with a body, the chosen one if there is one.
  follow() {
    const [, index] = this.visibility.chosen?.startsWith("body") ? this.visibility.chosen.split(" ") : [];
    const body = this.followed ? null : index === undefined ? this.#heaviest() : Number(index);
    this.#followed(body);
  }

  #followed(body) {
    const [run] = this.runs;
    const { eye } = this.stage;
    this.followed = body === null ? null : { body, from: run.position[body].clone().sub(eye.way) };
    if (body === null) eye.way.copy(this.stage.way); // it stays where it is
    else eye.framed = false;
    this.page.goesWith.textContent = body === null ? "" : `camera follows ${run.bodies[body].name}`;
    this.page.update();
    this.moved = true;
    this.wake();
  }

  // The whole motion, as the page was opened.
  home() {
    this.#followed(null);
    this.stage.eye.frame();
  }

  #heaviest() {
    const masses = this.runs[0].bodies.map(({ mass }) => mass ?? 0);
    return masses.indexOf(Math.max(...masses));
  }

  // Everything that follows from the settings.
  apply() {
    const { settings, page } = this;
    this.#paint();
    if (!this.furnished) return;
    const wanted = new Set([...(settings.forces ? ["force"] : []), ...(settings.torques ? ["torque"] : [])]);
    for (const actor of this.actors) actor.arrows.show(wanted, this.legend.kinds, this.legend.factor);
    this.legend.show(wanted);
    this.inspector.showNames(settings.names);
    this.legend.named = settings.names; // numbers of arrows, too
    page.halves(settings.side ? this.runs.map((run, k) => `${this.names[k]}: ${run.scene.method}`) : []);
    if (this.theme !== settings.dark) this.dock.rebuild();
    this.strip.draw();
    this.theme = settings.dark;
    page.update();
    this.moved = true;
    this.wake();
  }

  // Of these, what the picture shows.
  #paint() {
    const { settings, stage, page } = this;
    document.documentElement.dataset.theme = settings.dark ? "dark" : "light";
    document.body.classList.toggle("bare", !settings.panel);
    document.body.classList.toggle("treed", settings.tree);
    stage.sideBySide = settings.side;
    stage.resize();
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    stage.colours({ background: colour("--stage"), line: colour("--grid"), dark: settings.dark });
    OUTLINE.uniforms.colour.value.set(colour("--accent"));
    stage.grid.visible = settings.grid;
    const span = this.timeline.end - this.timeline.start;
    this.actors.forEach((actor, k) => {
      actor.glyphs.visible = settings.joints;
      actor.bodies.ghost = actor.glyphs.ghost = k > 0 && !settings.side;
      actor.trails.visible = TRAILS[settings.trails] !== "none";
      actor.trails.shared.ahead.value = TRAILS[settings.trails] === "whole" ? 0.4 : 0; // what is still to come is paler
      actor.trails.shared.memory.value = TRAILS[settings.trails] === "whole" ? 1e3 * span : Math.min(1.2 * this.timeline.speed, span || 1);
    });
    page.scaleNote.textContent = `grid ${short(stage.gridStep)} m`;
  }

  step(now) {
    const begin = performance.now();
    const { timeline } = this;
    timeline.advance(this.last ? Math.min((now - this.last) / 1000, 0.1) : 0);
    this.last = timeline.playing ? now : 0;
    if (this.moved) {
      this.moved = false;
      this.show(now);
    }
    if (this.furnished) {
      this.labels.clear();
      this.inspector.update(timeline.time, timeline.playing ? now : 0);
      this.triad.update();
      this.legend.update(timeline.playing ? now : 0);
    }
    if (this.stage.draw()) {
      this.scriptTime.push(performance.now() - begin);
      if (this.scriptTime.length > 240) this.scriptTime.shift();
      this.wake(); // the camera may still be gliding
    }
    if (timeline.playing) this.wake();
  }

  show(now) {
    const { time } = this.timeline;
    for (const actor of this.actors) actor.moveTo(time);
    const [run] = this.runs;
    if (run.scene.follow) this.stage.follow(run.way(this.stage.normal));
    this.stage.eye.follow(this.followed ? run.position[this.followed.body].clone().sub(this.followed.from) : this.stage.way);
    this.dock?.moveTo(time, this.timeline.playing ? now : 0);
    this.stage.invalidate();
  }

  // More of a run that is still being computed.
  append(part) {
    const [run] = this.runs;
    const atEnd = this.timeline.time >= this.timeline.end - 1e-9;
    run.append(part);
    this.timeline.end = run.end;
    if (atEnd && this.timeline.following && this.timeline.playing) this.timeline.time = run.end;
    this.actors[0].trails.rebuild();
    this.dock.grow();
    this.strip.draw();
    this.timeline.changed();
  }

  finish({ report, status }) {
    this.timeline.following = false;
    this.runs[0].scene.report = report;
    this.strip.draw();
    this.page.report(report, status, 0, this.runs.length > 1 ? this.names[0] : "");
    this.timeline.changed();
  }

  save() {
    const { title } = this.runs[0].scene;
    const [name, unit] = this.page.over;
    const { time, start, end } = this.timeline;
    const digits = Math.max(2, 2 - Math.floor(Math.log10(Math.max(end - start, 1e-9)))); // as pictures have
    save(`${title} at ${time.toFixed(3)} s.png`, still(this.stage, title, `${name} = ${time.toFixed(digits)} ${unit}`, this.legend.keys));
  }

  // What tests and scripts use.
  get api() {
    return {
      state: () => ({
        time: this.timeline.time,
        start: this.timeline.start,
        end: this.timeline.end,
        playing: this.timeline.playing,
        following: this.timeline.following,
        speed: this.timeline.speed,
        frames: this.runs.map((run) => run.times.length),
        bodies: this.runs.map((run) => run.bodies.map(({ name }, b) => ({ name, position: run.position[b].toArray(), rotation: run.rotation[b].toArray() }))),
        plots: this.dock.state(),
        settings: { ...this.settings, orthographic: this.stage.eye.orthographic },
        camera: { direction: this.stage.eye.direction.toArray(), target: this.stage.eye.target.toArray(), distance: this.stage.eye.distance },
        worst: this.strip.worst,
        triangles: this.stage.renderer.info.render.triangles, // of the last picture, with its shadows
        hidden: this.tree.rows.filter(({ tag }) => !this.visibility.shows(tag)).map(({ tag }) => tag),
        chosen: this.inspector.chosen?.what.title ?? null,
      }),
      play: () => this.timeline.play(),
      pause: () => this.timeline.pause(),
      scrub: (t) => {
        this.timeline.scrub(t);
        this.show(0);
      },
      command: (name) => this.commands[name].act(),
      // Where a point of the world is on the canvas [px], as the camera sees it.
      project: (x, y, z) => this.stage.project(x, y, z),
      picture: () => this.stage.picture(),
      scriptTimes: () => [...this.scriptTime],
      settled: () => !this.moved && !this.stage.dirty,
    };
  }
}

// The camera for all runs: the first one's direction, wide enough for all.
function framed(scenes) {
  const [first] = scenes;
  const [up, towards] = [first.up, first.camera.direction].map((at) => new Vector3().fromArray(at));
  const right = new Vector3().crossVectors(up, towards).normalize();
  const axes = [right, new Vector3().crossVectors(towards, right), towards];
  const alike = ({ camera }) => towards.distanceTo(new Vector3().fromArray(camera.direction)) < 1e-6;
  const centres = scenes.map(({ camera }) => new Vector3().fromArray(camera.target));
  const target = new Vector3();
  const extent = axes.map((axis, k) => {
    const spans = scenes.map(({ camera }, n) => [centres[n].dot(axis), alike(scenes[n]) ? camera.extent[k] : camera.radius]);
    const [low, high] = [Math.min(...spans.map(([at, half]) => at - half)), Math.max(...spans.map(([at, half]) => at + half))];
    target.addScaledVector(axis, (low + high) / 2);
    return (high - low) / 2;
  });
  const radius = Math.max(...scenes.map(({ camera }, n) => camera.radius + centres[n].distanceTo(target)));
  return { ...first, camera: { ...first.camera, target: target.toArray(), radius, extent }, sheet: { ...first.sheet, height: Math.min(...scenes.map(({ sheet }) => sheet.height)) } };
}

// What tells runs from each other: their files, where they have different ones.
function namesOf(scenes) {
  const files = scenes.map(({ file }) => file);
  return files.every(Boolean) && new Set(files).size === files.length ? files : scenes.map((_, k) => `run ${k + 1}`);
}

function prefers(scheme) {
  return matchMedia(`(prefers-color-scheme: ${scheme})`).matches;
}
