// The strip on the time bar: energy error and step size over the whole run on logarithmic scales, of two runs both, what they are
// and how large below it; the worst instant of each is marked, a click goes there.

import { short, typeset } from "./numbers.js";
import { element } from "./page.js";

export class Strip {
  // names: of the runs
  constructor(parent, runs, names, timeline) {
    Object.assign(this, { runs, names, timeline, worsts: [] });
    this.canvas = element(parent, "canvas", "strip");
    this.canvas.setAttribute("role", "img");
    this.canvas.addEventListener("pointerdown", (event) => {
      const { left, width } = this.canvas.getBoundingClientRect();
      const t = timeline.start + ((event.clientX - left) / width) * (timeline.end - timeline.start);
      const near = this.worsts.find((worst) => worst && Math.abs(this.#place(worst.t) * width - (event.clientX - left)) < 8);
      this.#go(near ? near.t : t);
    });
    this.key = element(parent, "div", "strip-key");
    this.worstKeys = runs.map((_, k) => {
      const button = element(this.key, "button");
      Object.assign(button, { type: "button", title: "go to the worst energy error (W)" });
      button.addEventListener("click", () => this.#go(this.worsts[k].t));
      return button;
    });
    this.stepKey = element(this.key, "span");
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  // Of all runs.
  get worst() {
    return this.worsts.reduce((a, b) => (b && !(a?.value >= b.value) ? b : a), null);
  }

  #go(t) {
    this.timeline.pause();
    this.timeline.scrub(t);
  }

  goToWorst() {
    if (this.worst) this.#go(this.worst.t);
  }

  #place(t) {
    const { start, end } = this.timeline;
    return end > start ? (t - start) / (end - start) : 0;
  }

  draw() {
    const { canvas, runs } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width && !canvas.hidden) return;
    const ratio = Math.min(devicePixelRatio, 2);
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const ink = canvas.getContext("2d");
    ink.scale(ratio, ratio);
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    const errors = runs.map((run) => run.groups.find(({ name }) => name === "energy error, relative")?.series[0].values ?? []);
    this.worsts = runs.map((run, k) => worstOf(run, errors[k]));
    const steps = runs.some((run) => run.stepEnds.length);
    const split = steps && this.worst ? 0.5 * height : height;
    const level = levels(errors.flatMap((error) => Array.from(error)));
    const tall = (value) => level(value) * (split - 2);
    if (this.worsts[0]) {
      const [run] = runs;
      ink.fillStyle = colour("--error");
      ink.beginPath(); // one form: bars that share a pixel are not darker than others
      run.channelTimes.forEach((t, k) => {
        const next = run.channelTimes[k + 1] ?? t;
        const x = this.#place(t) * width;
        ink.rect(x, split - tall(errors[0][k]), Math.max(1, this.#place(next) * width - x), tall(errors[0][k]));
      });
      ink.fill();
    }
    if (this.worsts[1]) {
      ink.strokeStyle = colour("--error"); // a line: what is behind it is seen
      ink.beginPath();
      runs[1].channelTimes.forEach((t, k) => ink.lineTo(this.#place(t) * width, split - tall(errors[1][k])));
      ink.stroke();
    }
    ink.fillStyle = colour("--fail");
    for (const worst of this.worsts.filter(Boolean)) {
      const x = Math.min(width - 4, Math.max(4, this.#place(worst.t) * width));
      ink.beginPath();
      for (const [dx, y] of [[-4, 0], [4, 0], [0, 7]]) ink.lineTo(x + dx, y);
      ink.fill();
    }
    if (steps) {
      const high = levels(runs.flatMap((run) => Array.from(run.stepSizes)));
      ink.strokeStyle = colour("--muted");
      runs.forEach((run, r) => {
        ink.setLineDash(r ? [4, 3] : []);
        ink.beginPath();
        run.stepEnds.forEach((t, k) => ink.lineTo(this.#place(t) * width, height - 1 - high(run.stepSizes[k]) * (height - split - 3 || 0)));
        ink.stroke();
      });
      ink.setLineDash([]);
    }
    const named = (k) => (runs.length > 1 ? `${this.names[k]}: ` : "");
    this.worsts.forEach((worst, k) => (this.worstKeys[k].textContent = worst ? `${named(k)}energy error ${worst.text}` : ""));
    this.stepKey.textContent = steps ? `step ${runs.map(({ stepSizes }) => spread(stepSizes)).join(", ")}` : "";
    const told = [...this.worstKeys, this.stepKey].map(({ textContent }) => textContent).filter(Boolean);
    canvas.setAttribute("aria-label", `logarithmic: ${told.join("; ")}`);
    canvas.hidden = this.key.hidden = !(this.worst || steps);
  }
}

// As the report has it; while there is none, of what is shown, rounded up.
function worstOf({ channelTimes, scene }, error) {
  let worst = null;
  error.forEach((value, k) => {
    if (Number.isFinite(value) && value > (worst?.value ?? 0)) worst = { t: channelTimes[k], value };
  });
  if (!worst) return null;
  const line = scene.report.lines.find(({ name }) => name === "energy balance");
  const [, value, of, t] = line?.value.match(/^(\S+) of (\S+ J)\b.* at t = (\S+) s/) ?? [];
  if (value) return { t: Number(t), value: Number(value), text: typeset(`${value} of ${of} at ${t} ${scene.over[1]}`) };
  return { ...worst, text: `≤ ${short(raised(worst.value))} at ${short(worst.t, 4)} ${scene.over[1]}` };
}

// Up to three digits, none of them too small.
function raised(value) {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Math.ceil(value / unit) * unit;
}

function spread(sizes) {
  if (!sizes.length) return "–";
  const ends = [sizes.reduce((a, b) => Math.min(a, b)), sizes.reduce((a, b) => Math.max(a, b))].map((size) => short(size, 2));
  return `${[...new Set(ends)].join(" … ")} s`;
}

// Values on a logarithmic scale of at most six decades, 0.05 to 1.
function levels(values) {
  const seen = Array.from(values).filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
  const high = seen.reduce((a, b) => Math.max(a, b), -Infinity);
  const low = Math.max(seen.reduce((a, b) => Math.min(a, b), Infinity), high - 6);
  return (value) => (value > 0 ? 0.05 + 0.95 * Math.min(1, Math.max(0, high > low ? (Math.log10(value) - low) / (high - low) : 0.5)) : 0);
}
