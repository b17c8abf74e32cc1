// The viewer: reads the scene from the page, or from the server while a run goes on, and puts the parts together.

import "./style.css";
import { Actor } from "./actor.js";
import { Inspector } from "./inspector.js";
import { Page } from "./page.js";
import { Plots, short } from "./plots.js";
import { Run } from "./run.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";

const TRAILS = ["none", "recent", "whole"];

class Viewer {
  constructor(scenes) {
    this.runs = scenes.map((scene) => new Run(scene));
    this.names = namesOf(scenes);
    const start = Math.min(...this.runs.map((run) => run.start));
    const end = Math.max(...this.runs.map((run) => run.end));
    this.timeline = new Timeline(start, end, scenes[0].speed);
    this.settings = { trails: 1, forces: false, torques: false, joints: true, grid: true, names: false, panel: innerWidth > 760, dark: prefers("dark"), side: false };
    this.commands = this.#commands();
    this.page = new Page(scenes, this.names, this.timeline, this.commands);
    this.stage = new Stage(this.page.canvas, framed(scenes));
    this.actors = this.runs.map((run, k) => new Actor(this.stage, run, k + 1));
    this.inspector = new Inspector(this.stage, this.page, this.actors);
    const seek = (t) => {
      this.timeline.pause();
      this.timeline.scrub(t);
    };
    this.plots = new Plots(this.page.plots, this.runs, this.names, scenes[0].plots, seek);
    this.stage.onResize = () => {
      const { width, height } = this.stage.size;
      const ratio = this.stage.sideBySide ? 0.5 : 1;
      for (const actor of this.actors) actor.trails.shared.resolution.value.set(width * ratio, height);
      this.plots.resize();
    };
    this.timeline.onChange(() => {
      this.moved = true;
      this.wake();
    });
    addEventListener("keydown", (event) => this.#key(event));
    // space always plays: a button that has the focus is pressed by enter, and one that the mouse pressed does not keep it
    addEventListener("keyup", (event) => event.key === " " && event.target.tagName !== "SELECT" && event.preventDefault());
    addEventListener("click", (event) => event.detail && document.activeElement.closest("button, summary, input")?.blur());
    this.moved = true;
    this.apply();
    this.stage.frame();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches && end > start) this.timeline.play();
    this.scriptTime = [];
    this.stage.wake = this.inspector.wake = () => this.wake();
    this.wake();
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

  // name: key, what it does, how; on() says whether it is lit
  #commands() {
    const { settings } = this;
    const flip = (name) => () => {
      settings[name] = !settings[name];
      this.apply();
    };
    const lit = (name) => () => settings[name];
    const commands = {
      loop: { key: "L", text: "play in a loop", act: () => ((this.timeline.loop = !this.timeline.loop), this.apply()), on: () => this.timeline.loop },
      trails: {
        key: "T",
        text: "trails: recent, whole, none",
        act: () => ((settings.trails = (settings.trails + 1) % 3), this.apply()),
        on: () => settings.trails > 0,
      },
      forces: { key: "F", text: "reaction forces", act: flip("forces"), on: lit("forces") },
      torques: { key: "M", text: "reaction torques", act: flip("torques"), on: lit("torques") },
      joints: { key: "J", text: "joints", act: flip("joints"), on: lit("joints") },
      names: { key: "N", text: "names", act: flip("names"), on: lit("names") },
      grid: { key: "G", text: "ground", act: flip("grid"), on: lit("grid") },
      compare: {
        key: "B",
        text: "two runs: overlaid, side by side",
        act: () => {
          settings.side = !settings.side;
          this.apply();
          this.stage.frame();
        },
        on: lit("side"),
      },
      camera: { key: "C", text: "see everything again", act: () => this.stage.frame() },
      picture: { key: "S", text: "save a picture", act: () => this.#save() },
      theme: { key: "D", text: "light, dark", act: flip("dark"), on: lit("dark") },
      panel: { key: "P", text: "plots and report", act: flip("panel"), on: lit("panel") },
      report: {
        key: "R",
        text: "trust report",
        act: () => {
          settings.panel = true;
          this.apply();
          this.page.trust.open = !this.page.trust.open;
          this.page.trust.scrollIntoView({ block: "nearest" });
        },
      },
      help: { key: "?", text: "keys", act: () => this.page.help() },
    };
    if (this.runs.length < 2) delete commands.compare;
    if (!this.runs.some((run) => run.scene.turning.length)) delete commands.torques;
    return commands;
  }

  // Everything that follows from the settings.
  apply() {
    const { settings, stage, page } = this;
    document.documentElement.dataset.theme = settings.dark ? "dark" : "light";
    document.body.classList.toggle("bare", !settings.panel);
    stage.sideBySide = settings.side;
    stage.resize();
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    stage.colours({ background: colour("--stage"), line: colour("--grid"), dark: settings.dark });
    stage.grid.visible = settings.grid;
    this.actors.forEach((actor, k) => {
      actor.glyphs.visible = settings.joints;
      actor.bodies.ghost = actor.glyphs.ghost = k > 0 && !settings.side;
      actor.showArrows(settings.forces, settings.torques);
      actor.trails.visible = TRAILS[settings.trails] !== "none";
      const span = this.timeline.end - this.timeline.start;
      actor.trails.shared.memory.value = TRAILS[settings.trails] === "whole" ? 1e3 * span : Math.min(1.2 * this.timeline.speed, span || 1);
    });
    const { largestForce, largestTorque } = this.runs[0];
    const arrows = [
      ...(settings.forces && largestForce ? [`${short(largestForce)} N`] : []),
      ...(settings.torques && largestTorque ? [`${short(largestTorque)} N m`] : []),
    ];
    page.scaleNote.textContent = arrows.length ? `longest usual arrow ${arrows.join(", ")}` : `grid ${short(stage.gridStep)} m`;
    this.inspector.showNames(settings.names);
    page.halves(settings.side ? this.runs.map((run, k) => `${this.names[k]}: ${run.scene.method}`) : []);
    if (this.theme !== settings.dark) this.plots.rebuild();
    this.theme = settings.dark;
    page.update();
    this.moved = true;
    this.wake();
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
    this.inspector.update(timeline.time, timeline.playing ? now : 0);
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
    if (this.runs[0].scene.follow) this.stage.follow(this.runs[0].way(this.stage.normal));
    this.plots.moveTo(time, this.timeline.playing ? now : 0);
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
    this.plots.rebuild();
    this.timeline.changed();
  }

  finish({ report, status }) {
    this.timeline.following = false;
    this.page.report(report, status);
    this.timeline.changed();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT/.test(event.target.tagName) && event.target.type !== "range") return;
    const { timeline } = this;
    const span = timeline.end - timeline.start;
    const step = event.shiftKey ? span / 10 : timeline.frame;
    const keys = {
      " ": () => timeline.toggle(),
      ArrowRight: () => (timeline.pause(), timeline.scrub(timeline.time + step)),
      ArrowLeft: () => (timeline.pause(), timeline.scrub(timeline.time - step)),
      Home: () => timeline.scrub(timeline.start),
      End: () => timeline.scrub(timeline.end),
      "+": () => timeline.faster(1),
      "=": () => timeline.faster(1),
      "-": () => timeline.faster(-1),
      Escape: () => (this.inspector.choose(null), this.page.sheet && this.page.help()),
    };
    const command = Object.values(this.commands).find(({ key }) => key.toLowerCase() === event.key.toLowerCase());
    const act = keys[event.key] ?? command?.act;
    if (!act) return;
    event.preventDefault();
    act();
    if ("+=-".includes(event.key)) this.apply();
  }

