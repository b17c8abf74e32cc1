// The strip on the time bar: energy error and step size over the whole run on logarithmic scales, what they are and how large
// below it; its worst instant marked, a click goes there.

import { short } from "./numbers.js";
import { element } from "./page.js";

export class Strip {
  constructor(parent, run, timeline) {
    Object.assign(this, { run, timeline });
    this.canvas = element(parent, "canvas", "strip");
    this.canvas.setAttribute("role", "img");
    this.canvas.addEventListener("pointerdown", (event) => {
      const { left, width } = this.canvas.getBoundingClientRect();
      const t = timeline.start + ((event.clientX - left) / width) * (timeline.end - timeline.start);
      this.#go(this.worst && Math.abs(this.#place(this.worst.t) * width - (event.clientX - left)) < 8 ? this.worst.t : t);
    });
    this.key = element(parent, "div", "strip-key");
    this.worstKey = element(this.key, "button");
    Object.assign(this.worstKey, { type: "button", title: "go to the worst energy error (W)" });
    this.worstKey.addEventListener("click", () => this.goToWorst());
    this.stepKey = element(this.key, "span");
    new ResizeObserver(() => this.draw()).observe(this.canvas);
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
    const { canvas, run } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width && !canvas.hidden) return;
    const ratio = Math.min(devicePixelRatio, 2);
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const ink = canvas.getContext("2d");
    ink.scale(ratio, ratio);
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    const error = run.groups.find(({ name }) => name === "energy error, relative")?.series[0].values ?? [];
    this.worst = worstOf(run.channelTimes, error);
    const steps = run.stepEnds.length;
    const split = steps && this.worst ? 0.5 * height : height;
    if (this.worst) {
      const level = levels(error);
      ink.fillStyle = colour("--error");
      ink.beginPath(); // one form: bars that share a pixel are not darker than others
      run.channelTimes.forEach((t, k) => {
        const next = run.channelTimes[k + 1] ?? t;
        const x = this.#place(t) * width;
        const tall = level(error[k]) * (split - 2);
        ink.rect(x, split - tall, Math.max(1, this.#place(next) * width - x), tall);
      });
      ink.fill();
      ink.fillStyle = colour("--fail");
      const x = Math.min(width - 4, Math.max(4, this.#place(this.worst.t) * width));
      ink.beginPath();
      for (const [dx, y] of [[-4, 0], [4, 0], [0, 7]]) ink.lineTo(x + dx, y);
      ink.fill();
    }
    if (steps) {
      const level = levels(run.stepSizes);
      ink.strokeStyle = colour("--muted");
      ink.beginPath();
      run.stepEnds.forEach((t, k) => ink.lineTo(this.#place(t) * width, height - 1 - level(run.stepSizes[k]) * (height - split - 3 || 0)));
      ink.stroke();
    }
    const sizes = steps ? [run.stepSizes.reduce((a, b) => Math.min(a, b)), run.stepSizes.reduce((a, b) => Math.max(a, b))].map((size) => short(size, 2)) : [];
    this.worstKey.textContent = this.worst ? `energy error ≤ ${short(this.worst.value, 2)} at ${short(this.worst.t)} ${run.scene.over[1]}` : "";
    this.stepKey.textContent = steps ? `step ${[...new Set(sizes)].join(" … ")} s` : "";
    canvas.setAttribute("aria-label", `logarithmic: ${[this.worstKey.textContent, this.stepKey.textContent].filter(Boolean).join("; ")}`);
    canvas.hidden = this.key.hidden = !(this.worst || steps);
  }
}

function worstOf(times, error) {
  let worst = null;
  error.forEach((value, k) => {
    if (Number.isFinite(value) && value > (worst?.value ?? 0)) worst = { t: times[k], value };
  });
  return worst;
}

// Values on a logarithmic scale of at most six decades, 0.05 to 1.
function levels(values) {
  const seen = Array.from(values).filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
  const high = seen.reduce((a, b) => Math.max(a, b), -Infinity);
  const low = Math.max(seen.reduce((a, b) => Math.min(a, b), Infinity), high - 6);
  return (value) => (value > 0 ? 0.05 + 0.95 * Math.min(1, Math.max(0, high > low ? (Math.log10(value) - low) / (high - low) : 0.5)) : 0);
}
