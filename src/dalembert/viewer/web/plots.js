// Curves over time in step with the cursor: two plots, each shows any group of channels.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { locate } from "./run.js";

const SMALLEST = 1e-17; // smaller errors are rounding; a logarithmic axis ends here
const PALETTE = ["#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#a96b59", "#e76300", "#717581", "#b9ac70"];

// Groups of a run, with those that follow from poses and reactions.
function groupsOf(run) {
  const groups = run.groups.map((group) => ({ ...group, times: () => run.channelTimes, data: () => group.series.map((s) => s.values) }));
  const nj = run.joints.length;
  run.joints.forEach((joint, j) => {
    groups.push({
      name: `reaction at ${joint.name}`,
      unit: "N",
      log: false,
      series: [{ name: "x" }, { name: "y" }, { name: "z" }],
      times: () => run.channelTimes,
      data: () => [0, 1, 2].map((axis) => column(run.reactions, 3 * nj, 3 * j + axis)),
    });
  });
  run.bodies.forEach((body, b) => {
    groups.push({
      name: `position of ${body.name}`,
      unit: "m",
      log: false,
      series: [{ name: "x" }, { name: "y" }, { name: "z" }],
      times: () => run.times,
      data: () => [0, 1, 2].map((axis) => column(run.poses, 7 * run.bodies.length, 7 * b + axis)),
    });
  });
  return groups;
}

function column(values, width, offset) {
  return Float32Array.from({ length: values.length / width }, (_, k) => values[k * width + offset]);
}

export class Plots {
  // names: of the runs; shown: groups at first; seek(t): called when the user points into a plot
  constructor(parent, runs, names, shown, seek) {
    this.names = names;
    this.groups = runs.map(groupsOf);
    this.seek = seek;
    this.time = 0;
    const known = this.groups[0].map(({ name }) => name);
    this.plots = shown.filter((name) => known.includes(name)).map((name) => new Plot(parent, this, name));
  }

  rebuild() {
    for (const plot of this.plots) plot.draw();
  }

  moveTo(t, now) {
    this.time = t;
    for (const plot of this.plots) plot.moveTo(t, now);
  }

  resize() {
    for (const plot of this.plots) plot.resize();
  }

  state() {
    return this.plots.map((plot) => plot.state());
  }
}

class Plot {
  constructor(parent, owner, name) {
    this.owner = owner;
    this.box = parent.appendChild(document.createElement("section"));
    this.box.className = "plot";
    const head = this.box.appendChild(document.createElement("header"));
    this.choice = head.appendChild(document.createElement("select"));
    this.choice.title = "what to plot";
    for (const group of owner.groups[0]) this.choice.add(new Option(group.name));
    this.choice.value = name;
    this.choice.addEventListener("change", () => {
      this.choice.blur();
      this.draw();
    });
    this.unit = head.appendChild(document.createElement("span"));
    this.unit.className = "unit";
    this.area = this.box.appendChild(document.createElement("div"));
    this.legend = this.box.appendChild(document.createElement("div"));
    this.legend.className = "legend";
    this.draw();
  }

  // Curves of all runs that have this group, joined on one time axis; the second run is dashed.
  draw() {
    const name = this.choice.value;
    this.chart?.destroy();
    this.found = this.owner.groups.map((groups) => groups.find((group) => group.name === name)).filter(Boolean);
    if (!this.found.length) return;
    const [{ unit, log }] = this.found;
    this.unit.textContent = unit ? `[${unit}]` : "";
    const tables = this.found.map((group) => {
      const data = group.data().map((values) => Array.from(values, (v) => (Number.isFinite(v) ? (log ? Math.max(v, SMALLEST) : v) : null)));
      return [Array.from(group.times()), ...data];
    });
    this.curves = this.found.flatMap((group, r) =>
      group.series.map((series, s) => ({
        run: r,
        label: series.name,
        colour: PALETTE[s % PALETTE.length],
        dash: r ? [5, 4] : undefined,
        times: tables[r][0],
        values: tables[r][s + 1],
      })),
    );
    const style = getComputedStyle(document.body);
    const axis = {
      stroke: style.getPropertyValue("--muted"),
      grid: { stroke: style.getPropertyValue("--hair"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    const options = {
      ...this.#size(),
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: log ? { distr: 3, log: 10 } : { range: (_, low, high) => padded(low, high) } },
      axes: [
        { ...axis, size: 24, gap: 3, values: (_, ticks) => ticks.map((v) => short(v, 6)) },
        { ...axis, ...(log && { filter: decades, grid: { ...axis.grid, filter: decades } }), size: 52, gap: 4, values: (_, ticks) => ticks.map((v) => (v === null ? null : short(v))) },
      ],
      series: [{}, ...this.curves.map(({ label, colour, dash }) => ({ label, stroke: colour, dash, width: log ? 1 : 1.6, points: { show: false } }))],
    };
    this.chart = new uPlot(options, uPlot.join(tables), this.area);
    this.line = this.chart.over.appendChild(document.createElement("div"));
    this.line.className = "now";
    this.chart.over.addEventListener("pointerdown", (event) => {
      const point = (e) => this.owner.seek(this.chart.posToVal(e.clientX - this.chart.over.getBoundingClientRect().left, "x"));
      const stop = () => {
        removeEventListener("pointermove", point);
        removeEventListener("pointerup", stop);
      };
      addEventListener("pointermove", point);
      addEventListener("pointerup", stop);
      point(event);
    });
    this.#names();
    this.moveTo(this.owner.time, 0);
  }

  // A row per run, with its name where there are two.
  #names() {
    this.legend.replaceChildren();
    const rows = this.found.map((_, r) => {
      const row = this.legend.appendChild(document.createElement("div"));
      if (this.found.length > 1) row.appendChild(document.createElement("em")).textContent = this.owner.names[r];
      return row;
    });
    this.numbers = this.curves.map(({ run, label, colour, dash }) => {
      const item = rows[run].appendChild(document.createElement("span"));
      const mark = item.appendChild(document.createElement("i"));
      mark.style.borderTopColor = colour;
      if (dash) mark.style.borderTopStyle = "dashed";
      item.append(label, " ");
      return item.appendChild(document.createElement("b"));
    });
  }

  #size() {
    return { width: Math.max(this.area.clientWidth, 120), height: 150 };
  }

  resize() {
    this.chart?.setSize(this.#size());
    this.moveTo(this.owner.time, 0);
  }

  moveTo(t, now) {
    if (!this.chart) return;
    this.line.style.transform = `translateX(${this.chart.valToPos(t, "x")}px)`;
    if (now && now - this.written < 100) return; // text ten times a second is enough to read
    this.written = now;
    this.curves.forEach(({ times, values }, k) => {
      const [i, f] = locate(times, t);
      const [a, b] = [values[i], values[Math.min(i + 1, values.length - 1)]];
      this.numbers[k].textContent = a === null || b === null ? "–" : short(a + f * (b - a), 4);
    });
  }

  state() {
    const at = this.line ? new DOMMatrix(this.line.style.transform).m41 : NaN;
    return { name: this.choice.value, cursor: this.chart ? this.chart.posToVal(at, "x") : NaN, values: this.numbers?.map((n) => n.textContent) };
  }
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

export function short(value, digits = 3) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e5) return value.toExponential(size < 1e-3 && digits < 4 ? 0 : 2).replace("e+", "e").replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replaceAll("-", "−");
}

// Minus signs of numbers in a text as in the plots; hyphens stay.
export function typeset(text) {
  return text.replace(/(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)/g, "−");
}
