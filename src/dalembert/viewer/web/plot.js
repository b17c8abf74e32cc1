// One plot of the dock: curves of any outputs over time, up to two axes, what they are now, least and largest, CSV and PNG.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { inUnit, short } from "./numbers.js";
import { element } from "./page.js";
import { locate } from "./run.js";
import { save } from "./save.js";

const SMALLEST = 1e-17; // smaller errors are rounding; a logarithmic axis ends here
const told = (value, digits) => short(value === SMALLEST ? 0 : value, digits);
// between ticks of an axis in degrees: parts of a turn, whole turns, decimals of small angles
const PARTS_OF_A_TURN = [...[-12, -9, -6, -3, -2, -1].flatMap((p) => [1, 2, 5].map((digit) => Number(`${digit}e${p}`))), 1, 2, 5, 10, 15, 30, 45, 90, 180, ...[1, 10, 100, 1000, 10000].flatMap((turns) => [360 * turns, 720 * turns, 1800 * turns])];
// at least 3 to 1 on the page: WCAG 2.2, 1.4.11
const PALETTES = {
  light: ["#2f80cb", "#c27400", "#bd1f01", "#832db6", "#00857a", "#a96b59", "#717581", "#8a7f3c"],
  dark: ["#5aa5ec", "#ffa90e", "#ff6b4a", "#c084e8", "#3fc1b0", "#c99384", "#9aa0ad", "#b9ac70"],
};

export class Plot {
  constructor(dock, name) {
    this.dock = dock;
    this.extra = []; // names of curves that the reader has added
    this.limits = [null, null]; // of the axis, in SI units
    this.box = document.createElement("section");
    this.box.className = "plot";
    const head = element(this.box, "header");
    this.choice = element(head, "select");
    this.choice.title = name;
    this.choice.setAttribute("aria-label", "what to plot");
    for (const group of dock.groups[0]) this.choice.add(new Option(group.name));
    this.choice.value = name;
    this.choice.addEventListener("change", () => {
      this.choice.blur();
      this.own = true;
      this.choose(this.choice.value);
    });
    this.unit = element(head, "span", "unit");
    const tools = element(head, "span", "plot-tools");
    const button = (text, title, act) => {
      const made = element(tools, "button", "small", text);
      Object.assign(made, { type: "button", title });
      made.setAttribute("aria-label", title);
      made.addEventListener("click", act);
    };
    button("+", "add a curve, set limits", () => this.#edit());
    button("CSV", "save these curves as numbers", () => save(`${this.choice.value}.csv`, new Blob([this.csv()], { type: "text/csv" })));
    button("PNG", "save this plot as a picture", () => this.png());
    button("×", "close this plot", () => dock.remove(this));
    this.area = element(this.box, "div", "area");
    this.legend = element(this.box, "div", "legend");
  }

  choose(name) {
    this.choice.value = this.choice.title = name;
    this.extra = [];
    this.draw();
  }

  // A row to add any output by name, and to set the ends of the axis.
  #edit() {
    if (this.editor) {
      this.editor.remove();
      this.editor = null;
      return;
    }
    this.editor = document.createElement("div");
    this.editor.className = "editor";
    this.area.before(this.editor);
    const field = (label, value, act) => {
      const input = element(this.editor, "input");
      Object.assign(input, { placeholder: label, value });
      input.setAttribute("aria-label", label);
      input.addEventListener("change", () => act(input));
      return input;
    };
    const name = field("add an output, by name", "", (input) => this.add(input.value) && (input.value = ""));
    name.setAttribute("list", "outputs");
    this.ends = ["from", "to"].map((label, k) => {
      const input = field(label, "", () => {
        this.limits[k] = input.value.trim() === "" ? null : Number(input.value.replace("−", "-")) / this.factor;
        this.draw();
      });
      input.className = "limit";
      input.inputMode = "decimal";
      return input;
    });
    this.#writeEnds();
    name.focus();
  }

