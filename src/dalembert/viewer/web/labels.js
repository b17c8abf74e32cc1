// Names and numbers beside what they belong to, none over another, none beyond the edge: the next one there goes below.

import { Vector3 } from "three";

const HIGH = 18; // of a label [px]
const BESIDE = 8; // its margin [px]

export class Labels {
  constructor(stage) {
    this.stage = stage;
    this.taken = [];
  }

  // Before the labels of a picture.
  clear() {
    this.taken.length = 0;
  }

  // At a point of the world, so far below it on the screen [px]; to its left where it is left of where it comes from; in which
  // half of the picture.
  place(label, at, below, { from = at, half = 0 } = {}) {
    const { width, height } = this.stage.half;
    const x = point.copy(from).project(this.stage.camera).x;
    point.copy(at).project(this.stage.camera);
    const box = { x: ((point.x + 1) / 2) * width, y: ((1 - point.y) / 2) * height + below, wide: label.offsetWidth + 2 };
    const seen = box.x > 0 && box.x < width;
    const lost = !seen && this.stage.sideBySide; // it would be in the other half
    label.style.visibility = lost ? "hidden" : "";
    if (lost) return;
    if (point.x < x) box.x -= box.wide + 2 * BESIDE;
    if (seen) box.x = Math.max(0, Math.min(box.x, width - box.wide - BESIDE));
    box.x += half * width;
    const covers = ({ x, y, wide }) => x < box.x + box.wide && box.x < x + wide && Math.abs(y - box.y) < HIGH - 1; // below it by HIGH, but for rounding
    for (let other = this.taken.find(covers); other; other = this.taken.find(covers)) box.y = other.y + HIGH;
    this.taken.push(box);
    label.style.transform = `translate(${box.x}px, ${box.y}px)`;
  }
}

const point = new Vector3();
