// One plot of the dock: curves of any outputs over time, up to two axes, what they are now, least and largest, CSV and PNG.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { csv, curvesOf, told } from "./curves.js";
import { Editor, alike } from "./editor.js";
import { inUnit, nearZero, short } from "./numbers.js";
import { element, letGo } from "./page.js";
import { locate } from "./run.js";
import { save } from "./save.js";

// between ticks of an axis in degrees: parts of a turn, whole turns, decimals of small angles
const PARTS_OF_A_TURN = [...[-12, -9, -6, -3, -2, -1].flatMap((p) => [1, 2, 5].map((digit) => Number(`${digit}e${p}`))), 1, 2, 5, 10, 15, 30, 45, 90, 180, ...[1, 10, 100, 1000, 10000].flatMap((turns) => [360 * turns, 720 * turns, 1800 * turns])];
const DIGITS = 4; // of a value and of its range, which it is seen to lie in
// at least 3 to 1 on the page: WCAG 2.2, 1.4.11
const PALETTES = {
  light: ["#2f80cb", "#c27400", "#bd1f01", "#832db6", "#00857a", "#a96b59", "#717581", "#8a7f3c"],
  dark: ["#5aa5ec", "#ffa90e", "#ff6b4a", "#c084e8", "#3fc1b0", "#c99384", "#9aa0ad", "#b9ac70"],
};

// A rotation vector of half a turn goes on as the opposite one: no line joins them.
function jumps(chart, k, from, to, gaps) {
  const [x, y] = [chart.data[0], chart.data[k]];
  const span = chart.series[k].max - chart.series[k].min;
  const place = (i) => chart.valToPos(x[i], "x", true);
  for (let i = from + 1; i <= to; i++) if (Math.abs(y[i] - y[i - 1]) > 0.5 * span) gaps.push([place(i - 1) - 1, place(i) + 1]); // however close they are
  return gaps.sort(([a], [b]) => a - b);
}

export class Plot {
  constructor(dock, name) {
    this.dock = dock;
    this.extra = []; // names of curves that the reader has added
    this.limits = { y: [null, null], right: [null, null] }; // of the axes, in SI units
    this.curves = [];
    this.box = document.createElement("section");
    this.box.className = "plot";
    const head = element(this.box, "header");
    this.choice = element(head, "select");
    this.choice.title = name;
    this.choice.setAttribute("aria-label", "what to plot");
    for (const group of dock.groups[0]) this.choice.add(new Option(group.name));
    this.choice.value = name;
    this.choice.addEventListener("change", () => {
      letGo(this.choice);
      this.own = true;
      this.choose(this.choice.value);
    });
    this.unit = element(head, "span", "unit");
    const tools = element(head, "span", "plot-tools");
    const button = (text, label, act, more = "") => {
      const made = element(tools, "button", "small", text);
      Object.assign(made, { type: "button", title: label + more });
      made.setAttribute("aria-label", label);
      made.addEventListener("click", act);
    };
    button("+", "add a curve, set limits", () => this.#edit());
    const numbers = () => save(`${this.choice.value}.csv`, new Blob([csv(this)], { type: "text/csv" }));
    button("CSV", "save these curves as numbers", numbers, "; eight digits, dalembert export writes all of them");
    button("PNG", "save this plot as a picture", () => this.png());
    button("×", "close this plot", () => dock.remove(this));
    this.told = element(this.box, "p", "told");
    this.told.setAttribute("role", "status");
    this.area = element(this.box, "div", "area");
    this.legend = element(this.box, "div", "legend");
  }

  choose(name) {
    this.choice.value = this.choice.title = name;
    this.extra = [];
    this.limits = { y: [null, null], right: [null, null] };
    this.draw();
  }

  // A row to add any output by name, and to set the ends of the axes.
  #edit() {
    if (this.editor) this.editor.box.remove();
    this.editor = this.editor ? null : new Editor(this);
  }

