// The page around the canvas: title, buttons, transport bar, side panel. Text only ever enters as text.

import { Sheet } from "./help.js";
import { typeset } from "./numbers.js";

const ICONS = {
  play: "M8 5v14l11-7z",
  pause: "M7 5h4v14H7zM13 5h4v14h-4z",
  loop: "M7 7h10v3l4-4-4-4v3H5v6h2zM17 17H7v-3l-4 4 4 4v-3h12v-6h-2z",
  trails: "M3 18c4-9 8 2 11-5s5-6 7-7v2c-2 1-3 1-5 6s-7 0-11 6z",
  forces: "M4 19 15 8h-6V5h11v11h-3v-6L6 21z",
  torques: "M2 11h9V6l5 6-5 6v-5H2zM15 6l6 6-6 6v-3.400l2.600-2.600L15 9.400z",
  joints: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM2 11h4v2H2zM18 11h4v2h-4z",
  grid: "M3 3h18v18H3zM5 5v4h4V5zm6 0v4h4V5zm6 0v4h2V5zM5 11v4h4v-4zm6 0v4h4v-4zm6 0v4h2v-4zM5 17v2h4v-2zm6 0v2h4v-2zm6 0v2h2v-2z",
  names: "M4 5h10l6 7-6 7H4z",
  compare: "M4 4h10v10H4zM10 16h8V8h2v10H10z",
  camera: "M12 4a8 8 0 1 0 8 8h-2a6 6 0 1 1-6-6v3l5-4-5-4z",
  picture: "M4 6h4l2-2h4l2 2h4v13H4zM12 9a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  theme: "M12 3a9 9 0 1 0 0 18V3z",
  panel: "M3 4h18v16H3zM5 6v12h9V6z",
  tree: "M4 4h6v4H8v3h5V9h7v5h-7v-1H8v5h5v-2h7v5h-7v-1H6V8H4z",
  fit: "M3 3h6v2H5v4H3zM15 3h6v6h-2V5h-4zM3 15h2v4h4v2H3zM19 15h2v6h-6v-2h4zM9 9h6v6H9z",
  follow: "M12 2l4 5h-3v4h4V8l5 4-5 4v-3h-4v4h3l-4 5-4-5h3v-4H7v3l-5-4 5-4v3h4V7H8z",
  orthographic: "M12 2l9 5v10l-9 5-9-5V7zM5 8.500v7.400l6 3.300v-7.400zM13 11.800v7.400l6-3.300V8.500zM12 4.300 6.500 7.300 12 10.200l5.500-2.900z",
  hide: "M12 6c5 0 8 4 10 6-2 2-5 6-10 6s-8-4-10-6c2-2 5-6 10-6zm0 2.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7z",
  clear: "M4 4h10v10H4zM6 6v6h6V6zM16 8h4v12H8v-4h2v2h8v-8h-2z",
  only: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM11 2h2v4h-2zM11 18h2v4h-2zM2 11h4v2H2zM18 11h4v2h-4z",
  help: "M11 17h2v2h-2zM12 5a4 4 0 0 1 2 7.5c-.7.4-1 .8-1 1.5h-2c0-1.600.8-2.500 1.900-3.200A2 2 0 1 0 10 9H8a4 4 0 0 1 4-4z",
};

const NARROWEST = 220; // of the plots [px]
const WIDEST = 0.7; // of the page