  #writeEnds() {
    this.ends?.forEach((input, k) => (input.value = this.limits[k] === null ? "" : String(Number((this.limits[k] * this.factor).toPrecision(12)))));
  }

  // One more curve, by its name; whether there is one.
  add(text) {
    if (!this.dock.groups[0].some(({ series }) => series.some(({ name }) => name === text))) return false;
    this.extra.push(text);
    this.own = true;
    this.draw();
    return true;
  }

  // (run, group, its series) of all curves, with numbers to draw.
  #curves() {
    const made = [];
    this.dock.groups.forEach((groups, run) => {
      const take = (group, wanted) => {
        const columns = group.series.some(wanted) ? group.data() : [];
        columns.forEach((values, k) => wanted(group.series[k]) && made.push({ run, group, label: group.series[k].name, values }));
      };
      for (const group of groups) if (group.name === this.choice.value) take(group, ({ asked }) => !asked);
      for (const name of this.extra) for (const group of groups) take(group, (one) => one.name === name);
    });
    const log = made.length > 0 && made.every(({ group }) => group.log);
    for (const curve of made) {
      curve.times = Array.from(curve.group.times());
      curve.values = Array.from(curve.values, (v) => (Number.isFinite(v) ? (log ? Math.max(v, SMALLEST) : v) : null));
    }
    return [this.dock.difference ? differences(made) : made, log && !this.dock.difference];
  }

  // Curves of all runs that have this group, joined on one time axis; the second run is dashed.
  draw() {
    this.chart?.destroy();
    const [curves, log] = this.#curves();
    this.curves = curves;
    if (!curves.length) return;
    const first = curves[0].group.shownUnit;
    [this.factor] = inUnit(curves[0].group.unit);
    this.#writeEnds();
    const [other] = curves.filter(({ group }) => group.shownUnit !== first);
    const perRun = curves.filter(({ run }) => run === curves[0].run).length;
    const palette = PALETTES[document.documentElement.dataset.theme] ?? PALETTES.light;
    curves.forEach((curve, k) => {
      curve.colour = palette[(k % perRun) % palette.length];
      curve.dash = curve.run ? [5, 4] : undefined;
      curve.scale = curve.group.shownUnit === first ? "y" : "right";
    });
    this.unit.textContent = [first, other?.group.shownUnit].filter(Boolean).map((unit, k) => `[${unit}]${other ? [" left", " right"][k] : ""}`).join(", ");
    const style = getComputedStyle(document.body);
    const axis = {
      stroke: style.getPropertyValue("--muted"),
      grid: { stroke: style.getPropertyValue("--hair"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    const values = (_, ticks) => ticks.map((v) => (v === null ? null : short(v)));
    const turns = (unit) => unit === "deg" && { incrs: PARTS_OF_A_TURN };
    const y = log ? { distr: 3, log: 10 } : { range: (_, low, high) => padded(low, high).map((end, k) => (this.limits[k] === null ? end : this.limits[k] * this.factor)) };
    const options = {
      ...this.#size(),
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, ...(this.dock.window && { min: this.dock.window[0], max: this.dock.window[1] }) }, y, ...(other && { right: { range: (_, low, high) => padded(low, high) } }) },
      axes: [
        { ...axis, size: 24, gap: 3, label: `${this.dock.over[0]} [${this.dock.over[1]}]`, labelSize: 15, labelGap: -2, labelFont: axis.font, values: (_, ticks) => ticks.map((v) => short(v, 6)) },
        { ...axis, ...(log && { filter: decades, grid: { ...axis.grid, filter: decades } }), ...turns(first), size: 52, gap: 4, space: 26, values },
        ...(other ? [{ ...axis, scale: "right", side: 1, grid: { show: false }, ...turns(other.group.shownUnit), size: 48, gap: 4, space: 26, values }] : []),
      ],
      series: [{}, ...curves.map(({ label, colour, dash, scale }) => ({ label, stroke: colour, dash, scale, width: log ? 1 : 1.6, pxAlign: 0, points: { show: false } }))],
    };
    const tables = curves.map(({ times, values: column }) => [times, column]);
    this.data = uPlot.join(tables);
    this.chart = new uPlot(options, this.data, this.area);
    this.line = element(this.chart.over, "div", "now");
    this.chart.over.addEventListener("pointerdown", (event) => {
      const at = (e) => this.chart.posToVal(e.clientX - this.chart.over.getBoundingClientRect().left, "x");
      const point = (e) => this.dock.seek(at(e));
      const stop = () => {
        removeEventListener("pointermove", point);
        removeEventListener("pointerup", stop);
      };
      addEventListener("pointermove", point);
      addEventListener("pointerup", stop);
      point(event);
    });
    this.chart.over.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.dock.zoom(Math.exp(0.002 * event.deltaY), this.chart.posToVal(event.offsetX, "x"));
    }, { passive: false });
    this.chart.over.addEventListener("dblclick", () => this.dock.setWindow(null));
    this.#names();
    this.view();
  }

  // The window of time, and least and largest values in it.
  view() {
    if (!this.chart) return;
    const [low, high] = this.dock.window ?? this.dock.span;
    this.chart.setScale("x", { min: low, max: high });
    this.curves.forEach(({ times, values }, k) => {
      const seen = values.filter((v, i) => v !== null && times[i] >= low && times[i] <= high);
      const ends = seen.length ? [seen.reduce((a, b) => Math.min(a, b)), seen.reduce((a, b) => Math.max(a, b))] : null;
      this.extremes[k].textContent = ends ? ` ${told(ends[0])} … ${told(ends[1])}` : "";
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
    this.numbers = this.curves.map(({ run, label, colour, dash }) => {
      const item = element(rows[shown.indexOf(run)], "span");
      const mark = element(item, "i");
      mark.style.borderTopColor = colour;
      if (dash) mark.style.borderTopStyle = "dashed";
      item.append(label, " ");
      const number = element(item, "b");
      this.extremes.push(Object.assign(element(item, "small"), { title: "least … largest of the time that is shown" }));
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
    this.curves.forEach(({ times, values }, k) => {
      const [i, f] = locate(times, t);
      const [a, b] = [values[i], values[Math.min(i + 1, values.length - 1)]];
      this.numbers[k].textContent = a === null || b === null || a === undefined ? "–" : told(a + f * (b - a), 4);
    });
  }

  // Times and all curves; a curve that has no value at a time leaves its cell empty.
  csv() {
    const many = this.dock.runs.length > 1;
    const title = ({ run, label, group }) => `${many ? `${this.dock.names[run]}: ` : ""}${label}${group.shownUnit ? ` [${group.shownUnit}]` : ""}`;
    const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
    const [times, ...columns] = this.data;
    const rows = times.map((t, k) => [t, ...columns.map((column) => column[k] ?? "")].join(","));
    const [name, unit] = this.dock.over;
    return [[`${name} [${unit}]`, ...this.curves.map(title)].map(quoted).join(","), ...rows].join("\n") + "\n";
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
      ink.fillText(this.dock.runs.length > 1 ? `${this.dock.names[run]}: ${label}` : label, 32, y);
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

// Second run minus first, curve by curve, at the times of the first that both have.
function differences(curves) {
  const [first, second] = [0, 1].map((run) => curves.filter((curve) => curve.run === run));
  return first.flatMap((curve) => {
    const other = second.find(({ label, group }) => label === curve.label && group.name === curve.group.name);
    if (!other) return [];
    const last = other.times[other.times.length - 1];
    const values = curve.times.map((t, k) => {
      if (t < other.times[0] || t > last || curve.values[k] === null) return null;
      const [i, f] = locate(other.times, t);
      const [a, b] = [other.values[i], other.values[Math.min(i + 1, other.values.length - 1)]];
      return a === null || b === null ? null : a + f * (b - a) - curve.values[k];
    });
    return [{ ...curve, label: `Δ ${curve.label}`, values }];
  });
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