  // One more curve, by the name of an output or its signal; what stands against it is told.
  add(text) {
    const groups = this.dock.groups[0];
    const found = groups.flatMap((group) => group.series.map((one) => ({ group, ...one }))).find(({ name, signal }) => name === text || signal === text);
    const units = [...new Set(this.curves.map(({ group }) => group.shownUnit))];
    if (!found) this.tell(`there is no output “${text}”; ${alike(groups, text)}`);
    else if (this.curves.some(({ name }) => name === found.name)) this.tell(`${found.name} is in this plot already`);
    else if (units.length > 1 && !units.includes(found.group.shownUnit)) {
      this.tell(`the axes have [${units.join("] and [")}]; add another plot for [${found.group.shownUnit}]`);
    } else {
      this.extra.push(found.name);
      this.own = true;
      this.draw();
      return true;
    }
    return false;
  }

  #remove(name) {
    this.extra = this.extra.filter((other) => other !== name);
    this.draw();
    this.choice.focus();
  }

  // What stands against what was asked for.
  tell(text) {
    this.told.textContent = text;
  }

  // Curves of all runs that have this group, joined on one time axis; the second run is dashed.
  draw() {
    this.chart?.destroy();
    this.chart = null;
    this.tell("");
    const [curves, log] = curvesOf(this.dock, this.choice.value, this.extra);
    Object.assign(this, { curves, log });
    const first = curves[0]?.group.shownUnit ?? "";
    const [other] = curves.filter(({ group }) => group.shownUnit !== first);
    if (!other) this.limits.right = [null, null];
    this.factors = { y: inUnit(curves[0]?.group.unit ?? "")[0], right: other && inUnit(other.group.unit)[0] };
    this.editor?.write();
    if (!curves.length) return;
    const perRun = curves.filter(({ run }) => run === curves[0].run).length;
    const palette = PALETTES[document.documentElement.dataset.theme] ?? PALETTES.light;
    curves.forEach((curve, k) => {
      curve.colour = palette[(k % perRun) % palette.length];
      curve.dash = curve.run ? [5, 4] : undefined;
      curve.scale = curve.group.shownUnit === first ? "y" : "right";
    });
    this.unit.textContent = [first, other?.group.shownUnit].filter(Boolean).map((unit) => `[${unit}]`).join(", ");
    this.unit.title = other ? "axis on the left, axis on the right" : "";
    const style = getComputedStyle(document.body);
    const axis = {
      stroke: style.getPropertyValue("--muted"),
      grid: { stroke: style.getPropertyValue("--hair"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    const values = (_, ticks) => ticks.map((v) => (v === null ? null : short(v)));
    const turns = (unit) => unit === "deg" && { incrs: PARTS_OF_A_TURN };
    const range = (axis) => (_, low, high) => this.#ends(axis, log ? uPlot.rangeLog(low, high, 10, true) : padded(low, high));
    const y = { range: range("y"), ...(log && { distr: 3, log: 10 }) };
    const options = {
      ...this.#size(),
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, ...(this.dock.window && { min: this.dock.window[0], max: this.dock.window[1] }) }, y, ...(other && { right: { range: range("right") } }) },
      axes: [
        { ...axis, size: 24, gap: 3, label: `${this.dock.over[0]} [${this.dock.over[1]}]`, labelSize: 15, labelGap: -2, labelFont: axis.font, values: (_, ticks) => ticks.map((v) => short(v, 6)) },
        { ...axis, ...(log && { filter: decades, grid: { ...axis.grid, filter: decades } }), ...turns(first), size: 52, gap: 4, space: 20, values },
        ...(other ? [{ ...axis, scale: "right", side: 1, grid: { show: false }, ...turns(other.group.shownUnit), size: 48, gap: 4, space: 20, values }] : []),
      ],
      series: [{}, ...curves.map(({ label, colour, dash, scale }) => ({ label, stroke: colour, dash, scale, width: log ? 1 : 1.6, pxAlign: 0, points: { show: false }, ...(label.startsWith("rotation ") && { gaps: jumps }) }))],
    };
    const tables = curves.map(({ times, values: column }) => [times, column]);
    this.data = uPlot.join(tables);
    this.chart = new uPlot(options, this.data, this.area);
    this.line = element(this.chart.over, "div", "now");
    this.#scrubs(this.chart.over);
    this.chart.over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // it scrolls the panel; a pinch on a touchpad has ctrlKey
      event.preventDefault();
      this.dock.zoom(Math.exp(0.002 * event.deltaY), this.chart.posToVal(event.offsetX, "x"));
    }, { passive: false });
    this.chart.over.addEventListener("dblclick", () => this.dock.setWindow(null));
    this.#names();
    this.view();
  }

  // What the reader has set, else what shows all.
  #ends(axis, [low, high]) {
    const [from, to] = this.limits[axis].map((end) => (end === null ? null : end * this.factors[axis]));
    const ends = [from ?? low, to ?? high];
    if (ends[1] > ends[0]) return ends;
    const wide = 0.1 * Math.abs(from ?? to) || 1; // all is beyond the one that is set
    return from === null ? [this.log ? 0.1 * to : to - wide, to] : [from, this.log ? 10 * from : from + wide];
  }

  // A drag moves in time; a finger that goes up or down scrolls the panel, which ends it.
  #scrubs(over) {
    const seek = (event) => this.dock.seek(this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      if (event.pointerType !== "touch") seek(event);
    });
    over.addEventListener("pointermove", (event) => over.hasPointerCapture(event.pointerId) && seek(event));
    over.addEventListener("pointerup", (event) => over.hasPointerCapture(event.pointerId) && seek(event));
  }

  // The window of time, and least and largest values in it.
  view() {
    if (!this.chart) return;
    const [low, high] = this.dock.window ?? this.dock.span;
    this.chart.setScale("x", { min: low, max: high });
    this.curves.forEach(({ run, name, times, values, usual }, k) => {
      const seen = values.filter((v, i) => v !== null && times[i] >= low && times[i] <= high);
      const ends = seen.length ? [seen.reduce((a, b) => Math.min(a, b)), seen.reduce((a, b) => Math.max(a, b))] : null;
      const exact = !this.dock.window && !this.dock.difference && this.dock.runs[run].scene.exact.includes(name);
      this.extremes[k].textContent = ends ? ` ${ends.map((end) => told(end, usual, DIGITS)).join(" … ")}${this.log ? "" : apart(...ends, usual)}` : "";
      this.extremes[k].title = `least … largest (Δ difference) ${exact ? "of the whole time" : "of the states that are shown; dalembert export has those of the run"}`;
    });
    queueMicrotask(() => this.moveTo(this.dock.time, 0)); // the scale is set in one, too
  }

  // A row per run, with its name where there are two.
  #names() {
    this.legend.replaceChildren();
    const shown = [...new Set(this.curves.map(({ run }) => run))];
    const rows = shown.map((run) => {
      const row = element(this.legend, "div");
      if (this.dock.runs.length > 1) element(row, "em", "", this.dock.difference ? `${this.dock.names[1]} − ${this.dock.names[0]}` : this.dock.names[run]);
      return row;
    });
    this.extremes = [];
    const units = new Set(this.curves.map(({ scale }) => scale)).size > 1;
    this.numbers = this.curves.map(({ run, group, name, label, colour, dash, values, usual }) => {
      const item = element(rows[shown.indexOf(run)], "span");
      const mark = element(item, "i");
      mark.style.borderTopColor = colour;
      if (dash) mark.style.borderTopStyle = "dashed";
      item.append(label, " ");
      const value = element(item, "span", "value");
      const number = element(value, "b");
      if (units) value.append(` ${group.shownUnit}`);
      value.style.minWidth = `${longest(values, usual) + (units ? group.shownUnit.length : 0)}ch`; // nothing moves while it plays
      const range = element(item, "span", "range"); // in one line
      this.extremes.push(element(range, "small"));
      if (run === shown[0] && this.extra.includes(name)) {
        const away = element(range, "button", "", "×");
        Object.assign(away, { type: "button", title: `remove ${name}` });
        away.setAttribute("aria-label", away.title);
        away.addEventListener("click", () => this.#remove(name));
      }
      return number;
    });
  }

  #size() {
    const width = Math.max(this.area.clientWidth, 120);
    return { width, height: Math.min(335, Math.max(165, 0.42 * width)) };
  }

  resize() {
    this.chart?.setSize(this.#size());
    this.moveTo(this.dock.time, 0);
  }

  moveTo(t, now) {
    if (!this.chart) return;
    const at = this.chart.valToPos(t, "x");
    this.line.style.transform = `translateX(${at}px)`;
    this.line.hidden = at < 0 || at > this.chart.over.clientWidth + 1;
    if (now && now - this.written < 100) return; // text ten times a second is enough to read
    this.written = now;
    this.curves.forEach(({ times, values, usual }, k) => {
      const [i, f] = locate(times, t);
      const [a, b] = [values[i], values[Math.min(i + 1, values.length - 1)]];
      this.numbers[k].textContent = a === null || b === null || a === undefined ? "–" : told(a + f * (b - a), usual, DIGITS);
    });
  }

  // The chart under its title and over its names, wide enough for a page of paper.
  async png() {
    this.chart.setSize({ width: 900, height: 420 });
    await Promise.resolve(); // it is drawn in a microtask
    const { canvas } = this.chart.ctx;
    const ratio = canvas.width / this.chart.width;
    const picture = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height + (34 + 16 * this.curves.length) * ratio });
    const ink = picture.getContext("2d");
    const style = getComputedStyle(document.body);
    ink.fillStyle = style.getPropertyValue("--page");
    ink.fillRect(0, 0, picture.width, picture.height);
    ink.drawImage(canvas, 0, 26 * ratio);
    ink.scale(ratio, ratio);
    ink.font = "13px system-ui, sans-serif";
    ink.fillStyle = style.getPropertyValue("--text");
    ink.fillText(`${this.choice.value} ${this.unit.textContent}`, 8, 18);
    this.curves.forEach(({ label, colour, dash, run }, k) => {
      const y = 26 + this.chart.height + 16 * k + 14;
      ink.fillStyle = colour;
      for (const [x, wide] of dash ? [[10, 6], [20, 6]] : [[10, 16]]) ink.fillRect(x, y - 5, wide, 2);
      ink.fillStyle = style.getPropertyValue("--text");
      ink.fillText(`${this.dock.runs.length > 1 ? `${this.dock.names[run]}: ` : ""}${label}  ${this.extremes[k].textContent}`, 32, y);
    });
    this.resize();
    picture.toBlob((blob) => save(`${this.choice.value}.png`, blob));
  }

  state() {
    const at = this.line ? new DOMMatrix(this.line.style.transform).m41 : NaN;
    return {
      name: this.choice.value,
      curves: this.curves.map(({ label }) => label),
      window: this.dock.window,
      cursor: this.chart ? this.chart.posToVal(at, "x") : NaN,
      values: this.numbers?.map((n) => n.textContent),
      axes: this.chart?.axes.map(({ label, _values }) => ({ label, ticks: _values })), // the numbers that are drawn
      extremes: this.extremes?.map((n) => n.textContent.trim()),
    };
  }
}