export function element(parent, tag, className, text) {
  const made = parent.appendChild(document.createElement(tag));
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function icon(button, name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  button.replaceChildren(svg);
}

let byPointer = false;
addEventListener("pointerdown", () => (byPointer = true), true);
addEventListener("keydown", () => (byPointer = false), true);

// A list from which the mouse has chosen keeps no focus: space plays. One that is used by keys does.
export function letGo(list) {
  if (byPointer) list.blur();
}

// What the report says in a few words; a run that is trusted may still have notes to read.
function judge(chip, { headline, verdict, lines }) {
  const [look, mark] = { FAIL: ["fail", "✗"], WARN: ["warn", "!"] }[verdict] ?? ["pass", "✓"];
  const notes = lines.filter(({ block }) => block === "careful").map(({ name }) => name);
  const count = look === "pass" && notes.length ? ` · ${notes.length} note${notes.length > 1 ? "s" : ""}` : "";
  chip.className = `chip ${look}`;
  chip.textContent = `${mark} ${headline}${count}`;
  chip.title = notes.length ? `careful: ${notes.join(", ")}` : "";
}

export class Page {
  // names: of the runs; commands: { name: { key, text, act, on() } } in the order of the buttons
  constructor(scenes, names, timeline, commands) {
    const [scene, second] = scenes;
    this.timeline = timeline;
    this.commands = commands;
    this.over = scene.over; // name and unit of what the bar goes over: time, or what was swept
    const { body } = document;
    body.replaceChildren();
    this.side = element(body, "aside", "side");
    this.side.setAttribute("aria-label", "model");
    this.main = element(body, "main", "main");
    this.deck = element(this.main, "div", "deck");
    this.stage = element(this.deck, "div", "stage");
    this.canvas = element(this.stage, "canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application"); // takes keys
    this.canvas.setAttribute("aria-label", `${scene.title}, moving picture; arrow keys turn it, with shift they move it, plus and minus zoom`);
    this.labels = element(this.stage, "div", "labels");
    this.head = element(this.deck, "header", "head");
    const title = element(this.head, "div", "title");
    element(title, "h1", "", scene.title).title = scene.title;
    const chips = element(title, "div", "chips");
    const chip = () => Object.assign(element(chips, "button", "chip"), { type: "button" });
    this.chips = [chip()];
    const [name, other] = names;
    element(chips, "span", "chip quiet", other ? `${name}: ${scene.method}` : scene.method);
    if (other) {
      element(chips, "span", "chip quiet", `compared with ${other}: ${second.method}`);
      this.chips.push(chip());
    }
    this.scaleNote = element(chips, "span", "chip quiet", "");
    this.goesWith = element(chips, "span", "chip quiet", "");
    this.goesWith.setAttribute("role", "status");
    const hint = Object.assign(element(chips, "button", "hint", "keys: ?"), { type: "button", title: "what keys and mouse do (?)" });
    hint.addEventListener("click", () => this.help());
    this.#buttons();
    this.card = element(this.deck, "section", "card");
    this.card.hidden = true;
    this.#transport();
    this.panel = element(body, "aside", "panel");
    this.panel.setAttribute("aria-label", "plots and report");
    this.#edge();
    this.tip = element(this.stage, "div", "tip");
    this.tip.hidden = true;
    this.plots = element(this.panel, "div");
    this.trusts = scenes.map(() => element(this.panel, "details", "trust"));
    this.chips.forEach((one, k) => one.addEventListener("click", () => commands.report.act(k)));
    scenes.forEach(({ report, status }, k) => this.report(report, status, k, other && names[k]));
    timeline.onChange(() => this.update());
    this.update();
  }

  // The dock's edge: dragged, or moved by arrow keys.
  #edge() {
    const edge = element(this.panel, "div", "edge");
    edge.tabIndex = 0;
    edge.setAttribute("role", "separator");
    edge.setAttribute("aria-orientation", "vertical");
    edge.setAttribute("aria-label", "width of the plots");
    const widen = (width) => {
      const kept = Math.round(Math.min(WIDEST * innerWidth, Math.max(NARROWEST, width)));
      document.documentElement.style.setProperty("--dock", `${kept}px`);
    };
    new ResizeObserver(() => {
      const now = { valuenow: this.panel.offsetWidth, valuemin: NARROWEST, valuemax: Math.round(WIDEST * innerWidth) };
      for (const [name, value] of Object.entries(now)) edge.setAttribute(`aria-${name}`, value);
    }).observe(this.panel);
    edge.addEventListener("pointerdown", (event) => {
      edge.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    edge.addEventListener("pointermove", (event) => edge.hasPointerCapture(event.pointerId) && widen(innerWidth - event.clientX));
    edge.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 40, ArrowRight: -40 }[event.key];
      if (!step) return;
      event.stopPropagation();
      widen(this.panel.offsetWidth + step);
    });
  }

  #buttons() {
    this.tools = element(this.deck, "nav", "tools");
    this.buttons = {};
    for (const [name, command] of Object.entries(this.commands)) {
      if (!ICONS[name] || name === "loop" || command.element) continue; // what is done to an element is offered in the tree
      this.buttons[name] = this.#button(this.tools, name, command);
    }
  }

  #button(parent, name, { text, key, act }) {
    const button = element(parent, "button", "tool");
    button.type = "button";
    icon(button, name);
    button.title = `${text} (${key})`;
    button.setAttribute("aria-label", text);
    button.addEventListener("click", act);
    return button;
  }

  #transport() {
    const bar = (this.bar = element(this.deck, "footer", "transport"));
    new ResizeObserver(() => this.deck.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar); // card and triad stand above it
    this.playButton = element(bar, "button", "tool play");
    this.playButton.type = "button";
    this.playButton.addEventListener("click", () => this.timeline.toggle());
    this.track = element(bar, "div", "track");
    this.slider = element(this.track, "input", "slider");
    Object.assign(this.slider, { type: "range", min: 0, max: 1, step: "any" });
    this.slider.setAttribute("aria-label", this.over[0] === "t" ? "time" : this.over[0]);
    this.slider.addEventListener("input", () => {
      const t = Number(this.slider.value); // pausing sets it back
      this.timeline.pause();
      this.timeline.scrub(t);
    });
    this.clock = element(bar, "output", "clock");
    this.speed = element(bar, "select", "speed");
    this.speed.title = "speed (+ and -)";
    this.speed.setAttribute("aria-label", "speed");
    for (const speed of this.timeline.speeds) this.speed.add(new Option(`${speed}×`, speed));
    this.speed.addEventListener("change", () => {
      this.timeline.speed = Number(this.speed.value);
      letGo(this.speed);
    });
    this.buttons.loop = this.#button(bar, "loop", this.commands.loop);
  }

  // The transport bar and which buttons are lit.
  update() {
    const { timeline } = this;
    if (timeline.playing !== this.shownPlaying) {
      this.shownPlaying = timeline.playing;
      icon(this.playButton, timeline.playing ? "pause" : "play");
      this.playButton.title = `${timeline.playing ? "pause" : "play"} (space)`;
      this.playButton.setAttribute("aria-label", timeline.playing ? "pause" : "play");
    }
    this.slider.min = timeline.start;
    this.slider.max = timeline.end;
    this.slider.value = timeline.time;
    const span = timeline.end - timeline.start;
    this.slider.style.setProperty("--done", `${span > 0 ? (100 * (timeline.time - timeline.start)) / span : 0}%`);
    const digits = span >= 100 ? 1 : span >= 1 ? 2 : 2 + Math.ceil(-Math.log10(Math.max(span, 1e-9)));
    const [name, unit] = this.over;
    this.clock.textContent = `${name === "t" ? "" : `${name} `}${timeline.time.toFixed(digits)} / ${timeline.end.toFixed(digits)} ${unit}`;
    this.bar.hidden = !(span > 0 || timeline.following); // one pose
    this.speed.value = timeline.speed;
    for (const [name, button] of Object.entries(this.buttons)) {
      const lit = this.commands[name].on?.();
      if (lit !== undefined) button.setAttribute("aria-pressed", lit);
    }
  }

  // The trust report of a run: a chip that says it all, and behind it the blocks that every other form of the report has.
  report({ headline, verdict, lines }, status, k = 0, name = "") {
    const [chip, box] = [this.chips[k], this.trusts[k]];
    const running = status === "incomplete";
    judge(chip, { headline: name ? `${name}: ${headline}` : headline, verdict, lines });
    if (running) Object.assign(chip, { className: "chip running", textContent: "still running" });
    chip.title = [`show the trust report${k ? "" : " (R)"}`, chip.title].filter(Boolean).join("; ");
    box.replaceChildren();
    element(box, "summary", "", name ? `Trust report of ${name}` : "Trust report");
    element(box, "p", "", `Verdict: ${headline}. Each check has a limit; its bar grows by a tenth for each power of ten and is full at the limit.`);
    const table = element(box, "table");
    for (const { name, value, limit, verdict, cells } of lines.filter(({ block }) => block === "checks")) {
      const row = element(table, "tr", verdict.toLowerCase());
      element(row, "th", "", name);
      const cell = element(row, "td");
      element(cell, "span", "", typeset(value));
      if (limit) element(cell, "small", "", ` limit ${typeset(limit)}`);
      if (cells !== null) {
        const share = element(cell, "div", "share");
        share.style.setProperty("--full", `${10 * cells}%`);
        share.title = "of the limit; each tenth of the bar is a power of ten";
        share.classList.toggle("over", cells === 10 && verdict !== "pass");
      }
      element(row, "td", "verdict", { pass: "✓", FAIL: "✗", WARN: "!" }[verdict] ?? "");
    }
    const block = (heading, meaning, chosen, text, open) => {
      if (!chosen.length) return;
      const folded = element(box, "details");
      folded.open = open;
      element(folded, "summary", "", heading);
      if (meaning) element(folded, "p", "", meaning);
      const body = element(folded, "table");
      for (const line of chosen) {
        const row = element(body, "tr");
        element(row, "th", "", line.name);
        element(row, "td", "", typeset(line[text]));
      }
    };
    block("careful", "What limits the use of results that are right.", lines.filter((line) => line.block === "careful"), "value", true);
    block("what to do", "", lines.filter((line) => line.advice), "advice", true);
    block("details", "", lines.filter((line) => line.block === "details"), "value", false);
  }

  // Titles of the two halves, above the transport bar.
  halves(titles) {
    this.titles?.remove();
    this.titles = titles.length ? element(this.bar, "div", "halves") : null;
    for (const title of titles) element(this.titles, "span", "", title);
  }

  help() {
    if (this.sheet) this.sheet.close();
    else {
      this.sheet = new Sheet(this.main, Object.values(this.commands));
      this.sheet.onClose = () => (this.sheet = null);
    }
  }
}

// Instead of a picture, in a browser that cannot draw it.
export function withoutPicture([{ title, file, report }]) {
  document.body.replaceChildren();
  document.body.className = "bare";
  const box = element(document.body, "main", "without");
  element(box, "h1", "", title);
  element(box, "p", "", `Trust report: ${report.headline}`);
  element(box, "p", "", "The moving picture needs WebGL 2, which this browser does not have or has switched off. Switch on hardware acceleration in its settings, or open the page in another browser.");
  element(box, "p", "", "Without a browser:");
  const run = file || "RUN";
  for (const command of [`dalembert plot ${run}`, `dalembert view ${run} --out motion.gif`, `dalembert export ${run} picture.png`]) element(box, "pre", "", command);
}