  #save() {
    const link = document.createElement("a");
    link.href = this.stage.picture();
    link.download = `${this.runs[0].scene.title} at ${this.timeline.time.toFixed(3)} s.png`;
    link.click();
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
        plots: this.plots.state(),
        settings: { ...this.settings },
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

// The camera for all runs: the first one's direction, wide enough for both.
function framed(scenes) {
  const [first] = scenes;
  const gap = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
  const radius = Math.max(...scenes.map(({ camera }) => camera.radius + gap(camera.target, first.camera.target)));
  const extent = first.camera.extent.map((size) => (size * radius) / first.camera.radius);
  return { ...first, camera: { ...first.camera, radius, extent }, floor: Math.min(...scenes.map(({ floor }) => floor)) };
}

// What tells runs from each other: their files, where they have different ones.
function namesOf(scenes) {
  const files = scenes.map(({ file }) => file);
  return files.every(Boolean) && new Set(files).size === files.length ? files : scenes.map((_, k) => `run ${k + 1}`);
}

function prefers(scheme) {
  return matchMedia(`(prefers-color-scheme: ${scheme})`).matches;
}

function open(scenes) {
  const viewer = new Viewer(scenes);
  window.viewer = viewer.api;
  return viewer;
}

// Scenes in the page itself, or events from the server: "scenes", then "frames" while the run grows, then "done".
const stored = document.getElementById("scenes");
if (stored) open(JSON.parse(stored.textContent));
else {
  const events = new EventSource("events");
  let viewer = null;
  events.addEventListener("scenes", (event) => {
    if (viewer) return;
    viewer = open(JSON.parse(event.data));
    viewer.timeline.following = true;
  });
  events.addEventListener("frames", (event) => viewer?.append(JSON.parse(event.data)));
  events.addEventListener("restart", () => location.reload());
  events.addEventListener("done", (event) => {
    events.close();
    viewer?.finish(JSON.parse(event.data));
  });
  events.addEventListener("error", () => {
    document.body.dataset.connection = "lost";
  });
  events.addEventListener("open", () => {
    if (viewer) location.reload(); // the server was started again
    delete document.body.dataset.connection;
  });
}