// How far the largest value is from the least, 0 where that is rounding of single precision; nothing where one of them is 0.
function apart(least, largest, usual) {
  const [low, high] = [least, largest].map((end) => nearZero(end, usual));
  const seen = high - low > 10 ** -DIGITS * Math.max(Math.abs(low), Math.abs(high)); // in the digits of both
  return low && high && seen ? ` (Δ ${told(high - low, 0, DIGITS)})` : "";
}

// Of the numbers that a curve will show, in characters.
function longest(values, usual) {
  const step = Math.max(1, Math.floor(values.length / 200));
  return values.reduce((most, v, k) => (v === null || k % step ? most : Math.max(most, told(v, usual, DIGITS).length)), 1);
}

// Labels and lines of a logarithmic axis: at most about five powers of ten.
function decades(_, ticks) {
  const powers = ticks.map((v) => Math.log10(v)).map((p) => (Math.abs(p - Math.round(p)) < 1e-6 ? Math.round(p) : null));
  const whole = powers.filter((p) => p !== null);
  const step = Math.max(1, Math.ceil((Math.max(...whole) - Math.min(...whole)) / 5));
  return ticks.map((v, k) => (powers[k] !== null && powers[k] % step === 0 ? v : null));
}

function padded(low, high) {
  if (low === null || high === null) return [0, 1];
  const pad = high > low ? 0.06 * (high - low) : Math.max(Math.abs(high) * 0.1, 1e-9);
  return [low - pad, high + pad];
}
